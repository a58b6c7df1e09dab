"""``aiayn apply-bpe``: segment tokenized text into subwords, line for line.

Example:
    aiayn apply-bpe --codes bpe/codes --words bpe/words.txt \\
        --input clean/verses.de --output bpe/verses.de

Writes the file ``--output`` whole, or standard output.
"""

from pathlib import Path
from typing import Annotated

import typer

from aiayn.cli.options import InputFile, OutputFile, Workers


def apply_bpe(
    codes: Annotated[Path, typer.Option(help="File of merges of aiayn learn-bpe.")],
    words: Annotated[
        Path | None, typer.Option(help="Its file of frequent words: faster, the same output.")
    ] = None,
    workers: Workers = 1,
    input: InputFile = None,
    output: OutputFile = None,
) -> None:
    """Segment tokenized text into subwords."""
    from aiayn.text import apply_bpe_file

    apply_bpe_file(input, output, codes, words, workers=workers)
