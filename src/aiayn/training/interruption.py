"""Stopping in time: a signal, or the end of a Slurm job coming near."""

import os
import signal
import time
from types import FrameType
from typing import Any, Self

SIGNALS = (signal.SIGTERM, signal.SIGUSR1)
"""What clusters send before they take a machine away."""
EXIT_CODE = 75
"""``EX_TEMPFAIL``: stopped with a checkpoint on disk; run the same command again to go on."""
SECONDS_BEFORE_END = 180.0
"""A job's last minutes are left for the step at hand and its checkpoint."""


class InterruptedTrainingError(Exception):
    """Training stopped early, with a checkpoint on disk."""


class Interruption:
    """Notices, while it is entered, that training has to stop at the next step."""

    def __init__(self) -> None:
        self.reason = ""
        # Slurm tells a job when it will be ended, in seconds since 1970.
        self._end = float(os.environ.get("SLURM_JOB_END_TIME", "inf"))
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, _: FrameType | None) -> None:
        self.reason = signal.Signals(number).name

    @property
    def requested(self) -> bool:
        """Whether to save and stop; ``reason`` says why."""
        if not self.reason and time.time() > self._end - SECONDS_BEFORE_END:
            self.reason = "the job's time limit is near"
        return bool(self.reason)
