"""``aiayn binarize``: subword text to memory-mapped ids.

Example:
    aiayn binarize --source verses.en --target verses.de --vocabulary vocabulary.txt --output train

Writes the folder ``train/``: ``{source,target}.{ids,offsets}.npy`` and ``index.json``.
"""

from pathlib import Path
from typing import Annotated

import typer


def binarize(
    source: Annotated[list[Path], typer.Option(help="Subword file; repeat for each part.")],
    target: Annotated[list[Path], typer.Option(help="Its other side; repeat in the same order.")],
    vocabulary: Annotated[Path, typer.Option(help="vocabulary.txt")],
    output: Annotated[Path, typer.Option(help="Folder to make.")],
) -> None:
    """Turn subword text into memory-mapped ids."""
    from aiayn.batches.binarize import binarize as run
    from aiayn.common.errors import UserError

    if len(source) != len(target):
        raise UserError(f"--source is given {len(source)} times but --target {len(target)} times")
    run(source, target, vocabulary, output)
