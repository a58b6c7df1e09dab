"""Byte pair encoding by subword-nmt (Sennrich et al., 2016; Section 5.1): words to subwords.

``@@`` at the end of a subword says that its word goes on. A word that itself holds ``@@`` has its
``@`` cut into subwords of their own, so that no last subword of a word ever ends in ``@@`` and
every segmentation can be undone exactly.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from subword_nmt.apply_bpe import BPE

from aiayn.common.errors import UserError
from aiayn.common.files import open_lines, read_lines, sha256_of

HEADER = "#version: 0.2"
CONTINUES = "@@"

MAX_CACHED_WORDS = 200_000
_NEIGHBOURING_AT = r"(?:@(?=@)|(?<=@)@)"


class BytePairEncoder:
    """Words to subwords, by the merges of a codes file.

    Args:
        codes: File of :func:`aiayn.text.learn.learn_bpe`.
        words: Its file of the most frequent words: they need not be segmented again. The result
            is the same without it.

    Raises:
        UserError: one line naming the file and the line that is wrong, or a missing header.
    """

    def __init__(self, codes: Path | str, words: Path | str | None = None) -> None:
        _check_codes(codes)
        known = _read_words(words, codes) if words else {}
        with open_lines(codes) as stream:
            self._segmented = _Segmented(BPE(stream, separator=CONTINUES), known)

    def segment(self, tokenized: str) -> list[str]:
        """Subwords of a tokenized line; blanks of any kind and number separate words."""
        return self.segment_line(tokenized).split(" ") if tokenized.strip() else []

    def segment_line(self, tokenized: str) -> str:
        """The same, joined by single blanks."""
        if len(self._segmented) > MAX_CACHED_WORDS:  # else it would grow with the corpus
            self._segmented.clear()
        return " ".join(map(self._segmented.__getitem__, tokenized.split()))


class _Segmented(dict[str, str]):
    """Words with their subwords, joined by blanks, which are made when first asked for."""

    def __init__(self, bpe: BPE, known: dict[str, str]) -> None:
        self._bpe = bpe
        self._known = known

    def __missing__(self, word: str) -> str:
        subwords = self[word] = self._known.get(word) or self._segment(word)
        return subwords

    def _segment(self, word: str) -> str:
        # The library's glossaries do the cutting, but take three quarters of all time.
        self._bpe.glossaries = [_NEIGHBOURING_AT] if CONTINUES in word else []
        self._bpe.cache.clear()  # this is the cache
        return " ".join(self._bpe.segment_tokens([word]))


def join_subwords(subwords: Iterable[str]) -> str:
    """Subwords to words, joined by blanks: the inverse of :meth:`BytePairEncoder.segment`.

    A last subword whose word should go on, as in output cut at a length limit, ends its word.
    """
    return "".join(
        subword.removesuffix(CONTINUES) if subword.endswith(CONTINUES) else f"{subword} "
        for subword in subwords
    ).rstrip(" ")


def words_header(codes: Path | str) -> str:
    """First line of the file of words that goes with ``codes``."""
    return f"#codes: {sha256_of(codes)}"


def _read_words(path: Path | str, codes: Path | str) -> dict[str, str]:
    lines = list(read_lines(path))
    if lines[:1] != [words_header(codes)]:
        raise UserError(f"{path}, line 1: these are not words in the subwords of {codes}")
    try:
        return dict(line.split("\t") for line in lines[1:])
    except ValueError:
        wrong = (each for each in enumerate(lines[1:], start=2) if each[1].count("\t") != 1)
        number, line = next(wrong)
        raise UserError(
            f"{path}, line {number}: expected word<TAB>subwords, got {line!r}"
        ) from None


def _check_codes(path: Path | str) -> None:
    """What subword-nmt would read wrongly without a word, or end the program for."""
    lines = read_lines(path)
    # Without its header a codes file reads as version 0.1, which segments differently.
    if re.sub(r"(\.0+)*$", "", next(lines, "")) != HEADER:
        raise UserError(f"{path}, line 1: expected {HEADER!r}; the file is not whole")
    merges = 0
    for merges, line in enumerate(lines, start=1):
        if not re.fullmatch(r"[^ ]+ [^ ]+", line):
            raise UserError(f"{path}, line {merges + 1}: expected two symbols, got {line!r}")
    if not merges:
        raise UserError(f"{path}: no merges in it")
