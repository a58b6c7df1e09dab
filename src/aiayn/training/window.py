"""The steps since the last row of train.csv."""

import math

import torch

from aiayn.batches import Step
from aiayn.common.errors import UserError
from aiayn.config.cost import TokenCounts
from aiayn.training.ranks import Ranks
from aiayn.training.trainer import StepResult


class Window:
    """Sums up steps; losses stay on the device until a row is written."""

    def __init__(self) -> None:
        self.tokens = TokenCounts()
        self.seconds = 0.0
        self.lr = 0.0
        self._numbers: list[tuple[int, Step]] = []
        self._losses: list[torch.Tensor] = []

    @property
    def steps(self) -> int:
        """How many steps there are in it."""
        return len(self._numbers)

    @property
    def epoch(self) -> int:
        """Epoch of the last step."""
        return self._numbers[-1][1].position.epoch

    def add(self, number: int, step: Step, result: StepResult, seconds: float) -> None:
        """Count one step."""
        self._numbers.append((number, step))
        self._losses.append(result.loss_and_nll)
        self.tokens += result.tokens
        self.seconds += seconds
        self.lr = result.lr

    def means(self, ranks: Ranks) -> tuple[float, float]:
        """Smoothed loss and negative log-likelihood in nats a target token, over all ranks.

        Raises:
            UserError: a step's loss is not a finite number; the message names the step and its
                place in the data.
        """
        losses = ranks.sum(torch.stack(self._losses)).tolist()
        for (number, step), values in zip(self._numbers, losses, strict=True):
            if not all(map(math.isfinite, values)):
                at = step.position
                raise UserError(
                    f"step {number}: the loss is {values[0]} (epoch {at.epoch}, pool {at.pool}, "
                    f"step {at.step} of the pool, first pair {step.micro_batches[0][0]}); "
                    "the last checkpoint is from before; a lower lr_factor may help"
                )
        loss, nll = (math.fsum(column) for column in zip(*losses, strict=True))
        return loss / self.tokens.target, nll / self.tokens.target

    @property
    def rate(self) -> float:
        """Target tokens a second, over all ranks."""
        return self.tokens.target / max(self.seconds, 1e-9)
