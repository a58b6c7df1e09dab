"""The training that ``Prepared.trained_by`` of compare.py asks a worker for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiayn.config import ModelConfig, TextConfig, TrainingConfig
from aiayn.training import Job


def requested_job(request: Mapping[str, Any], output: Path) -> Job:
    """The request's training, into the folder ``output``."""
    return Job(
        train_data=Path(request["data"]) / "train",
        dev_data=Path(request["data"]) / "dev",
        text_folder=Path(request["text"]),
        output=output,
        pair="en-de",
        label="benchmark",
        model=ModelConfig(**request["model"]),
        training=TrainingConfig(**request["training"]),
        text=TextConfig(),
        device="cpu",
    )
