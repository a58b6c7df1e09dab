"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Threads = Annotated[int, typer.Option(min=1, help="CPU threads.")]
Workers = Annotated[int, typer.Option(min=1, help="Processes; the output does not depend on it.")]
InputFile = Annotated[Path | None, typer.Option("--input", help="Standard input when not given.")]
OutputFile = Annotated[
    Path | None, typer.Option("--output", help="Standard output when not given.")
]
