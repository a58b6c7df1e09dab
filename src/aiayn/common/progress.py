"""Progress of long steps: a bar on a terminal, a line every few seconds in a log."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

Item = TypeVar("Item")

SECONDS_BETWEEN_LINES = 10.0


def log(message: str) -> None:
    """Print one line to standard error; standard output is for results."""
    print(message, file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    minutes, whole_seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{whole_seconds:02d}"


class Meter:
    """Counts units of work and says now and then how fast they go and what time is left.

    Example:
        >>> with Meter("tokenize europarl.en", total=1000, unit="lines") as meter:
        ...     meter.advance(10)
    """

    def __init__(
        self,
        label: str,
        *,
        total: int | None = None,
        unit: str = "items",
        done: int = 0,
        silent: bool = False,
    ) -> None:
        self.label, self.total, self.unit, self.silent = label, total, unit, silent
        self.done = self._first = done
        self._started = self._last_line = time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> "Meter":
        if sys.stderr.isatty() and not self.silent:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:,.0f} {task.fields[unit]}"),
                TextColumn("{task.fields[note]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(
                self.label, total=self.total, completed=self.done, unit=self.unit, note=""
            )
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar:
            self._bar.stop()
        if exception[0] is None and not self.silent:
            log(f"{self.label}: {self.done:,} {self.unit} in {_duration(self.seconds)}")

    @property
    def seconds(self) -> float:
        """Seconds since the meter was made."""
        return time.monotonic() - self._started

    def advance(self, amount: int = 1, *, note: str = "") -> None:
        """Count ``amount`` more units; ``note`` is shown beside them (a loss, say)."""
        self.done += amount
        if self._bar:
            self._bar.update(self._task, completed=self.done, note=note)
        elif not self.silent and time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            log(self._line(note))

    def _line(self, note: str) -> str:
        rate = (self.done - self._first) / max(self.seconds, 1e-9)
        of_total = f" of {self.total:,}" if self.total else ""
        line = f"{self.label}: {self.done:,}{of_total} {self.unit}, {rate:,.1f}/s"
        if self.total and rate > 0:
            line += f", {_duration((self.total - self.done) / rate)} left"
        return f"{line}, {note}" if note else line


def track(
    items: Iterable[Item], label: str, *, total: int | None = None, unit: str = "items"
) -> Iterator[Item]:
    """Yield ``items`` while a :class:`Meter` counts them."""
    with Meter(label, total=total, unit=unit) as meter:
        for item in items:
            yield item
            meter.advance()
