"""Attention weights of a trained model on chosen sentences (the paper's Figures 3 to 5).

The model computes attention without keeping its weights; here they are computed again, by the
layers' own projections, from what each layer is given.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from aiayn.batches.tensors import pad_sources
from aiayn.config import DecodingConfig
from aiayn.decoding import Translator
from aiayn.decoding.beam import beam_search
from aiayn.model.attention import MultiHeadAttention, attention_weights
from aiayn.text import BOS, EOS, UNK

PAPER_SENTENCES = (
    "It is in this spirit that a majority of American governments have passed new laws since 2009 "
    "making the registration or voting process more difficult.",
    "The Law will never be perfect, but its application should be just - this is what we are "
    "missing, in my opinion.",
)
"""Of the paper's Figures 3, and 4 and 5."""
SHORTEST, LONGEST = 8, 16
"""Words of a test sentence whose map can be read on a page."""
DIGITS = 4
"""Decimals of a weight in the file."""


class Sentence(NamedTuple):
    """A source sentence and where it is from."""

    origin: str
    text: str


def chosen_sentences(lines: Iterable[str], set_name: str) -> list[Sentence]:
    """The paper's two sentences and two of a test set, chosen by position and length alone.

    Of the lines of ``SHORTEST`` to ``LONGEST`` words, those at one and at two thirds.
    """
    sized = [
        (number, line)
        for number, line in enumerate(lines, start=1)
        if SHORTEST <= len(line.split()) <= LONGEST
    ]
    chosen = sized[len(sized) // 3 :: len(sized) // 3 or 1][:2]
    return [
        *(Sentence("the paper", text) for text in PAPER_SENTENCES),
        *(Sentence(f"{set_name}, line {number}", text) for number, text in chosen),
    ]


def weights_of(
    layer: MultiHeadAttention, x_1QD: Tensor, memory_1MD: Tensor | None, bias: Tensor | None
) -> Tensor:
    """Weights of every head: [H, Q, M].

    Args:
        x_1QD: What the layer is given, a batch of one.
        memory_1MD: What it looks at; None for itself.
        bias: Minus infinity where it may not look.
    """
    memory = layer.keys_values(x_1QD if memory_1MD is None else memory_1MD)
    return attention_weights(layer.queries(x_1QD), memory.keys_BHMK, bias)[0]


@contextmanager
def recorded(layer: MultiHeadAttention) -> Iterator[list[Tensor]]:
    """A list that gets the weights of each call of ``layer``."""
    calls: list[Tensor] = []
    handle = layer.register_forward_pre_hook(
        lambda module, arguments: calls.append(weights_of(module, *arguments))
    )
    try:
        yield calls
    finally:
        handle.remove()


class AttentionMaps:
    """Weights of one layer's heads in encoder and decoder.

    Args:
        translator: The model folder, loaded.
        layer: From 1; None for the last but one, the paper's 5 of 6.

    Raises:
        ValueError: the model has no such layer.
    """

    def __init__(self, translator: Translator, layer: int | None = None) -> None:
        self.translator, self.model = translator, translator.model
        depth = self.model.config.N
        self.layer = max(1, depth - 1) if layer is None else layer
        if not 1 <= self.layer <= depth:
            raise ValueError(f"layer {layer}: the model has layers 1 to {depth}")

    def describe(self, sentence: Sentence, config: DecodingConfig) -> dict[str, Any]:
        """One sentence's record of attention.json: tokens, translation and weights.

        A sentence with subwords that the vocabulary lacks has ``unknown`` and no weights.
        """
        parts = self.translator
        subwords = parts.segmenter.segment(parts.source_text.tokenize(sentence.text))
        ids = parts.vocabulary.encode(subwords)
        unknown = [subword for subword, id in zip(subwords, ids, strict=True) if id == UNK]
        record: dict[str, Any] = {"origin": sentence.origin, "source": sentence.text}
        if unknown:
            return record | {"unknown": unknown}
        target, weights = self._translate(ids, config)
        names = parts.vocabulary.subwords
        return record | {
            "unknown": [],
            "source_tokens": [*subwords, names[EOS]],
            "target_tokens": [names[id] for id in target],
            **{
                kind: [_rounded(head) for head in heads.tolist()] for kind, heads in weights.items()
            },
        }

    @torch.inference_mode()
    def _translate(
        self, ids: list[int], config: DecodingConfig
    ) -> tuple[list[int], dict[str, Tensor]]:
        """The decoder's input for the best translation, and weights by kind, each [H, Q, M]."""
        source_1S = pad_sources([ids]).to(self.translator.device)
        target = [BOS, *beam_search(self.model, source_1S, config)[0]]
        target_1T = torch.tensor([target], device=source_1S.device)
        encoder, decoder = self.model.encoder[self.layer - 1], self.model.decoder[self.layer - 1]
        with (
            recorded(encoder.self_attention) as encoder_calls,  # type: ignore[arg-type]
            recorded(decoder.self_attention) as decoder_calls,  # type: ignore[arg-type]
            recorded(decoder.cross_attention) as cross_calls,  # type: ignore[arg-type]
        ):
            self.model.decode(target_1T, *self.model.encode(source_1S))
        weights = {"encoder": encoder_calls, "decoder": decoder_calls, "cross": cross_calls}
        return target, {kind: calls[0].float().cpu() for kind, calls in weights.items()}


def _rounded(head: list[list[float]]) -> list[list[float]]:
    return [[round(weight, DIGITS) for weight in row] for row in head]
