"""One training from data folder to run folder, from the last whole checkpoint on if there is one.

Writes ``last/``, ``train.csv``, ``valid.csv``, ``run.json`` and, at the very end, ``trained.json``.
"""

import contextlib
from dataclasses import dataclass
from pathlib import Path

import torch

from aiayn.batches import ParallelData
from aiayn.common.progress import log
from aiayn.config import ModelConfig, TextConfig, TrainingConfig
from aiayn.model.device import choose_device
from aiayn.training.checkpoints import prune_checkpoints, remove_leftovers
from aiayn.training.finish import write_results
from aiayn.training.interruption import Interruption
from aiayn.training.lock import only_trainer
from aiayn.training.loop import Loop
from aiayn.training.memory import keep_freed_memory, parts_of_micro_batches
from aiayn.training.ranks import Ranks, joined_ranks


@dataclass(frozen=True, kw_only=True)
class Job:
    """What to train, on what, into which folder."""

    train_data: Path
    dev_data: Path
    text_folder: Path
    """Holds ``codes`` and ``vocabulary.txt``."""
    output: Path
    """The run folder."""
    pair: str
    """``en-de``."""
    label: str
    """Names the run in logs."""
    model: ModelConfig
    training: TrainingConfig
    text: TextConfig
    device: str = "auto"

    @property
    def checkpoints(self) -> Path:
        """Folder of the step checkpoints."""
        return self.output / "checkpoints"


def check_data(job: Job) -> None:
    """Look at the data before anything is started or written.

    Raises:
        UserError: a file of a data folder is missing or broken; the message names it.
    """
    for data in (job.train_data, job.dev_data):
        ParallelData(data)


def train(job: Job) -> None:
    """Train to the last step, or go on from where an earlier call stopped.

    Started by torchrun in several processes, they train together.

    Raises:
        UserError: bad data or settings, a loss that is not finite, or another trainer is at work
            in the folder.
        InterruptedTrainingError: told to stop early, or out of memory; call again to go on.
    """
    check_data(job)  # bad data leave no trace in the run folder
    torch.set_num_threads(job.training.threads)
    keep_freed_memory()
    device = choose_device(job.device)
    with joined_ranks(device) as ranks:
        lock = only_trainer(job.checkpoints) if ranks.first else contextlib.nullcontext()
        with lock:
            ranks.wait()
            _train(job, ranks, ranks.device(device))


def _train(job: Job, ranks: Ranks, device: torch.device) -> None:
    if ranks.first:
        for folder in (job.checkpoints, job.output / "last"):
            remove_leftovers(folder)
    parts = parts_of_micro_batches(job.checkpoints)
    with Interruption() as interruption:
        loop = Loop(job, ranks, device, parts, interruption)
        loop.train()
    if ranks.first:
        # A kill may have left more than are to be kept.
        prune_checkpoints(
            job.checkpoints, keep=job.training.average, every=job.training.checkpoint_every
        )
        loop.publish_journals(job.output)
        write_results(job, loop)
        log(f"{job.label}: finished; {job.output / 'trained.json'}")
    ranks.wait()
