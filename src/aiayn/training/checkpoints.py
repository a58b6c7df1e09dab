"""Step checkpoints: folders that are whole or absent.

A checkpoint is ``step-<n>/`` with ``model.safetensors``, ``state.json`` (position, totals, sha256
of the others) and, in the newest two, ``optimizer.safetensors``. It is written under a temporary
name, synced and renamed. No rule of the DAG declares these folders, so that neither Snakemake nor
DVC deletes them before a retry.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from aiayn.common.errors import UserError
from aiayn.common.files import (
    fsync_directory,
    read_json,
    remove,
    scratch,
    sha256_of,
    write_json,
)
from aiayn.common.progress import log
from aiayn.model.weights import load_weights, save_weights

MODEL, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"
_NAME = re.compile(r"step-(\d+)")


@dataclass(frozen=True)
class Checkpoint:
    """A whole checkpoint on disk."""

    step: int
    path: Path


def checkpoint_of(folder: Path, step: int) -> Checkpoint:
    """The checkpoint of a step."""
    return Checkpoint(step, folder / f"step-{step}")


def list_checkpoints(folder: Path) -> list[Checkpoint]:
    """Checkpoints by step number (900, 1000, 10000), not by name."""
    found = [
        Checkpoint(int(match[1]), path)
        for path in folder.glob("step-*")
        if (match := _NAME.fullmatch(path.name))
    ]
    return sorted(found, key=lambda checkpoint: checkpoint.step)


def save_checkpoint(
    folder: Path,
    step: int,
    model: dict[str, torch.Tensor],
    optimizer: dict[str, torch.Tensor],
    state: dict[str, Any],
) -> Checkpoint:
    """Write a checkpoint, whole or not at all.

    Args:
        folder: Of all checkpoints of a run.
        step: Optimizer steps taken.
        model, optimizer: Their tensors.
        state: Anything JSON holds.
    """
    checkpoint = checkpoint_of(folder, step)
    with scratch(checkpoint.path) as temporary:
        temporary.mkdir(parents=True)
        save_weights(temporary / MODEL, model)
        save_weights(temporary / OPTIMIZER, optimizer)
        sums = {name: sha256_of(temporary / name) for name in (MODEL, OPTIMIZER)}
        write_json(temporary / STATE, {"step": step, "sha256": sums, **state})
        shutil.rmtree(checkpoint.path, ignore_errors=True)
        temporary.rename(checkpoint.path)
        fsync_directory(folder)
    return checkpoint


def prune_checkpoints(folder: Path, keep: int, every: int) -> None:
    """Keep the last ``keep`` checkpoints, and the optimizer of two: the newest may prove broken.

    One that an interruption left between two of the schedule stays only until the next is saved,
    and never in place of another: what is averaged does not depend on interruptions.
    """
    checkpoints = list_checkpoints(folder)
    scheduled = [checkpoint for checkpoint in checkpoints if checkpoint.step % every == 0]
    kept = [c for c in checkpoints if c in scheduled[-keep:] or c == checkpoints[-1]]
    for checkpoint in checkpoints:
        if checkpoint not in kept:
            shutil.rmtree(checkpoint.path)
    for checkpoint in kept[:-2]:
        (checkpoint.path / OPTIMIZER).unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed trainer was writing; for the holder of the run's lock alone."""
    for path in folder.glob(".*.tmp"):
        remove(path)


def read_sha256(checkpoint: Checkpoint, name: str) -> str:
    """The sum that was written with a checkpoint's file."""
    return str(read_json(checkpoint.path / STATE)["sha256"][name])


def verified(checkpoint: Checkpoint, *names: str) -> bool:
    """Whether the named files are what was written; says which one is not."""
    try:
        sums = read_json(checkpoint.path / STATE)["sha256"]
    except (UserError, KeyError) as error:
        log(f"{checkpoint.path}: set aside, broken ({error})")
        return False
    for name in names:
        file = checkpoint.path / name
        if not file.exists() or sha256_of(file) != sums.get(name):
            log(f"{file}: broken or missing; not used")
            return False
    return True


def newest_whole(folder: Path) -> Checkpoint | None:
    """The newest checkpoint that can be resumed; broken ones after it are named."""
    for checkpoint in reversed(list_checkpoints(folder)):
        if verified(checkpoint, MODEL, OPTIMIZER):
            return checkpoint
    return None


def load_checkpoint(
    checkpoint: Checkpoint,
) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Model and optimizer of a whole checkpoint."""
    return load_weights(checkpoint.path / MODEL), load_weights(checkpoint.path / OPTIMIZER)
