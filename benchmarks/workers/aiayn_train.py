"""Trains with ``aiayn.training`` for a few steps and times each of them.

Reads a request (JSON) as its argument; prints ``entered`` and ``tokens`` as joeynmt_train.py does
(a step lasts until the next one begins, so that reading data, Adam and logging count), the loss of
each step, the ``dev`` loss after the last and the ``precision`` chosen.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from aiayn_job import requested_job

from aiayn.training import train
from aiayn.training.trainer import StepResult, Trainer


def main() -> None:
    """Train and print the times."""
    request = json.loads(sys.argv[1])
    entered: list[float] = []
    tokens: list[int] = []
    losses: list[float] = []
    step = Trainer.train_step

    def timed(self: Trainer, *arguments: Any) -> StepResult:
        entered.append(time.perf_counter())
        result = step(self, *arguments)
        tokens.append(result.tokens.target)
        losses.append(float(result.loss_and_nll[0]) / result.tokens.target)
        return result

    Trainer.train_step = timed  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        train(requested_job(request, Path(folder)))
        marker = json.loads((Path(folder) / "trained.json").read_text(encoding="utf-8"))
    result = {"entered": entered, "tokens": tokens, "losses": losses}
    print(json.dumps({**result, "dev": marker["dev"]["loss"], "precision": marker["precision"]}))


if __name__ == "__main__":
    main()
