"""Going on from a checkpoint, if it belongs to the very same training."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiayn.batches import ParallelData
from aiayn.common.errors import UserError
from aiayn.common.files import read_json
from aiayn.common.progress import log
from aiayn.common.provenance import sources_sha256
from aiayn.config import TrainingConfig
from aiayn.training.checkpoints import (
    STATE,
    Checkpoint,
    checkpoint_of,
    list_checkpoints,
    load_checkpoint,
    newest_whole,
)
from aiayn.training.ranks import Ranks
from aiayn.training.trainer import Trainer

if TYPE_CHECKING:
    from aiayn.training.run import Job

SOURCES = ("batches/*.py", "model/*.py", "training/*.py", "common/formulas.py")
"""Code that decides what a step does; the rule ``train`` depends on the same."""
FREE_TO_CHANGE = {"steps", "average", "validate_every", "log_every"}
"""Training keys that leave the steps already taken as they are."""


def fingerprint(job: "Job", data: ParallelData) -> dict[str, str]:
    """What a checkpoint must share with a training to be continued by it."""
    training = job.training.model_dump(exclude=FREE_TO_CHANGE)
    return {
        "model": _digest(job.model.model_dump()),
        "training": _digest(training),
        "data": _digest(data.index["sha256"]),
        "code": sources_sha256(*SOURCES),
    }


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def checkpoint_to_resume(
    folder: Path, expected: dict[str, str], config: TrainingConfig, ranks: Ranks
) -> Checkpoint | None:
    """The newest whole checkpoint of this training, the same on all ranks.

    Args:
        folder: Of the checkpoints.
        expected: The fingerprint of this training.

    Returns:
        None to start from step 0. Checkpoints of another training are moved to ``<folder>.old``.

    Raises:
        UserError: more checkpoints are to be averaged than are left of this training.
    """
    step = 0
    if ranks.first:
        _set_aside_what_is_of_no_use(folder, expected, config.steps)
        if checkpoints := list_checkpoints(folder):  # the last is whole: what came after is gone
            step = checkpoints[-1].step
            _check_average(folder, checkpoints, config)
            log(f"{folder}: resuming after step {step:,}")
    # Told, not looked up: another machine may see the folder as it was a moment ago.
    step = ranks.from_first(step)
    return checkpoint_of(folder, step) if step else None


def _check_average(folder: Path, checkpoints: list[Checkpoint], config: TrainingConfig) -> None:
    """Of finished steps only as many checkpoints are left as were to be averaged then."""
    every, done = config.checkpoint_every, checkpoints[-1].step
    scheduled = sum(checkpoint.step % every == 0 for checkpoint in checkpoints)
    in_between = config.steps % every > 0  # the last step's
    at_the_end = scheduled + config.steps // every - done // every + in_between
    if at_the_end < config.average:
        raise UserError(
            f"{folder}: average: {config.average} checkpoints are to be averaged, and there would "
            f"be {at_the_end}: earlier ones are removed; without the folder, training begins anew"
        )


def load(trainer: Trainer, checkpoint: Checkpoint) -> None:
    """Give the trainer a checkpoint's weights and optimizer."""
    model, optimizer = load_checkpoint(checkpoint)
    trainer.model.load_state_dict(model)
    trainer.load_optimizer_tensors(optimizer)


def _set_aside_what_is_of_no_use(folder: Path, expected: dict[str, str], steps: int) -> None:
    checkpoints = list_checkpoints(folder)
    newest = newest_whole(folder)
    if newest is None:
        if checkpoints:
            _set_aside(folder, "are all broken")
        return
    for checkpoint in checkpoints:
        if checkpoint.step > newest.step:  # broken, and said so: in nobody's way from now on
            shutil.rmtree(checkpoint.path)
    state = read_json(newest.path / STATE)
    found = state.get("fingerprint", {})
    differing = [key for key in expected if expected[key] != found.get(key)]
    if differing:
        _set_aside(folder, f"of another training ({', '.join(differing)})")
    elif state["step"] > steps:
        _set_aside(folder, f"of more steps: {state['step']} were taken, {steps} are asked for")


def _set_aside(folder: Path, reason: str) -> None:
    old = folder.with_name(folder.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    old.mkdir()
    for path in folder.iterdir():
        if path.name != "lock":
            path.rename(old / path.name)
    log(f"{folder}: checkpoints {reason}; moved to {old}, starting from step 0")
