"""A parallel corpus of any size that is like real text to every step before training.

Words follow the law of Zipf and Mandelbrot: the first takes a fifteenth of the text, and new ones
never end, up to a million a side. Frequent ones are short; all are made of a few syllables, which
is what BPE finds. Sentences have capitals, commas, numbers, quotes and about 25 words; four in a
thousand are blank or far too long.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aiayn.common.files import atomic_write
from aiayn.common.progress import Meter

VOCABULARY = 1_000_000
"""Different words a side; how many of them occur grows with the corpus, as in real text."""
ZIPF_EXPONENT = 1.25
"""Then some 18,000 of 125,000 words differ; on the web, 16,000 (English) and 23,000 (German)."""
ZIPF_SHIFT = 2.7
"""Mandelbrot's: it keeps the first words from being too frequent."""
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
    words = {lang: _words(lang, seed) for lang in ("en", "de")}
    generator = np.random.default_rng(seed)
    with (
        atomic_write(folder / "raw.en") as source,
        atomic_write(folder / "raw.de") as target,
        Meter("generate", total=pairs, unit="pairs") as meter,
    ):
        for first in range(0, pairs, BLOCK_PAIRS):
            block = min(BLOCK_PAIRS, pairs - first)
            lengths = _lengths(block, generator)
            source.writelines(_sentences(words["en"], lengths, generator))
            jitter = generator.normal(1.0, 0.15, block).clip(0.5, 2.0)
            target_lengths = (lengths * jitter).round().astype(np.int64)
            target.writelines(_sentences(words["de"], target_lengths, generator))
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
    words: npt.NDArray[np.object_], lengths: npt.NDArray[np.int64], generator: np.random.Generator
) -> Iterator[str]:
    """Lines of the given numbers of words, with capitals, numbers and punctuation."""
    ends = np.cumsum(lengths)
    chosen = words[_ranks(int(ends[-1]), generator)]
    kinds = generator.random(len(chosen))
    for index in np.flatnonzero(kinds < 0.12):
        chosen[index] = _decorate(chosen[index], kinds[index], int(index))
    for start, end in zip(ends - lengths, ends, strict=True):
        sentence = " ".join(chosen[start:end])
        yield f"{sentence[:1].upper()}{sentence[1:]}.\n" if sentence else "\n"


def _ranks(count: int, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """Ranks from 0 with probability (rank + 1 + shift)^-exponent, by inverting its integral."""
    power = 1.0 - ZIPF_EXPONENT
    first, last = (1.0 + ZIPF_SHIFT) ** power, (VOCABULARY + 1.0 + ZIPF_SHIFT) ** power
    drawn = (first + generator.random(count) * (last - first)) ** (1.0 / power)
    return (drawn - ZIPF_SHIFT).astype(np.int64).clip(1, VOCABULARY) - 1


def _decorate(word: str, kind: float, number: int) -> str:
    if kind < 0.06:
        return f"{word},"
    if kind < 0.08:
        return f"{number % 1_000},{number % 10}"
    if kind < 0.10:
        return word.capitalize()
    return f"“{word}”" if kind < 0.11 else f"{word}-{word}"
