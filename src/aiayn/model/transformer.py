"""The Transformer: encoder, decoder, tied embedding (Section 3, Figure 1).

Shape suffixes: B batch, S source positions, T target positions, D d_model.
"""

from collections.abc import Iterator
from typing import cast

import torch
from torch import Tensor, nn

from aiayn.common.errors import UserError
from aiayn.config import ModelConfig
from aiayn.model.attention import KeysValues, Past
from aiayn.model.embedding import Embedding
from aiayn.model.layers import DecoderLayer, EncoderLayer
from aiayn.text import PAD


def padding_bias(ids_BS: Tensor, dtype: torch.dtype) -> Tensor | None:
    """Minus infinity where the source is padding: [B, 1, 1, S]; None where nothing is."""
    is_padding = ids_BS == PAD
    # On a GPU, asking whether any is would wait for the device.
    if not ids_BS.is_cuda and not is_padding.any():
        return None
    bias = torch.zeros(ids_BS.shape, dtype=dtype, device=ids_BS.device)
    return bias.masked_fill_(is_padding, float("-inf"))[:, None, None, :]


def causal_bias(length: int, like: Tensor) -> Tensor:
    """Minus infinity above the diagonal: position i sees positions up to i (Section 3.2.3)."""
    return torch.full((length, length), float("-inf"), dtype=like.dtype, device=like.device).triu(1)


class Transformer(nn.Module):
    """Encoder and decoder with one embedding matrix between them."""

    def __init__(self, config: ModelConfig, vocabulary_size: int) -> None:
        """Build the model with fresh weights.

        Args:
            config: Its shape.
            vocabulary_size: Entries of the vocabulary; the embedding may have more rows.

        Raises:
            UserError: ``config.vocabulary_rows`` is less than the vocabulary.
        """
        super().__init__()
        rows = config.vocabulary_rows or -(-vocabulary_size // 8) * 8
        if rows < vocabulary_size:
            raise UserError(
                f"vocabulary_rows: {rows} is less than the vocabulary's {vocabulary_size} subwords"
            )
        self.config = config
        self.vocabulary_size = vocabulary_size
        self.embedding = Embedding(config, rows)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.N))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.N))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Initialize as the original code did; the paper is silent.

        Xavier-uniform matrices (Q, K and V as one), zero biases, embeddings N(0, 1/d_model) with
        a zero row for padding.
        """
        for name, parameter in self.named_parameters():
            if name.startswith("embedding"):
                nn.init.normal_(parameter, std=self.config.d_model**-0.5)
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
            elif name.endswith("norm.weight"):
                nn.init.ones_(parameter)
            else:
                nn.init.zeros_(parameter)
        self.embedding.weight[PAD].zero_()

    def encode(self, source_BS: Tensor) -> tuple[Tensor, Tensor | None]:
        """Encoder output [B, S, D], and the bias that hides padding, [B, 1, 1, S]."""
        x_BSD = self.embedding(source_BS)
        bias = padding_bias(source_BS, x_BSD.dtype)
        for layer in self.encoder:
            x_BSD = layer(x_BSD, bias)
        return x_BSD, bias

    def decode(self, target_BT: Tensor, memory_BSD: Tensor, bias: Tensor | None) -> Tensor:
        """Decoder output for every target position at once: [B, T, D]."""
        y_BTD = self.embedding(target_BT)
        causal = causal_bias(target_BT.shape[1], y_BTD)
        for layer in self.decoder:
            y_BTD = layer(y_BTD, memory_BSD, causal, bias)
        return y_BTD

    def forward(self, source_BS: Tensor, target_BT: Tensor, positions_N: Tensor) -> Tensor:
        """Scores of the next token at chosen target positions.

        Args:
            source_BS: Source ids.
            target_BT: Target ids, shifted right.
            positions_N: Indices into the flattened [B * T] positions; padding is left out here,
                before the widest product of all.

        Returns:
            [N, rows] logits.
        """
        hidden_BTD = self.decode(target_BT, *self.encode(source_BS))
        return self.embedding.logits(hidden_BTD.flatten(0, 1).index_select(0, positions_N))

    def _decoder_layers(self) -> Iterator[DecoderLayer]:
        return cast(Iterator[DecoderLayer], iter(self.decoder))

    def memory(self, memory_BSD: Tensor) -> list[KeysValues]:
        """Each decoder layer's keys and values of the source, projected once a sentence."""
        return [
            layer.cross_attention.keys_values(memory_BSD).contiguous()
            for layer in self._decoder_layers()
        ]

    def step(
        self,
        ids_R: Tensor,
        position: int,
        past: list[Past],
        memory: list[KeysValues],
        bias: Tensor | None,
    ) -> Tensor:
        """One more token a row (see :meth:`DecoderLayer.step`).

        Args:
            ids_R: [rows] the last token of each row.
            position: Its position, from 0.
            past: Each layer's keys and values of earlier positions; this one's are added.

        Returns:
            [rows, vocabulary rows] logits of the next token.
        """
        y_R1D = self.embedding(ids_R[:, None], position)
        for layer, own_past, own_memory in zip(self._decoder_layers(), past, memory, strict=True):
            y_R1D = layer.step(y_R1D, own_past, own_memory, bias)
        return self.embedding.logits(y_R1D[:, 0])


def parameter_count(module: nn.Module) -> int:
    """Trainable numbers; a shared matrix counts once."""
    return sum(parameter.numel() for parameter in module.parameters())
