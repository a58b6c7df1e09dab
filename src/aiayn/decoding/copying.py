"""How much of the copy task a model does (see ``aiayn.training.sanity``)."""

from aiayn.batches.tensors import pad_sources
from aiayn.config import DecodingConfig
from aiayn.decoding.beam import beam_search
from aiayn.model import Transformer


def share_copied(model: Transformer, sequences: list[list[int]]) -> float:
    """Share of sequences of ids that greedy decoding repeats exactly."""
    outputs = beam_search(model, pad_sources(sequences), DecodingConfig(beam=1))
    return sum(a == b for a, b in zip(outputs, sequences, strict=True)) / len(sequences)
