"""vocabulary.txt: a subword a line, ``subword<TAB>count``; the line number is the id."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

from aiayn.common.errors import UserError
from aiayn.common.files import atomic_write, read_lines

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIALS = ("<pad>", "<s>", "</s>", "<unk>")
"""Names of the ids 0 to 3."""


class Vocabulary:
    """Subwords and their ids, the same for both languages (Section 5.1).

    Text that happens to read ``<pad>`` or ``</s>`` is never taken for a special: it is unknown.
    """

    def __init__(self, subwords: Iterable[str]) -> None:
        self.subwords = [*SPECIALS, *subwords]
        self._ids = {
            subword: number for number, subword in enumerate(self.subwords) if number > UNK
        }

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a vocabulary file.

        Raises:
            UserError: one line naming the file and the line that is wrong.
        """
        subwords = []
        for number, line in enumerate(read_lines(path), start=1):
            subword, tab, count = line.partition("\t")
            if not subword or not tab or not count.isdecimal():
                raise UserError(f"{path}, line {number}: expected subword<TAB>count, got {line!r}")
            subwords.append(subword)
        if tuple(subwords[: len(SPECIALS)]) != SPECIALS:
            raise UserError(f"{path}: the first lines must be {', '.join(SPECIALS)}")
        vocabulary = cls(subwords[len(SPECIALS) :])
        if len(vocabulary._ids) != len(subwords) - len(SPECIALS):
            raise UserError(f"{path}: a subword occurs twice")
        return vocabulary

    def __len__(self) -> int:
        return len(self.subwords)

    def encode(self, subwords: Iterable[str]) -> list[int]:
        """Ids of subwords; ``UNK`` for those that are not in the vocabulary."""
        return [self._ids.get(subword, UNK) for subword in subwords]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Subwords of ids; specials are left out."""
        return [self.subwords[number] for number in ids if number > UNK]


def write_vocabulary(path: Path, counts: Mapping[str, int]) -> int:
    """Write a vocabulary by falling count, equal counts in code point order.

    Returns:
        Its size, specials included.
    """
    order = sorted((-count, subword) for subword, count in counts.items())
    with atomic_write(path) as stream:
        for special in SPECIALS:
            stream.write(f"{special}\t0\n")
        for count, subword in order:
            stream.write(f"{subword}\t{-count}\n")
    return len(SPECIALS) + len(order)
