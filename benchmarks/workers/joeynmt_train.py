"""Runs in the peers' environment: trains JoeyNMT for a few steps and times each of them.

Reads a request (JSON) as its argument; prints ``{"entered": [s], "tokens": [n]}``: when each step
began, and its target tokens without padding. A step lasts until the next one begins, so that
reading data, Adam and logging count.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from joeynmt.training import TrainManager, train
from joeynmt_config import configuration


def main() -> None:
    """Train and print the times."""
    request = json.loads(sys.argv[1])
    entered: list[float] = []
    tokens: list[int] = []
    step = TrainManager._train_step

    def timed(self: TrainManager, batch: Any) -> Any:
        entered.append(time.perf_counter())
        tokens.append(int(batch.ntokens))
        return step(self, batch)

    TrainManager._train_step = timed
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "model").mkdir()
        config = configuration(
            request["model"],
            request["vocabulary"],
            f"{folder}/model",
            data={"train": request["train"], "dev": request["dev"]},
            training={
                "batch_size": request["tokens_per_step"],
                "batch_type": "token",
                "updates": request["steps"],
                "epochs": 1_000,
            },
            testing={},
        )
        train(0, 1, config, skip_test=True)
    print(json.dumps({"entered": entered, "tokens": tokens}))


if __name__ == "__main__":
    main()
