"""Beam search by this project, from raw text to detokenized text.

Reads a request (JSON) as its argument; prints ``{"seconds": s, "outputs": [text]}``. Loading the
model is not counted; tokenization, BPE and detokenization are.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch

from aiayn.config import DecodingConfig
from aiayn.decoding.translator import Translator


def main() -> None:
    """Translate and print the time."""
    request: dict[str, Any] = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    translator = Translator(Path(request["model"]), torch.device("cpu"), request["threads"])
    config = DecodingConfig(beam=request["beam"], alpha=request["alpha"])
    started = time.perf_counter()
    outputs = list(translator.translate(request["sources"], config))
    print(json.dumps({"seconds": time.perf_counter() - started, "outputs": outputs}))


if __name__ == "__main__":
    main()
