"""Multi-head attention (Sections 3.2.1 and 3.2.2).

Shape suffixes in this package: B batch, Q query positions, M memory positions, D d_model, H heads,
K d_k, V d_v.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from aiayn.config import ModelConfig


def scaled_dot_product_attention(
    q_BHQK: Tensor, k_BHMK: Tensor, v_BHMV: Tensor, bias: Tensor | None
) -> Tensor:
    """Equation 1: softmax(Q K^T / sqrt(d_k)) V.

    Args:
        bias: Added to the scores, broadcastable to [B, H, Q, M]; 0 where a query may look and
            minus infinity where it may not. None lets every query look everywhere.

    Returns:
        [B, H, Q, V]
    """
    if q_BHQK.is_cuda:
        return F.scaled_dot_product_attention(q_BHQK, k_BHMK, v_BHMV, attn_mask=bias)
    # On CPUs and sentences of this length, plain products are faster than the fused kernel.
    return attention_weights(q_BHQK, k_BHMK, bias).to(v_BHMV.dtype) @ v_BHMV


def attention_weights(q_BHQK: Tensor, k_BHMK: Tensor, bias: Tensor | None) -> Tensor:
    """softmax(Q K^T / sqrt(d_k)) of Equation 1, in fp32: [B, H, Q, M]."""
    scores_BHQM = (q_BHQK * q_BHQK.shape[-1] ** -0.5) @ k_BHMK.transpose(-2, -1)
    if bias is not None:
        scores_BHQM = scores_BHQM + bias
    # Softmax in fp32: more exact than in bf16, and on CPUs three times as fast.
    return scores_BHQM.float().softmax(-1)


@dataclass
class KeysValues:
    """Projected keys and values of the positions that queries look at."""

    keys_BHMK: Tensor
    values_BHMV: Tensor

    def select(self, rows: Tensor) -> "KeysValues":
        """The given rows of the batch, in the given order."""
        return KeysValues(
            self.keys_BHMK.index_select(0, rows), self.values_BHMV.index_select(0, rows)
        )

    def contiguous(self) -> "KeysValues":
        """Laid out for many products: each head's positions side by side."""
        return KeysValues(self.keys_BHMK.contiguous(), self.values_BHMV.contiguous())


class Past:
    """Keys and values of the target positions so far, with room for the next ones."""

    ROOM = 8
    """Positions of room made at a time; in between, appending copies the new position alone."""

    def __init__(self) -> None:
        self._length = 0
        self._buffers: list[Tensor] = []

    def append(self, new: KeysValues) -> KeysValues:
        """Add one position a row; returns all positions so far, as views."""
        added = (new.keys_BHMK, new.values_BHMV)
        if self._length % self.ROOM == 0:
            room = [one.new_empty(*one.shape[:2], self.ROOM, one.shape[-1]) for one in added]
            filled = self._buffers or [one[:, :, :0] for one in added]
            self._buffers = [torch.cat(both, dim=2) for both in zip(filled, room, strict=True)]
        for buffer, one in zip(self._buffers, added, strict=True):
            buffer[:, :, self._length : self._length + 1] = one
        self._length += 1
        keys, values = (buffer[:, :, : self._length] for buffer in self._buffers)
        return KeysValues(keys, values)

    def select(self, rows: Tensor) -> None:
        """Keep the given rows, in the given order."""
        self._buffers = [buffer.index_select(0, rows) for buffer in self._buffers]


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O (Section 3.2.2).

    W^Q, W^K and W^V of all heads are one matrix, so that self-attention is one product and, as in
    the original code, Xavier's bound is that of the fused matrix. Biases throughout, as there.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.h, self.d_k, self.d_v = config.h, config.query_width, config.value_width
        self.in_proj = nn.Linear(config.d_model, self.h * (2 * self.d_k + self.d_v))
        self.out_proj = nn.Linear(self.h * self.d_v, config.d_model)

    def _split(self, x_BMN: Tensor, width: int) -> Tensor:
        """[B, M, H * width] to [B, H, M, width]."""
        return x_BMN.unflatten(-1, (self.h, width)).transpose(1, 2)

    def _project(self, x_BMD: Tensor, start: int, end: int | None) -> Tensor:
        weight, bias = self.in_proj.weight[start:end], self.in_proj.bias[start:end]
        return F.linear(x_BMD, weight, bias)

    def queries(self, x_BQD: Tensor) -> Tensor:
        """x W^Q: [B, H, Q, K]."""
        return self._split(self._project(x_BQD, 0, self.h * self.d_k), self.d_k)

    def keys_values(self, memory_BMD: Tensor) -> KeysValues:
        """memory W^K and memory W^V."""
        both = self._project(memory_BMD, self.h * self.d_k, None)
        keys, values = both.split((self.h * self.d_k, self.h * self.d_v), dim=-1)
        return KeysValues(self._split(keys, self.d_k), self._split(values, self.d_v))

    def project_self(self, x_BMD: Tensor) -> tuple[Tensor, KeysValues]:
        """Queries, keys and values of the same positions, in one product."""
        width = self.h * self.d_k
        q, k, v = self.in_proj(x_BMD).split((width, width, self.h * self.d_v), dim=-1)
        keys_values = KeysValues(self._split(k, self.d_k), self._split(v, self.d_v))
        return self._split(q, self.d_k), keys_values

    def attend(self, q_BHQK: Tensor, memory: KeysValues, bias: Tensor | None) -> Tensor:
        """Attention of every head, concatenated, times W^O: [B, Q, D]."""
        heads_BHQV = scaled_dot_product_attention(
            q_BHQK, memory.keys_BHMK, memory.values_BHMV, bias
        )
        return self.out_proj(heads_BHQV.transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]

    def forward(self, x_BQD: Tensor, memory_BMD: Tensor | None, bias: Tensor | None) -> Tensor:
        """Self-attention over ``x``, or attention from ``x`` to ``memory``: [B, Q, D]."""
        if memory_BMD is None:
            return self.attend(*self.project_self(x_BQD), bias)
        return self.attend(self.queries(x_BQD), self.keys_values(memory_BMD), bias)
