"""Loss of each dev pair under trained models: what a paired test of perplexities needs."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F

from aiayn.batches import ParallelData, validation_batches
from aiayn.batches.tensors import make_batch
from aiayn.common.errors import UserError
from aiayn.model.weights import load_model


class PairLoss(NamedTuple):
    """One dev pair under one model."""

    pair: int
    """Its number, from 0, in the binarized data."""
    tokens: int
    """Target tokens, the end token included."""
    nll: float
    """-log p of them in nats, without label smoothing."""


@torch.inference_mode()
def pair_losses(
    folder: Path, data: ParallelData, max_length: int, device: torch.device
) -> Iterator[PairLoss]:
    """The loss of every pair of up to ``max_length`` tokens a side, as training validates.

    Args:
        folder: A model folder.
        data: The binarized dev set.

    Raises:
        UserError: the folder is broken, or its vocabulary is not the data's.
    """
    model, description = load_model(folder)
    if description.vocabulary_size != data.vocabulary_size:
        raise UserError(
            f"{folder}: a vocabulary of {description.vocabulary_size:,} entries, "
            f"but {data.folder} has {data.vocabulary_size:,}"
        )
    model = model.to(device)
    for pairs in validation_batches(data, max_length=max_length):
        batch = make_batch(data, pairs).to(device)
        logits = model(batch.source, batch.target_input, batch.label_positions)
        nll = F.cross_entropy(logits.float(), batch.labels, reduction="none").double()
        tokens = batch.target_lengths.tolist()
        sums = [part.sum().item() for part in nll.cpu().split(tokens)]
        yield from map(PairLoss, pairs.tolist(), tokens, sums)
