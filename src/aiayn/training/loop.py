"""The training loop: steps, and validation, logging and checkpoints between them."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from aiayn.batches import ParallelData, Position, Step, training_steps
from aiayn.batches.buckets import count_too_long
from aiayn.batches.permutation import derive_seed
from aiayn.common.errors import UserError
from aiayn.common.files import read_json
from aiayn.common.progress import Meter, log
from aiayn.model import Transformer
from aiayn.model.device import choose_precision, device_name
from aiayn.training.checkpoints import STATE, prune_checkpoints, save_checkpoint
from aiayn.training.interruption import InterruptedTrainingError, Interruption
from aiayn.training.journal import TRAIN_COLUMNS, VALID_COLUMNS, Journal
from aiayn.training.memory import use_more_parts
from aiayn.training.ranks import Ranks
from aiayn.training.resume import checkpoint_to_resume, fingerprint, load
from aiayn.training.state import Progress
from aiayn.training.trainer import StepResult, Trainer
from aiayn.training.validation import Validation, validate
from aiayn.training.window import Window

if TYPE_CHECKING:
    from aiayn.training.run import Job


class Loop:
    """A training under way, on one rank.

    Raises:
        UserError: bad data, or fewer micro-batches in a step than ranks.
    """

    def __init__(
        self,
        job: "Job",
        ranks: Ranks,
        device: torch.device,
        parts: int,
        interruption: Interruption,
    ) -> None:
        self.job, self.ranks, self.device, config = job, ranks, device, job.training
        self.interruption = interruption
        self.data, self.dev = ParallelData(job.train_data), ParallelData(job.dev_data)
        self.fingerprint = fingerprint(job, self.data)
        checkpoint = checkpoint_to_resume(job.checkpoints, self.fingerprint, config, ranks)
        state = read_json(checkpoint.path / STATE) if checkpoint else None
        self.progress = Progress.from_json(state) if state else Progress()
        self.precision = self._precision()
        self.progress.go_on(device_name(device), self.precision, ranks.world)
        torch.manual_seed(derive_seed(config.seed, "weights"))
        model = Transformer(job.model, self.data.vocabulary_size)
        self.trainer = Trainer(model, config, self.precision, device, ranks, parts)
        if checkpoint:
            load(self.trainer, checkpoint)
        self._lapped = 0.0
        self.validation: Validation | None = None
        if ranks.first:
            step = self.progress.step
            self.train_csv = Journal(job.checkpoints / "train.csv", TRAIN_COLUMNS, up_to_step=step)
            self.valid_csv = Journal(job.checkpoints / "valid.csv", VALID_COLUMNS, up_to_step=step)
            self._announce()

    def _precision(self) -> str:
        """What training began in; another precision half-way would be another training."""
        began = self.progress.precision
        here = choose_precision(self.job.training.precision, self.device)
        if began not in (None, here) and self.ranks.first:
            log(f"{self.job.label}: begun in {began}, and goes on in it; here it would be {here}")
        return began or here

    def _announce(self) -> None:
        config, ranks = self.job.training, self.ranks
        skipped = count_too_long(self.data, config.max_length)
        log(
            f"{self.job.label}: {ranks.world} x {self.device.type} in {self.precision}, "
            f"{len(self.data):,} pairs, {skipped:,} of them skipped as longer than "
            f"{config.max_length} subwords"
        )
        if self.trainer.parts > 1:
            log(f"{self.job.label}: each micro-batch in {self.trainer.parts} parts, for memory")

    def _steps(self) -> Iterator[Step]:
        config = self.job.training
        steps = training_steps(
            self.data,
            seed=config.seed,
            tokens_per_step=config.tokens_per_step,
            micro_batches=config.micro_batches,
            max_length=config.max_length,
            start=self.progress.position,
        )
        first = next(steps)
        # The last step of a pool may be short; an epoch that is nothing else is too small.
        if first.position == Position() and len(first.micro_batches) < self.ranks.world:
            raise UserError(
                f"{self.job.train_data}: fewer batches than ranks: a step has "
                f"{len(first.micro_batches)} micro-batches for {self.ranks.world} ranks"
            )
        yield first
        yield from steps

    def train(self) -> None:
        """Take the steps that are left; validate, log and save on the way.

        Raises:
            InterruptedTrainingError: told to stop; a checkpoint of the last step is on disk.
        """
        config, progress = self.job.training, self.progress
        window, meter = Window(), self._meter()
        self._lap()
        with meter:
            for step in self._steps() if progress.step < config.steps else ():
                window = self._take(step, window, meter)
                if progress.step == config.steps:
                    break
                if self.ranks.any(self.interruption.requested):
                    self._stop(window, meter)
        if self.validation is None:  # resumed after the last step; valid.csv has its row
            self._measure()

    def _meter(self) -> Meter:
        return Meter(
            self.job.label,
            total=self.job.training.steps,
            unit="steps",
            done=self.progress.step,
            silent=not self.ranks.first,
        )

    def _take(self, step: Step, window: Window, meter: Meter) -> Window:
        """One step, and what is due after it; returns the window to go on with."""
        config, progress = self.job.training, self.progress
        number = progress.step + 1
        last = number == config.steps
        validating = last or number % config.validate_every == 0
        saving = last or number % config.checkpoint_every == 0
        row_due = saving or number % config.log_every == 0
        result = self._train_step(number, step)
        if (row_due or validating) and self.device.type == "cuda":
            torch.cuda.synchronize(self.device)  # what is still in the queue counts as well
        seconds = self._lap()
        progress.take(step.following, result.tokens, seconds)
        window.add(number, step, result, seconds)
        if row_due:
            self._write_row(window, meter)
            window = Window()
        if validating:
            self._validate()
        if saving:
            self._save()
        if validating or saving:
            self._lap()  # which counts neither
        return window

    def _train_step(self, number: int, step: Step) -> StepResult:
        try:
            return self.trainer.train_step(number, step, self.data)
        except torch.OutOfMemoryError:
            parts = self.trainer.parts
            if parts >= max(map(len, step.micro_batches)):
                raise UserError(
                    f"step {number}: out of memory, with one pair at a time as well; it takes a "
                    "device with more memory, or a smaller max_length"
                ) from None
            use_more_parts(self.job.checkpoints, parts)
            raise InterruptedTrainingError(
                f"out of memory; next time each micro-batch is cut into {2 * parts}"
            ) from None

    def _lap(self) -> float:
        """Seconds since the last call: with a step, all that it takes to get to the next."""
        before, self._lapped = self._lapped, time.monotonic()
        return self._lapped - before

    def _stop(self, window: Window, meter: Meter) -> None:
        """Save the steps since the last checkpoint, with their row of train.csv, and stop."""
        if self.progress.step % self.job.training.checkpoint_every:
            if window.steps:
                self._write_row(window, meter)
            self._save()
        reason = self.interruption.reason or "another rank was told to stop"
        raise InterruptedTrainingError(f"{reason}: stopped after step {self.progress.step:,}")

    def _write_row(self, window: Window, meter: Meter) -> None:
        loss, nll = window.means(self.ranks)
        if not self.ranks.first:
            return
        note = f"loss {loss:.3f}, {window.rate:,.0f} target tokens/s"
        meter.advance(window.steps, note=note)
        progress = self.progress
        self.train_csv.write(
            progress.step,
            window.epoch,
            round(loss, 6),
            round(nll, 6),
            window.lr,
            progress.tokens.source,
            progress.tokens.target,
            round(window.rate, 1),
            round(progress.seconds, 3),
        )

    def _measure(self) -> None:
        max_length = self.job.training.max_length
        self.validation = validate(
            self.trainer.model, self.dev, max_length, self.device, self.ranks
        )

    def _validate(self) -> None:
        self._measure()
        assert self.validation is not None
        if self.ranks.first:
            self.valid_csv.write(self.progress.step, self.validation.loss, self.validation.ppl)

    def _save(self) -> None:
        if self.ranks.first:
            if not self.trainer.is_finite():
                raise UserError(
                    f"step {self.progress.step}: a weight is no finite number; nothing is saved, "
                    "the last checkpoint is from before"
                )
            save_checkpoint(
                self.job.checkpoints,
                self.progress.step,
                dict(self.trainer.model.state_dict()),
                self.trainer.optimizer_tensors(),
                {"fingerprint": self.fingerprint, **self.progress.as_json()},
            )
            config = self.job.training
            prune_checkpoints(
                self.job.checkpoints, keep=config.average, every=config.checkpoint_every
            )
        self.ranks.wait()

    def publish_journals(self, output: Path) -> None:
        """Copy train.csv and valid.csv into the run folder."""
        for journal in (self.train_csv, self.valid_csv):
            journal.publish(output / journal.path.name)
