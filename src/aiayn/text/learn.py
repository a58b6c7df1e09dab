"""Learning BPE jointly on both languages, from word counts (Section 5.1)."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import subword_nmt.learn_bpe as subword_nmt_learn

from aiayn.common.errors import UserError
from aiayn.common.files import atomic_write
from aiayn.common.progress import Meter, log, track
from aiayn.text.bpe import BytePairEncoder
from aiayn.text.parallel import Block, map_blocks, read_blocks
from aiayn.text.vocabulary import SPECIALS, write_vocabulary


def learn_bpe(
    sources: Sequence[Path], codes: Path, vocabulary: Path, *, merges: int, workers: int
) -> None:
    """Learn merges from all files together, and write the vocabulary that they make.

    Args:
        sources: Tokenized text of both languages.
        codes: File of merges to write, in subword-nmt's format.
        vocabulary: ``vocabulary.txt`` to write.
        merges: Merge operations; fewer when no two symbols occur together twice any more.
        workers: Processes that count; the output does not depend on them.

    Raises:
        UserError: a file is missing or not UTF-8, or there is nothing to merge.
    """
    counts = count_words(sources, workers)
    names = ", ".join(map(str, sources))
    if not counts:
        raise UserError(f"{names}: no words at all; nothing to learn BPE from")
    _write_codes(counts, codes, merges, names)
    encoder = BytePairEncoder(codes)
    subwords: Counter[str] = Counter()
    for word, count in track(counts.items(), "vocabulary", total=len(counts), unit="words"):
        for subword in encoder.segment(word):
            subwords[subword] += count
    for special in SPECIALS:  # text that reads like one is an unknown word
        del subwords[special]
    log(f"vocabulary: {write_vocabulary(vocabulary, subwords):,} subwords")


def count_words(sources: Sequence[Path], workers: int) -> dict[str, int]:
    """Counts of all words, by falling count, equal counts in code point order."""
    counts: Counter[str] = Counter()
    blocks = chain.from_iterable(map(read_blocks, sources))
    with Meter("count words", unit="lines") as meter:
        for lines, words in map_blocks(_counting, blocks, workers):
            counts.update(words)
            meter.advance(lines)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _counting() -> Callable[[Block], tuple[int, Counter[str]]]:
    return _count_block


def _count_block(block: Block) -> tuple[int, Counter[str]]:
    words = Counter(word for line in block.decoded() for word in line.split())
    return len(block.lines()), words


def _write_codes(counts: dict[str, int], codes: Path, merges: int, names: str) -> None:
    # subword-nmt ends with a bare max() of nothing when every word is a single character.
    if all(len(word) == 1 for word in counts):
        raise UserError(f"{names}: every word is a single character; nothing to merge")
    # The library draws its own bar on standard error; ours is quiet in a log.
    subword_nmt_learn.tqdm = partial(track, label="learn-bpe", total=merges, unit="merges")
    with atomic_write(codes) as stream:
        output = _CountingLines(stream.write)
        subword_nmt_learn.learn_bpe(_dictionary(counts), output, merges, is_dict=True)
        learned = output.lines - 1  # all but the header
        if not learned:
            raise UserError(f"{names}: no two characters occur together twice; nothing to merge")
    if learned < merges:
        log(f"learn-bpe: {learned:,} of {merges:,} merges; no other pair occurs twice")


def _dictionary(counts: dict[str, int]) -> Iterator[str]:
    """Lines as ``subword-nmt learn-bpe --dict-input`` reads them."""
    return (f"{word} {count}\n" for word, count in counts.items())


class _CountingLines:
    """A file that counts the lines written to it."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write, self.lines = write, 0

    def write(self, line: str) -> None:
        self._write(line)
        self.lines += 1
