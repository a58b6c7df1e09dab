"""One optimizer step (Section 5): forward, loss, backward, Adam."""

from dataclasses import dataclass

import torch
from torch import Tensor

from aiayn.batches import ParallelData, Step
from aiayn.batches.permutation import derive_seed
from aiayn.batches.tensors import Batch, make_batch
from aiayn.common.formulas import learning_rate
from aiayn.config import TrainingConfig
from aiayn.config.cost import TokenCounts
from aiayn.model import Transformer
from aiayn.training.loss import smoothed_cross_entropy
from aiayn.training.precision import InPrecision

ADAM_BETAS, ADAM_EPS = (0.9, 0.98), 1e-9
"""Section 5.3."""


@dataclass(frozen=True)
class StepResult:
    """What a step did."""

    loss: Tensor
    """Smoothed loss, summed over target tokens."""
    nll: Tensor
    """-log p of the right tokens in nats, summed over target tokens."""
    lr: float
    tokens: TokenCounts


class Trainer:
    """A model, its optimizer and the schedule."""

    def __init__(
        self, model: Transformer, config: TrainingConfig, precision: str, device: torch.device
    ) -> None:
        self.model, self.config, self.device = model.to(device), config, device
        self.in_precision = InPrecision(model, precision)
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=0.0, betas=ADAM_BETAS, eps=ADAM_EPS, fused=True
        )

    def train_step(self, number: int, step: Step, data: ParallelData) -> StepResult:
        """Take optimizer step ``number`` (from 1) on the pairs of ``step``."""
        self.model.train()
        lr = learning_rate(
            number,
            d_model=self.model.config.d_model,
            warmup=self.config.warmup,
            factor=self.config.lr_factor,
        )
        target_tokens = sum(data.lengths("target", pairs).sum() for pairs in step.micro_batches)
        losses, tokens = [], TokenCounts()
        for index, pairs in enumerate(step.micro_batches):
            # Seeded for each micro-batch: dropout is the same however the run was interrupted.
            torch.manual_seed(derive_seed(self.config.seed, "dropout", number, index))
            batch = make_batch(data, pairs).to(self.device)
            losses.append(self._backward(batch, int(target_tokens)))
            tokens += token_counts(batch)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        loss, nll = (torch.stack(column).sum() for column in zip(*losses, strict=True))
        return StepResult(loss, nll, lr, tokens)

    def _backward(self, batch: Batch, target_tokens: int) -> tuple[Tensor, Tensor]:
        logits = self.in_precision(batch.source, batch.target_input, batch.label_positions)
        loss, nll = smoothed_cross_entropy(logits, batch.labels, self.config.eps_ls)
        (loss / target_tokens).backward()  # type: ignore[no-untyped-call]
        return loss.detach(), nll.detach()

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
            state = {key: tensors[f"{name}/{key}"] for key in ("step", "exp_avg", "exp_avg_sq")}
            self.optimizer.state[parameter] = {
                key: value if key == "step" and self.device.type == "cpu" else value.to(self.device)
                for key, value in state.items()
            }


def token_counts(batch: Batch) -> TokenCounts:
    """Tokens of a batch and the sums that attention's cost needs."""
    source, target = batch.source_lengths, batch.target_lengths
    sums = (source, target, source * source, target * target, source * target)
    return TokenCounts(*(int(values.sum()) for values in sums))
