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
    source, target = _rectangle(data, "source", pairs), _rectangle(data, "target", pairs)
    shifted_right = np.roll(target, 1, axis=1)
    shifted_right[:, 0] = BOS
    is_label = np.arange(target.shape[1]) < target_lengths[:, None]
    return Batch(
        source=torch.from_numpy(source),
        target_input=torch.from_numpy(np.where(is_label, shifted_right, PAD)),
        labels=torch.from_numpy(target[is_label]),
        label_positions=torch.from_numpy(np.flatnonzero(is_label)),
        source_lengths=source_lengths,
        target_lengths=target_lengths,
    )


def _rectangle(data: ParallelData, side: str, pairs: Ids) -> Ids:
    """Each sentence and ``</s>``, padded: [B, longest]."""
    lengths = data.lengths(side, pairs)[:, None]
    columns = np.arange(lengths.max())
    ids = np.full((len(pairs), len(columns)), PAD, dtype=np.int64)
    ids[columns < lengths - 1] = data.tokens(side, pairs)
    ids[columns == lengths - 1] = EOS
    return ids
