"""Encoder and decoder layers (Section 3.1): post-norm residual sub-layers.

Shape suffixes: B batch, S source positions, T target positions, D d_model, F d_ff.
"""

import torch
from torch import Tensor, nn

from aiayn.config import ModelConfig
from aiayn.model.attention import KeysValues, MultiHeadAttention, Past
from aiayn.model.dropout import Dropout

LAYER_NORM_EPS = 1e-6


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2 (Section 3.3, Equation 2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(config.d_model, config.d_ff)
        self.linear_2 = nn.Linear(config.d_ff, config.d_model)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """The same for each position: [B, T, D] to [B, T, D]."""
        return self.linear_2(torch.relu_(self.linear_1(x_BTD)))  # type: ignore[no-any-return]


class AddNorm(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))) (Sections 3.1 and 5.4)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.dropout = Dropout(config.p_drop)
        self.norm = nn.LayerNorm(config.d_model, eps=LAYER_NORM_EPS)

    def forward(self, x: Tensor, sublayer_output: Tensor) -> Tensor:
        """[B, T, D] to [B, T, D]."""
        return self.norm(x + self.dropout(sublayer_output))  # type: ignore[no-any-return]


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network (Sections 3.1 and 3.2.3)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config)
        self.add_norm_1 = AddNorm(config)
        self.feed_forward = FeedForward(config)
        self.add_norm_2 = AddNorm(config)

    def forward(self, x_BSD: Tensor, padding_bias: Tensor | None) -> Tensor:
        """[B, S, D] to [B, S, D]; ``padding_bias`` hides padding, [B, 1, 1, S]."""
        x_BSD = self.add_norm_1(x_BSD, self.self_attention(x_BSD, None, padding_bias))
        return self.add_norm_2(x_BSD, self.feed_forward(x_BSD))  # type: ignore[no-any-return]


class DecoderLayer(nn.Module):
    """Masked self-attention, attention over the encoder, feed-forward (Sections 3.1 and 3.2.3)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config)
        self.add_norm_1 = AddNorm(config)
        self.cross_attention = MultiHeadAttention(config)
        self.add_norm_2 = AddNorm(config)
        self.feed_forward = FeedForward(config)
        self.add_norm_3 = AddNorm(config)

    def forward(
        self,
        y_BTD: Tensor,
        memory_BSD: Tensor,
        causal_bias: Tensor,
        padding_bias: Tensor | None,
    ) -> Tensor:
        """[B, T, D] to [B, T, D].

        Args:
            memory_BSD: The encoder's output.
            causal_bias: Hides later target positions, [T, T].
            padding_bias: Hides padding of the source, [B, 1, 1, S].
        """
        y_BTD = self.add_norm_1(y_BTD, self.self_attention(y_BTD, None, causal_bias))
        y_BTD = self.add_norm_2(y_BTD, self.cross_attention(y_BTD, memory_BSD, padding_bias))
        return self.add_norm_3(y_BTD, self.feed_forward(y_BTD))  # type: ignore[no-any-return]

    def step(
        self,
        y_BTD: Tensor,
        past: Past,
        memory: KeysValues,
        padding_bias: Tensor | None,
    ) -> Tensor:
        """One more target position a row, with the earlier ones' keys and values at hand.

        Args:
            y_BTD: [rows, 1, D], the new position of every row; a row is one hypothesis.
            past: Keys and values of a row's earlier positions; the new one's are added.
            memory: Keys and values of the source, one set for each sentence: the rows of a
                sentence stand one after another and share it.
            padding_bias: Hides padding of the source, [sentences, 1, 1, S].

        Returns:
            [rows, 1, D]
        """
        query, own = self.self_attention.project_self(y_BTD)
        y_BTD = self.add_norm_1(y_BTD, self.self_attention.attend(query, past.append(own), None))
        # A sentence's hypotheses look at the same source: they are positions of one query.
        sentences = memory.keys_BHMK.shape[0]
        by_sentence = y_BTD.view(sentences, -1, y_BTD.shape[-1])
        attended = self.cross_attention.attend(
            self.cross_attention.queries(by_sentence), memory, padding_bias
        )
        y_BTD = self.add_norm_2(y_BTD, attended.view_as(y_BTD))
        return self.add_norm_3(y_BTD, self.feed_forward(y_BTD))  # type: ignore[no-any-return]
