"""Sentence pairs on their way: how many are read, kept and dropped, and why."""

from collections import Counter
from typing import Any


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
