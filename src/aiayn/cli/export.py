"""``aiayn export``: write a model in another engine's format.

Example:
    aiayn export --model results/demo/en-de/base/seed1 --format ctranslate2 exported/en-de

Writes a folder that CTranslate2 loads: ``model.bin``, ``config.json``, ``shared_vocabulary.json``,
``bpe.codes``, ``vocabulary.txt``, and a ``README.md`` that says how to translate with it.
"""

from pathlib import Path
from typing import Annotated, Literal

import typer


def export(
    output: Annotated[Path, typer.Argument(help="Folder to make.")],
    model: Annotated[Path, typer.Option(help="Model folder.")],
    format: Annotated[Literal["ctranslate2"], typer.Option(help="Engine.")] = "ctranslate2",
) -> None:
    """Write a model in the format of another engine."""
    from aiayn.decoding.export import export_ctranslate2

    export_ctranslate2(model, output)
    typer.echo(f"exported for {format}: {output}", err=True)
