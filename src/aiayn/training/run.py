"""One training from data folder to run folder, from the last whole checkpoint on if there is one.

Writes ``last/``, ``train.csv``, ``valid.csv``, ``run.json`` and, at the very end, ``trained.json``.
"""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from aiayn.batches import ParallelData, Position, Step, training_steps
from aiayn.batches.buckets import count_too_long
from aiayn.batches.permutation import derive_seed
from aiayn.common.progress import Meter, log
from aiayn.config import ModelConfig, TextConfig, TrainingConfig
from aiayn.config.cost import TokenCounts
from aiayn.model import Transformer
from aiayn.model.device import choose_device, choose_precision
from aiayn.training.checkpoints import prune_checkpoints, save_checkpoint
from aiayn.training.finish import write_results
from aiayn.training.journal import TRAIN_COLUMNS, VALID_COLUMNS, Journal
from aiayn.training.lock import only_trainer
from aiayn.training.memory import keep_freed_memory
from aiayn.training.resume import fingerprint, resume
from aiayn.training.trainer import StepResult, Trainer
from aiayn.training.validation import Validation, validate


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


@dataclass
class Progress:
    """How far training is; all that a checkpoint keeps besides tensors."""

    step: int = 0
    position: Position = field(default_factory=Position)
    tokens: TokenCounts = field(default_factory=TokenCounts)
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """For ``state.json``; :meth:`from_json` undoes it."""
        return asdict(self)

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> "Progress":
        """Read ``state.json``."""
        return cls(
            step=state["step"],
            position=Position(**state["position"]),
            tokens=TokenCounts(**state["tokens"]),
            seconds=state["seconds"],
        )


def train(job: Job) -> None:
    """Train to the last step, or go on from where an earlier call stopped.

    Raises:
        UserError: bad data or settings, or another trainer is at work in the folder.
    """
    checkpoints = job.output / "checkpoints"
    with only_trainer(checkpoints):
        torch.set_num_threads(job.training.threads)
        keep_freed_memory()
        run = _Run(job, checkpoints)
        run.train()
        for journal, name in ((run.train_csv, "train.csv"), (run.valid_csv, "valid.csv")):
            journal.publish(job.output / name)
        write_results(job, run.trainer, run.progress, run.validation, run.precision, checkpoints)


class _Run:
    def __init__(self, job: Job, checkpoints: Path) -> None:
        self.job, self.checkpoints, config = job, checkpoints, job.training
        self.device = choose_device(job.device)
        self.precision = choose_precision(config.precision, self.device)
        self.data, self.dev = ParallelData(job.train_data), ParallelData(job.dev_data)
        torch.manual_seed(derive_seed(config.seed, "weights"))
        model = Transformer(job.model, self.data.vocabulary_size)
        self.trainer = Trainer(model, config, self.precision, self.device)
        self.fingerprint = fingerprint(job, self.data)
        state = resume(self.trainer, checkpoints, self.fingerprint, config.steps)
        self.progress = Progress.from_json(state) if state else Progress()
        step = self.progress.step
        self.train_csv = Journal(checkpoints / "train.csv", TRAIN_COLUMNS, up_to_step=step)
        self.valid_csv = Journal(checkpoints / "valid.csv", VALID_COLUMNS, up_to_step=step)
        self.validation: Validation | None = None
        self._announce()

    def _announce(self) -> None:
        skipped = count_too_long(self.data, self.job.training.max_length)
        log(
            f"{self.job.label}: {self.device} in {self.precision}, {len(self.data):,} pairs, "
            f"{skipped:,} of them skipped as longer than {self.job.training.max_length} subwords"
        )

    def _steps(self) -> Iterator[Step]:
        config = self.job.training
        return training_steps(
            self.data,
            seed=config.seed,
            tokens_per_step=config.tokens_per_step,
            micro_batches=config.micro_batches,
            max_length=config.max_length,
            start=self.progress.position,
        )

    def train(self) -> None:
        """Take the steps that are left; validate, log and save on the way."""
        config, progress = self.job.training, self.progress
        window = _Window()
        meter = Meter(self.job.label, total=config.steps, unit="steps", done=progress.step)
        with meter:
            for step in self._steps():
                if progress.step >= config.steps:
                    break
                started = time.monotonic()
                result = self.trainer.train_step(progress.step + 1, step, self.data)
                progress.step += 1
                progress.position = step.following
                progress.tokens += result.tokens
                progress.seconds += time.monotonic() - started
                window.add(result, time.monotonic() - started)
                saving = progress.step % config.checkpoint_every == 0
                last = progress.step == config.steps
                if progress.step % config.log_every == 0 or saving or last:
                    self.train_csv.write(*window.row(progress, step.position.epoch))
                    meter.advance(window.steps, note=window.note)
                    window = _Window()
                if progress.step % config.validate_every == 0 or last:
                    self._validate()
                if saving or last:
                    self._save()
        if self.validation is None:  # resumed after the last step; valid.csv has its row
            self._measure()

    def _measure(self) -> None:
        config = self.job.training
        self.validation = validate(self.trainer.model, self.dev, config.max_length, self.device)

    def _validate(self) -> None:
        self._measure()
        assert self.validation is not None
        self.valid_csv.write(self.progress.step, self.validation.loss, self.validation.ppl)

    def _save(self) -> None:
        model = dict(self.trainer.model.state_dict())
        state = {"fingerprint": self.fingerprint, **self.progress.as_json()}
        optimizer = self.trainer.optimizer_tensors()
        save_checkpoint(self.checkpoints, self.progress.step, model, optimizer, state)
        prune_checkpoints(self.checkpoints, keep=self.job.training.average)


class _Window:
    """The steps since the last row of train.csv."""

    def __init__(self) -> None:
        self.steps = 0
        self.tokens = TokenCounts()
        self.seconds = 0.0
        self._losses: list[torch.Tensor] = []
        self._nlls: list[torch.Tensor] = []
        self.lr = 0.0
        self.note = ""

    def add(self, result: StepResult, seconds: float) -> None:
        """Count one step."""
        self.steps += 1
        self.tokens += result.tokens
        self.seconds += seconds
        self.lr = result.lr
        self._losses.append(result.loss)
        self._nlls.append(result.nll)

    def row(self, progress: Progress, epoch: int) -> tuple[float, ...]:
        """Means per target token over the window; totals of tokens and seconds since step 1."""
        loss, nll = (
            float(torch.stack(values).sum()) / self.tokens.target
            for values in (self._losses, self._nlls)
        )
        rate = self.tokens.target / max(self.seconds, 1e-9)
        self.note = f"loss {loss:.3f}, {rate:,.0f} target tokens/s"
        return (
            progress.step,
            epoch,
            round(loss, 6),
            round(nll, 6),
            self.lr,
            progress.tokens.source,
            progress.tokens.target,
            round(rate, 1),
            round(progress.seconds, 3),
        )
