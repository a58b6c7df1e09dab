"""Runs in the peers' environment: beam search by JoeyNMT with given weights.

Reads a request (JSON) as its argument; prints ``{"seconds": s, "outputs": [subwords joined by
blanks]}``. Loading the model and the text is not counted.
"""

import json
import logging
import sys
import tempfile
import time
from typing import Any

import numpy as np
import torch
from joeynmt.config import parse_global_args
from joeynmt.data import load_data
from joeynmt.model import Model, build_model
from joeynmt.prediction import predict
from joeynmt_config import configuration


def load_weights(model: Model, path: str) -> None:
    """Set every parameter from an .npz file; only the sinusoids are JoeyNMT's own.

    Raises:
        ValueError: a parameter is not in the file.
    """
    given = {name: torch.from_numpy(array) for name, array in np.load(path).items()}
    missing = {name for name, _ in model.named_parameters()} - set(given)
    if missing:
        raise ValueError(f"no weights for {sorted(missing)}")
    model.load_state_dict({**model.state_dict(), **given})


def main() -> None:
    """Translate and print the time."""
    request: dict[str, Any] = json.loads(sys.argv[1])
    logging.disable(logging.INFO)
    with tempfile.TemporaryDirectory() as folder:
        config = configuration(
            request["model"],
            request["vocabulary"],
            folder,
            data={"test": request["test"]},
            training={"batch_size": 1},
            testing={
                "beam_size": request["beam"],
                "beam_alpha": request["alpha"],
                "batch_size": request["batch_size"],
                "batch_type": "sentence",
                "generate_unk": False,
            },
        )
        arguments = parse_global_args(config, mode="train")
        source, target, _, _, test = load_data(arguments.data, ["test"])
    model = build_model(arguments.model, source, target)
    load_weights(model, request["weights"])
    started = time.perf_counter()
    _, _, _, outputs, _, _ = predict(
        model,
        test,
        arguments.device,
        n_gpu=0,
        normalization="none",
        args=arguments.test,
        autocast=arguments.autocast,
    )
    seconds = time.perf_counter() - started
    specials = {"<pad>", "<s>", "</s>", "<unk>"}
    lines = [" ".join(word for word in words if word not in specials) for words in outputs]
    print(json.dumps({"seconds": seconds, "outputs": lines}))


if __name__ == "__main__":
    main()
