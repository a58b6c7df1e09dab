"""Token embeddings and positional encodings (Sections 3.4 and 3.5)."""

import math
import sys

import torch
from torch import Tensor, nn

from aiayn.common.errors import UserError
from aiayn.common.formulas import sinusoids
from aiayn.config import ModelConfig
from aiayn.model.dropout import Dropout
from aiayn.text import PAD


def _sinusoids(positions: int, d_model: int) -> Tensor:
    return torch.from_numpy(sinusoids(positions, d_model)).float()


class Positions(nn.Module):
    """Sinusoids, or for row (E) of Table 3 a learned vector a position."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.learned = config.positions == "learned"
        self.table: Tensor
        if self.learned:
            self.table = nn.Parameter(torch.empty(config.max_positions, config.d_model))
        else:
            table = _sinusoids(config.max_positions, config.d_model)
            self.register_buffer("table", table, persistent=False)

    @property
    def limit(self) -> int:
        """Longest sequence there are encodings for; sinusoids go on for ever."""
        return self.table.shape[0] if self.learned else sys.maxsize

    def forward(self, start: int, end: int, like: Tensor) -> Tensor:
        """Encodings of positions ``start`` to ``end`` in the type of ``like``: [end - start, D].

        Raises:
            UserError: a learned table has no such position.
        """
        table = self.table
        if end > table.shape[0]:
            if self.learned:
                raise UserError(f"position {end} is beyond max_positions={table.shape[0]}")
            # Only ever replaced: another thread may be reading the shorter one.
            table = self.table = _sinusoids(2 * end, table.shape[1]).to(table.device)
        return table[start:end].to(like.dtype)


class Embedding(nn.Module):
    """One matrix for source, target and the pre-softmax projection (Section 3.4)."""

    def __init__(self, config: ModelConfig, rows: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, config.d_model))
        self.positions = Positions(config)
        self.dropout = Dropout(config.p_drop)
        self.scale = math.sqrt(config.d_model)

    def forward(self, ids_BT: Tensor, start: int = 0) -> Tensor:
        """Embeddings times sqrt(d_model), plus positions, with dropout (Section 5.4): [B, T, D].

        Args:
            start: Position of the first column.
        """
        embedded = nn.functional.embedding(ids_BT, self.weight, padding_idx=PAD) * self.scale
        positions = self.positions(start, start + ids_BT.shape[1], embedded)
        return self.dropout(embedded + positions)  # type: ignore[no-any-return]

    def logits(self, hidden: Tensor) -> Tensor:
        """The pre-softmax linear transformation, without bias: [..., D] to [..., rows]."""
        return nn.functional.linear(hidden, self.weight)
