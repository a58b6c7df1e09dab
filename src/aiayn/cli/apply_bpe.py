"""``aiayn apply-bpe``: segment tokenized text into subwords, line for line.

Example:
    aiayn apply-bpe --codes bpe/codes --input clean/verses.de --output bpe/verses.de

Writes the file ``--output`` whole, or standard output.
"""

from pathlib import Path
from typing import Annotated

import typer

from aiayn.cli.options import InputFile, OutputFile, Workers


def apply_bpe(
    codes: Annotated[Path, typer.Option(help="File of merges of aiayn learn-bpe.")],
    workers: Workers = 1,
    input: InputFile = None,
    output: OutputFile = None,
) -> None:
    """Segment tokenized text into subwords."""
    from aiayn.text import apply_bpe_file

    apply_bpe_file(input, output, codes, workers=workers)
