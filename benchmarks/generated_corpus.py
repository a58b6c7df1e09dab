"""A parallel corpus of any size that is like real text to every step before training.

Words follow Zipf's law with a steeper tail (Ferrer i Cancho & Solé, 2001), fitted to how many
different tokens WMT14's text has. New ones never end, up to a million a side. Frequent ones are
short; all are made of a few syllables, which is what BPE finds. Sentences have capitals, commas,
numbers, quotes and about 25 words; four in a thousand are blank or far too long.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aiayn.common.files import atomic_write
from aiayn.common.progress import Meter

VOCABULARY = 1_000_000
"""Different words a side; how many of them occur grows with the corpus, as in real text."""
ZIPF_SHIFT = 1.5
"""Mandelbrot's: it keeps the first words from being too frequent."""


class Tail(NamedTuple):
    """Where a language's word frequencies begin to fall faster than 1/rank, and how fast."""

    rank: int
    exponent: float


TAILS = {"en": Tail(2_000, 1.9), "de": Tail(3_500, 1.65)}
"""Fitted to samples of WMT14 EN-DE, after tokenization: of 125,000 tokens 13,000 differ in English
and 18,000 in German, of 560,000 30,000 and 48,000. In 14 million, 154,000 and 303,000 of ours."""

MEAN_WORDS = 25
BLOCK_PAIRS = 5_000
SYLLABLES = 180

_ONSETS = [
    "",
    "b",
    "d",
    "f",
    "g",
    "h",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "v",
    "w",
    "st",
    "tr",
]
_VOWELS = {"en": ["a", "e", "i", "o", "u", "ea", "ou"], "de": ["a", "e", "i", "o", "u", "ü", "ei"]}
_CODAS = {"en": ["", "n", "s", "t", "nd", "th", "ing"], "de": ["", "n", "s", "t", "nd", "ch", "en"]}


def write_corpus(folder: Path, pairs: int, seed: int) -> None:
    """Write ``raw.en`` and ``raw.de`` of ``pairs`` lines each, a block at a time.

    Args:
        folder: Where to write.
        pairs: Sentence pairs.
        seed: The same seed and size give the same bytes.
    """
    words = {lang: _words(lang, seed) for lang in TAILS}
    shares = {lang: _cumulative_shares(tail) for lang, tail in TAILS.items()}
    generator = np.random.default_rng(seed)
    with (
        atomic_write(folder / "raw.en") as source,
        atomic_write(folder / "raw.de") as target,
        Meter("generate", total=pairs, unit="pairs") as meter,
    ):
        for first in range(0, pairs, BLOCK_PAIRS):
            block = min(BLOCK_PAIRS, pairs - first)
            lengths = _lengths(block, generator)
            source.writelines(_sentences(words["en"], shares["en"], lengths, generator))
            jitter = generator.normal(1.0, 0.15, block).clip(0.5, 2.0)
            target_lengths = (lengths * jitter).round().astype(np.int64)
            target.writelines(_sentences(words["de"], shares["de"], target_lengths, generator))
            meter.advance(block)


def _words(lang: str, seed: int) -> npt.NDArray[np.object_]:
    """Words by rank: the rank's digits in base ``SYLLABLES``, each digit a syllable."""
    every = [o + v + c for o in _ONSETS for v in _VOWELS[lang] for c in _CODAS[lang] if o or c]
    generator = np.random.default_rng((seed, sum(lang.encode())))
    syllables = generator.choice(np.array(every, dtype=object), SYLLABLES, replace=False)
    ranks = np.arange(VOCABULARY)
    words = syllables[ranks % SYLLABLES]
    while (ranks := ranks // SYLLABLES).any():
        more = ranks > 0
        words[more] += syllables[ranks[more] % SYLLABLES]
    return words


def _lengths(pairs: int, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """Words of each source: skewed around the mean, some blank, some far too long."""
    lengths = generator.gamma(4.0, MEAN_WORDS / 4.0, pairs).round().astype(np.int64).clip(1, 75)
    odd = generator.random(pairs)
    lengths[odd < 0.002] = 0
    lengths[odd > 0.998] = 150
    return lengths


def _sentences(
    words: npt.NDArray[np.object_],
    shares: npt.NDArray[np.float64],
    lengths: npt.NDArray[np.int64],
    generator: np.random.Generator,
) -> Iterator[str]:
    """Lines of the given numbers of words, with capitals, numbers and punctuation."""
    ends = np.cumsum(lengths)
    chosen = words[np.searchsorted(shares, generator.random(int(ends[-1])), side="right")]
    kinds = generator.random(len(chosen))
    for index in np.flatnonzero(kinds < 0.12):
        chosen[index] = _decorate(chosen[index], kinds[index], int(index))
    for start, end in zip(ends - lengths, ends, strict=True):
        sentence = " ".join(chosen[start:end])
        yield f"{sentence[:1].upper()}{sentence[1:]}.\n" if sentence else "\n"


def _cumulative_shares(tail: Tail) -> npt.NDArray[np.float64]:
    """The share of the text that the words up to each rank take together, [VOCABULARY]."""
    ranks = np.arange(1, VOCABULARY + 1) + ZIPF_SHIFT
    frequencies = 1 / ranks
    frequencies[ranks > tail.rank] *= (tail.rank / ranks[ranks > tail.rank]) ** (tail.exponent - 1)
    shares = np.cumsum(frequencies)
    return shares / shares[-1]


def _decorate(word: str, kind: float, number: int) -> str:
    if kind < 0.06:
        return f"{word},"
    if kind < 0.08:
        return f"{number % 1_000},{number % 10}"
    if kind < 0.10:
        return word.capitalize()
    return f"“{word}”" if kind < 0.11 else f"{word}-{word}"
