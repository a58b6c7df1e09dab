"""``aiayn average``: average the last checkpoints of a finished training (Section 6.1).

Example:
    aiayn average --run results/demo/en-de/base/seed1 --last 5 --text-folder results/demo/en-de/bpe

Writes a model folder, by default the run folder itself: ``model.safetensors``, ``model.json``,
``bpe.codes``, ``vocabulary.txt``.
"""

from pathlib import Path
from typing import Annotated

import typer


def average(
    run: Annotated[Path, typer.Option(help="Run folder with trained.json.")],
    last: Annotated[int, typer.Option(min=1, help="How many checkpoints, by step number.")],
    text_folder: Annotated[Path, typer.Option(help="Folder with codes and vocabulary.txt.")],
    output: Annotated[Path | None, typer.Option(help="Model folder; the run when absent.")] = None,
) -> None:
    """Average the last checkpoints of a training."""
    from aiayn.decoding.average import average_run

    description = average_run(run, last, text_folder, output or run)
    typer.echo(f"averaged steps {', '.join(map(str, description.steps))}", err=True)
