"""Sentence pairs on their way: how many are read, kept and dropped, and why."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any, TypeVar

from aiayn.common.errors import UserError

Line = TypeVar("Line", str, bytes)


class Counts:
    """Pairs read and dropped; a pair is counted under the first reason that applies."""

    def __init__(self) -> None:
        self.read = 0
        self.dropped: Counter[str] = Counter()

    def drop(self, reason: str) -> None:
        """Count a pair that is not kept."""
        self.dropped[reason] += 1

    @property
    def kept(self) -> int:
        """Pairs read and not dropped."""
        return self.read - self.dropped.total()

    def as_json(self) -> dict[str, Any]:
        """``kept`` and ``dropped``, the reasons in alphabetical order."""
        return {"kept": self.kept, "dropped": dict(sorted(self.dropped.items()))}


def longer_than(max_words: int | None, source: str | bytes, target: str | bytes) -> bool:
    """Whether a side has more than ``max_words`` words, cut at blanks."""
    return max_words is not None and max(len(source.split()), len(target.split())) > max_words


def align(
    source: Iterable[Line], target: Iterable[Line], names: tuple[object, object]
) -> Iterator[tuple[Line, Line]]:
    """Lines of two sides, side by side.

    Args:
        source, target: Lines.
        names: What to call the sides in the error.

    Raises:
        UserError: after the last pair, when one side goes on; the message has both counts.
    """
    lines = [0, 0]
    for source_line, target_line in zip_longest(source, target):
        lines[0] += source_line is not None
        lines[1] += target_line is not None
        if source_line is not None and target_line is not None:
            yield source_line, target_line
    if lines[0] != lines[1]:
        raise UserError(f"{names[0]} has {lines[0]:,} lines but {names[1]} has {lines[1]:,}")
