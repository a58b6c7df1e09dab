"""Trains as ``aiayn train`` does and adds up the time outside forward, backward and optimizer.

Reads a request (JSON) as its argument; prints ``{"seconds": s, "outside": s}`` between the first
step's beginning and the last one's end. Outside is what happens between steps (choosing pairs,
logging, saving checkpoints) and the reading and padding of pairs within them.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiayn_job import requested_job

from aiayn.training import train, trainer


class Clock:
    """Adds up the time that wrapped functions take."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.started: float | None = None
        self.ended = 0.0

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, timed."""

        def timed(*arguments: Any) -> Any:
            started = time.perf_counter()
            self.started = started if self.started is None else self.started
            result = function(*arguments)
            self.ended = time.perf_counter()
            self.seconds += self.ended - started
            return result

        return timed


def main() -> None:
    """Train and print the times."""
    request: dict[str, Any] = json.loads(sys.argv[1])
    steps, reading = Clock(), Clock()
    trainer.Trainer.train_step = steps.wrap(trainer.Trainer.train_step)  # type: ignore[method-assign]
    trainer.make_batch = reading.wrap(trainer.make_batch)
    with tempfile.TemporaryDirectory(dir=request["folder"]) as folder:
        train(requested_job(request, Path(folder)))
    assert steps.started is not None
    seconds = steps.ended - steps.started
    print(json.dumps({"seconds": seconds, "outside": seconds - steps.seconds + reading.seconds}))


if __name__ == "__main__":
    main()
