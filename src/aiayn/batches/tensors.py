"""Pairs to padded tensors."""

from dataclasses import dataclass, replace

import numpy as np
import torch

from aiayn.batches.parallel_data import Ids, ParallelData
from aiayn.text import BOS, EOS, PAD


@dataclass(frozen=True)
class Batch:
    """Pairs padded to a rectangle. B pairs, S source and T target positions, N target tokens."""

    source: torch.Tensor
    """[B, S] source ids, each sentence followed by ``</s>``."""
    target_input: torch.Tensor
    """[B, T] ``<s>`` and the target: what the decoder reads, shifted right (Section 3)."""
    labels: torch.Tensor
    """[N] the target and ``</s>``, without padding: what the decoder has to say."""
    label_positions: torch.Tensor
    """[N] index of each label in the flattened [B * T] decoder output."""
    source_lengths: Ids
    """[B] source tokens, ``</s>`` included."""
    target_lengths: Ids
    """[B] target tokens, ``</s>`` included."""

    def to(self, device: torch.device) -> "Batch":
        """The batch on a device; from pinned memory the copy does not block."""
        if device.type == "cpu":
            return self
        names = ("source", "target_input", "labels", "label_positions")
        moved = {
            name: getattr(self, name).pin_memory().to(device, non_blocking=True) for name in names
        }
        return replace(self, **moved)


def pad_sources(sentences: list[list[int]]) -> torch.Tensor:
    """Pad sentences, each followed by ``</s>``: [B, S]."""
    longest = max(len(sentence) for sentence in sentences) + 1
    rows = [[*sentence, EOS] + [PAD] * (longest - 1 - len(sentence)) for sentence in sentences]
    return torch.tensor(rows, dtype=torch.int64)


def make_batch(data: ParallelData, pairs: Ids) -> Batch:
    """Read pairs [B] and pad them."""
    source_lengths, target_lengths = data.lengths("source", pairs), data.lengths("target", pairs)
    source = np.full((len(pairs), source_lengths.max()), PAD, dtype=np.int64)
    target = np.full((len(pairs), target_lengths.max() + 1), PAD, dtype=np.int64)
    target[:, 0] = BOS
    for row, pair in enumerate(pairs):
        source[row, : source_lengths[row] - 1] = data.sentence("source", pair)
        target[row, 1 : target_lengths[row]] = data.sentence("target", pair)
    rows = np.arange(len(pairs))
    source[rows, source_lengths - 1] = EOS
    target[rows, target_lengths] = EOS
    is_label = np.arange(target.shape[1] - 1) < target_lengths[:, None]
    return Batch(
        source=torch.from_numpy(source),
        target_input=torch.from_numpy(np.where(is_label, target[:, :-1], PAD)),
        labels=torch.from_numpy(target[:, 1:][is_label]),
        label_positions=torch.from_numpy(np.flatnonzero(is_label)),
        source_lengths=source_lengths,
        target_lengths=target_lengths,
    )
