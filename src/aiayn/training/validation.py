"""Perplexity on the dev set, per BPE token (Section 6.2, Table 3's PPL)."""

import math
from dataclasses import dataclass

import torch

from aiayn.batches import ParallelData, validation_batches
from aiayn.batches.tensors import make_batch
from aiayn.model import Transformer
from aiayn.training.loss import smoothed_cross_entropy
from aiayn.training.ranks import Ranks


@dataclass(frozen=True)
class Validation:
    """The dev set under the model, without dropout and without smoothing, in fp32."""

    loss: float
    """-log p in nats per target token, end tokens included."""

    @property
    def ppl(self) -> float:
        """exp(loss)."""
        return math.exp(min(self.loss, 700.0))


@torch.no_grad()
def validate(
    model: Transformer,
    data: ParallelData,
    max_length: int,
    device: torch.device,
    ranks: Ranks = Ranks(),
) -> Validation:
    """Measure the model on all pairs of ``data`` up to ``max_length`` tokens a side.

    The ranks share the batches.
    """
    model.eval()
    sums = torch.zeros(2, dtype=torch.float64, device=device)
    batches = validation_batches(data, max_length=max_length)
    for pairs in batches[ranks.rank :: ranks.world]:
        batch = make_batch(data, pairs).to(device)
        logits = model(batch.source, batch.target_input, batch.label_positions)
        _, nll = smoothed_cross_entropy(logits, batch.labels, 0.0)
        sums += torch.stack((nll.double(), nll.new_tensor(len(batch.labels)).double()))
    total, tokens = ranks.sum(sums).tolist()
    return Validation(total / max(tokens, 1))
