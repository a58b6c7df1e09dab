"""Learning BPE jointly on both languages, from word counts (Section 5.1)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from aiayn.common.errors import UserError
from aiayn.common.files import atomic_write
from aiayn.common.progress import Meter, log, track
from aiayn.text.alphabet import END_OF_WORD
from aiayn.text.bpe import CONTINUES, HEADER, MAX_CACHED_WORDS, BytePairEncoder, words_header
from aiayn.text.merges import Words, learn_merges
from aiayn.text.parallel import Block, map_blocks, read_blocks
from aiayn.text.vocabulary import SPECIALS, write_vocabulary

BLOCK_BYTES = 1 << 22
"""Counts of large blocks repeat fewer words; adding them up is no worker's but this process's."""


def learn_bpe(
    sources: Sequence[Path],
    codes: Path,
    vocabulary: Path,
    words: Path | None = None,
    *,
    merges: int,
    workers: int,
) -> None:
    """Learn merges from all files together, and write the vocabulary that they make.

    Args:
        sources: Tokenized text of both languages.
        codes: File of merges to write, in subword-nmt's format.
        vocabulary: ``vocabulary.txt`` to write.
        words: File to write of the most frequent words in subwords; whoever applies the merges
            need not segment them again.
        merges: Merge operations; fewer when no two symbols occur together twice any more.
        workers: Processes that count; the output does not depend on them.

    Raises:
        UserError: a file is missing or not UTF-8, or there is nothing to merge.
    """
    counts = count_words(sources, workers)
    names = ", ".join(map(str, sources))
    if not counts:
        raise UserError(f"{names}: no words at all; nothing to learn BPE from")
    learned = _write_codes(counts, codes, merges, names)
    encoder = BytePairEncoder(codes)
    if words:
        _write_words(words, codes, islice(_in_subwords(counts, learned, encoder), MAX_CACHED_WORDS))
    subwords: Counter[str] = Counter()
    segmented = track(
        _in_subwords(counts, learned, encoder), "vocabulary", total=len(counts), unit="words"
    )
    for word, line in segmented:
        for subword in line.split(" "):
            subwords[subword] += counts[word]
    for special in SPECIALS:  # text that reads like one is an unknown word
        del subwords[special]
    log(f"vocabulary: {write_vocabulary(vocabulary, subwords):,} subwords")


def count_words(sources: Sequence[Path], workers: int) -> dict[str, int]:
    """Counts of all words, by falling count, equal counts in code point order."""
    counts: Counter[str] = Counter()
    blocks = chain.from_iterable(read_blocks(source, BLOCK_BYTES) for source in sources)
    with Meter("count words", unit="lines") as meter:
        for lines, words in map_blocks(_counting, blocks, workers):
            counts.update(words)
            meter.advance(lines)
    # Sorting twice by C's comparisons takes two thirds of the time of once by a tuple.
    by_count = sorted(sorted(counts), key=counts.__getitem__, reverse=True)
    return {word: counts[word] for word in by_count}


def _counting() -> Callable[[Block], tuple[int, Counter[str]]]:
    return _count_block


def _count_block(block: Block) -> tuple[int, Counter[str]]:
    return len(block.lines()), Counter(block.text().split())


def _write_codes(counts: dict[str, int], codes: Path, merges: int, names: str) -> Words:
    """Write the merges; returns the words as all merges leave them."""
    if all(len(word) == 1 for word in counts):
        raise UserError(f"{names}: every word is a single character; nothing to merge")
    words = Words(counts)
    learned = 0
    with atomic_write(codes) as stream:
        stream.write(f"{HEADER}\n")
        for first, second in track(
            learn_merges(words, merges), "learn-bpe", total=merges, unit="merges"
        ):
            stream.write(f"{first} {second}\n")
            learned += 1
        if not learned:
            raise UserError(f"{names}: no two characters occur together twice; nothing to merge")
    if learned < merges:
        log(f"learn-bpe: {learned:,} of {merges:,} merges; no other pair occurs twice")
    return words


def _in_subwords(
    counts: dict[str, int], learned: Words, encoder: BytePairEncoder
) -> Iterator[tuple[str, str]]:
    """Words with their subwords, joined by blanks, as ``encoder`` makes them, but much sooner."""
    for word, subwords in zip(counts, learned.in_subwords(CONTINUES), strict=True):
        ambiguous = CONTINUES in word or END_OF_WORD in word
        yield word, encoder.segment_line(word) if ambiguous else subwords


def _write_words(path: Path, codes: Path, words: Iterable[tuple[str, str]]) -> None:
    with atomic_write(path) as stream:
        stream.write(f"{words_header(codes)}\n")
        stream.writelines(f"{word}\t{subwords}\n" for word, subwords in words)
