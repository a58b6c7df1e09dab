"""``aiayn learn-bpe``: learn one set of BPE merges for both languages.

Example:
    aiayn learn-bpe --input clean/verses.en --input clean/verses.de --merges 4000 \\
        --codes bpe/codes --vocabulary bpe/vocabulary.txt --words bpe/words.txt

Writes the merges, the vocabulary that they make of the same text, and its most frequent words in
subwords, which make ``apply-bpe`` faster.
"""

from pathlib import Path
from typing import Annotated

import typer

from aiayn.cli.options import Workers


def learn_bpe(
    input: Annotated[list[Path], typer.Option(help="Tokenized text; repeat for each file.")],
    merges: Annotated[int, typer.Option(min=1, help="Merge operations.")],
    codes: Annotated[Path, typer.Option(help="File of merges to write.")],
    vocabulary: Annotated[Path, typer.Option(help="Vocabulary to write.")],
    words: Annotated[Path | None, typer.Option(help="File of frequent words to write.")] = None,
    workers: Workers = 1,
) -> None:
    """Learn one set of BPE merges for both languages."""
    from aiayn.text import learn_bpe as run

    run(input, codes, vocabulary, words, merges=merges, workers=workers)
