"""Checkpoint averaging (Section 6.1): the mean of the last k checkpoints' weights."""

from collections.abc import Sequence
from pathlib import Path

import torch

from aiayn.common.errors import UserError
from aiayn.common.files import read_json, sha256_of
from aiayn.model.weights import ModelFolder, load_weights, read_description, write_model_folder


def average_checkpoints(paths: Sequence[Path]) -> dict[str, torch.Tensor]:
    """Mean of each tensor over the checkpoints, summed in fp32; a tied matrix is one tensor.

    Raises:
        UserError: a checkpoint is broken or its tensors differ in name or shape from the first's.
    """
    total: dict[str, torch.Tensor] = {}
    for path in paths:
        tensors = load_weights(path)
        if not total:
            total = {
                name: torch.zeros_like(value, dtype=torch.float32)
                for name, value in tensors.items()
            }
        if shapes(tensors) != shapes(total):
            raise UserError(f"{path}: its tensors are not those of {paths[0]}")
        for name, value in tensors.items():
            total[name] += value.float()
    return {name: value / len(paths) for name, value in total.items()}


def shapes(tensors: dict[str, torch.Tensor]) -> dict[str, tuple[int, ...]]:
    """Shape of each tensor by name."""
    return {name: tuple(value.shape) for name, value in tensors.items()}


def average_run(run: Path, last: int, text_folder: Path, output: Path) -> ModelFolder:
    """Average the last ``last`` checkpoints, by step number, of a finished training.

    Args:
        run: A run folder with ``trained.json`` and ``last/model.json``.
        text_folder: Holds ``codes`` and ``vocabulary.txt``.
        output: Model folder to write.

    Raises:
        UserError: there are fewer checkpoints, or one is not what training wrote.
    """
    listed = sorted(read_json(run / "trained.json")["checkpoints"], key=lambda item: item["step"])
    chosen = listed[-last:]
    if len(chosen) < last:
        raise UserError(
            f"{run / 'trained.json'}: {last} checkpoints asked for, {len(listed)} there"
        )
    for checkpoint in chosen:
        path = run / checkpoint["path"]
        if not path.exists() or sha256_of(path) != checkpoint["sha256"]:
            raise UserError(f"{path}: missing, or not the file that training wrote")
    tensors = average_checkpoints([run / checkpoint["path"] for checkpoint in chosen])
    steps = tuple(checkpoint["step"] for checkpoint in chosen)
    description = read_description(run / "last").model_copy(update={"steps": steps})
    write_model_folder(output, description, tensors, text_folder)
    return description
