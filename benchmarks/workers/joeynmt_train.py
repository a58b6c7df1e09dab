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


def config(request: dict[str, Any], folder: str) -> dict[str, Any]:
    """JoeyNMT's configuration: post-norm, tied, scaled, on text that is already subwords."""
    model = request["model"]
    side = {"level": "word", "max_length": 256, "voc_file": request["vocabulary"]}
    stack = {
        "type": "transformer",
        "num_layers": model["N"],
        "num_heads": model["h"],
        "hidden_size": model["d_model"],
        "ff_size": model["d_ff"],
        "dropout": model["p_drop"],
        "layer_norm": "post",
        "embeddings": {"embedding_dim": model["d_model"], "scale": True, "dropout": 0.1},
    }
    return {
        "name": "benchmark",
        "model_dir": folder,
        "use_cuda": False,
        "data": {
            "train": request["train"],
            "dev": request["dev"],
            "dataset_type": "plain",
            "src": {"lang": "en", **side},
            "trg": {"lang": "de", **side},
        },
        "testing": {},
        "training": {
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "scheduling": "noam",
            "learning_rate_warmup": 500,
            "learning_rate_min": 0.0,  # below it JoeyNMT stops
            "label_smoothing": 0.1,
            "normalization": "tokens",
            "batch_size": request["tokens_per_step"],
            "batch_type": "token",
            "updates": request["steps"],
            "epochs": 1_000,
            "logging_freq": 10,
            "validation_freq": 1_000_000,
        },
        "model": {
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": stack,
            "decoder": {**stack},
        },
    }


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
        train(0, 1, config(request, f"{folder}/model"), skip_test=True)
    print(json.dumps({"entered": entered, "tokens": tokens}))


if __name__ == "__main__":
    main()
