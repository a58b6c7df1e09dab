"""One optimizer step (Section 5): forward, loss, backward, Adam."""

import contextlib
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from aiayn.batches import ParallelData, Step
from aiayn.batches.parallel_data import Ids
from aiayn.batches.permutation import derive_seed
from aiayn.batches.tensors import make_batch
from aiayn.common.formulas import learning_rate
from aiayn.config import TrainingConfig
from aiayn.config.cost import TokenCounts
from aiayn.model import Transformer
from aiayn.text import EOS
from aiayn.training.loss import smoothed_cross_entropy
from aiayn.training.precision import InPrecision
from aiayn.training.ranks import Ranks

ADAM_BETAS, ADAM_EPS = (0.9, 0.98), 1e-9
"""Section 5.3."""


@dataclass(frozen=True)
class StepResult:
    """What a step did."""

    loss_and_nll: Tensor
    """[2] smoothed loss and -log p of the right tokens in nats, summed over this rank's tokens."""
    lr: float
    tokens: TokenCounts
    """Of all ranks."""


class Trainer:
    """A model, its optimizer and the schedule, on one rank.

    Args:
        parts: Into how many each micro-batch is cut; more than 1 where memory is short.
    """

    def __init__(
        self,
        model: Transformer,
        config: TrainingConfig,
        precision: str,
        device: torch.device,
        ranks: Ranks = Ranks(),
        parts: int = 1,
    ) -> None:
        self.model, self.config, self.device = model.to(device), config, device
        self.ranks, self.parts = ranks, parts
        self.parallel = ranks.parallel(InPrecision(model, precision), device)
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=0.0, betas=ADAM_BETAS, eps=ADAM_EPS, fused=True
        )
        if ranks.world > 1:
            self._settle()

    def _settle(self) -> None:
        """A pass that adds nothing, so that ranks add up alike in the first step and in others.

        DDP lays its buckets out anew after its first pass, and their layout decides in which order
        the terms are added: a resumed training would differ from an unbroken one in its roundings.
        """
        token = torch.full((1, 1), EOS, device=self.device)
        logits = self.parallel(token, token, torch.zeros(1, dtype=torch.long, device=self.device))
        (logits.float().sum() * 0.0).backward()
        self.optimizer.zero_grad(set_to_none=True)

    def train_step(self, number: int, step: Step, data: ParallelData) -> StepResult:
        """Take optimizer step ``number`` (from 1) on the pairs of ``step``."""
        self.model.train()
        lr = learning_rate(
            number,
            d_model=self.model.config.d_model,
            warmup=self.config.warmup,
            factor=self.config.lr_factor,
        )
        tokens = sum((token_counts(data, pairs) for pairs in step.micro_batches), TokenCounts())
        losses = self._accumulate(number, step, data, tokens.target)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return StepResult(losses, lr, tokens)

    def _accumulate(self, number: int, step: Step, data: ParallelData, tokens: int) -> Tensor:
        """Gradients of this rank's share; summed over ranks during the last backward pass."""
        passes = [
            (index, part, pairs)
            for index in self.ranks.share(step)
            for part, pairs in enumerate(np.array_split(step.micro_batches[index], self.parts))
            if len(pairs)
        ]
        weight = 1.0
        if not passes:  # the others wait for this rank's gradients: add nothing to theirs
            passes, weight = [(0, 0, step.micro_batches[0][:1])], 0.0
        total = torch.zeros(2, device=self.device)
        for place, (index, part, pairs) in enumerate(passes, start=1):
            # Seeded for each micro-batch: dropout is the same on any number of ranks, and
            # however often the run was interrupted.
            purpose = (number, index) if self.parts == 1 else (number, index, part)
            torch.manual_seed(derive_seed(self.config.seed, "dropout", *purpose))
            with self._silent(place < len(passes)):
                total += weight * self._backward(data, pairs, weight / tokens)
        return total

    def _silent(self, silent: bool) -> contextlib.AbstractContextManager[object]:
        """No exchange of gradients but in the last pass of a step."""
        if silent and isinstance(self.parallel, DistributedDataParallel):
            return self.parallel.no_sync()
        return contextlib.nullcontext()

    def _backward(self, data: ParallelData, pairs: Ids, scale: float) -> Tensor:
        batch = make_batch(data, pairs).to(self.device)
        logits = self.parallel(batch.source, batch.target_input, batch.label_positions)
        loss, nll = smoothed_cross_entropy(logits, batch.labels, self.config.eps_ls)
        (loss * scale).backward()  # type: ignore[no-untyped-call]
        return torch.stack((loss.detach(), nll.detach()))

    def optimizer_tensors(self) -> dict[str, Tensor]:
        """Adam's moments and step counts by parameter, as one flat dictionary."""
        return {
            f"{name}/{key}": value
            for name, parameter in self.model.named_parameters()
            for key, value in self.optimizer.state[parameter].items()
        }

    def load_optimizer_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Undo :meth:`optimizer_tensors`."""
        for name, parameter in self.model.named_parameters():
            self.optimizer.state[parameter] = {
                key: tensors[f"{name}/{key}"].to(self.device)
                for key in ("step", "exp_avg", "exp_avg_sq")
            }

    def is_finite(self) -> bool:
        """Whether every weight is a finite number."""
        return all(bool(parameter.isfinite().all()) for parameter in self.model.parameters())


def token_counts(data: ParallelData, pairs: Ids) -> TokenCounts:
    """Tokens of pairs and the sums that attention's cost needs."""
    source, target = data.lengths("source", pairs), data.lengths("target", pairs)
    sums = (source, target, source * source, target * target, source * target)
    return TokenCounts(*(int(values.sum()) for values in sums))
