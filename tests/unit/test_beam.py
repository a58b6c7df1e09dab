"""Beam search against exhaustive and uncached search, and its edges."""

import itertools

import pytest
import torch

from aiayn.batches.tensors import pad_sources
from aiayn.config import DecodingConfig, ModelConfig
from aiayn.decoding.beam import NEVER, beam_search, length_penalty
from aiayn.model import Transformer
from aiayn.text import BOS, EOS

VOCABULARY = 12


@pytest.fixture
def model():
    torch.manual_seed(3)
    model = Transformer(ModelConfig(N=2, d_model=16, d_ff=32, h=2), VOCABULARY).eval()
    with torch.no_grad():  # fresh weights hardly prefer any token; these do
        model.embedding.weight.mul_(3)
    return model


def sentences(count, seed=0, longest=9):
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, longest, (count,), generator=generator).tolist()
    return [torch.randint(4, VOCABULARY, (n,), generator=generator).tolist() for n in lengths]


def log_p(model, source, target):
    """log P(target, end | source), all at once and without a cache."""
    encoded = model.encode(pad_sources([source]))
    hidden = model.decode(torch.tensor([[BOS, *target]]), *encoded)
    log_probabilities = model.embedding.logits(hidden)[0].log_softmax(-1)
    labels = torch.tensor([*target, EOS])
    return float(log_probabilities[torch.arange(len(labels)), labels].sum())


def greedy_without_cache(model, source, limit):
    target: list[int] = []
    for _ in range(limit):
        hidden = model.decode(torch.tensor([[BOS, *target]]), *model.encode(pad_sources([source])))
        logits = model.embedding.logits(hidden)[0, -1]
        logits[NEVER] = float("-inf")
        token = int(logits[:VOCABULARY].argmax())
        if token == EOS:
            break
        target.append(token)
    return target


@torch.inference_mode()
def test_beam_1_is_greedy_search_without_a_cache(model):
    sources = sentences(20)
    outputs = beam_search(model, pad_sources(sources), DecodingConfig(beam=1, max_extra=10))
    for source, output in zip(sources, outputs, strict=True):
        assert output == greedy_without_cache(model, source, len(source) + 11)


@torch.inference_mode()
@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_wide_beam_finds_the_best_of_all_translations(model, alpha):
    source, limit = [5, 7], 3
    tokens = [t for t in range(VOCABULARY) if t not in (*NEVER, EOS)]
    everything = [
        list(target) for n in range(limit) for target in itertools.product(tokens, repeat=n)
    ]
    best = max(
        everything,
        key=lambda target: log_p(model, source, target) / length_penalty(len(target) + 1, alpha),
    )
    config = DecodingConfig(beam=600, alpha=alpha, max_extra=0)
    assert beam_search(model, pad_sources([source]), config) == [best]


@torch.inference_mode()
def test_output_does_not_depend_on_batch_or_order(model):
    """Faults A13: 30 lines of mixed length in batches of 1, 7 and 30, and shuffled."""
    sources = sentences(30)
    config = DecodingConfig(beam=4)
    together = beam_search(model, pad_sources(sources), config)
    for size in (1, 7):
        parts = [
            beam_search(model, pad_sources(sources[start : start + size]), config)
            for start in range(0, 30, size)
        ]
        assert list(itertools.chain(*parts)) == together
    backwards = beam_search(model, pad_sources(sources[::-1]), config)
    assert backwards[::-1] == together


@torch.inference_mode()
def test_larger_alpha_never_shortens_the_mean(model):
    """Faults A13: alpha 0 against 2."""
    source = pad_sources(sentences(30))
    means = [
        sum(map(len, beam_search(model, source, DecodingConfig(beam=4, alpha=alpha))))
        for alpha in (0.0, 0.6, 2.0)
    ]
    assert means == sorted(means)


@torch.inference_mode()
def test_without_an_end_token_the_best_unfinished_hypothesis_comes_out(model, monkeypatch):
    """Faults A14: the end token is never allowed."""
    logits = model.embedding.logits

    def no_end(hidden):
        scores = logits(hidden)
        scores[..., EOS] = float("-inf")
        return scores

    monkeypatch.setattr(model.embedding, "logits", no_end)
    sources = sentences(5)
    for beam in (1, 4):
        outputs = beam_search(model, pad_sources(sources), DecodingConfig(beam=beam, max_extra=3))
        assert [len(output) for output in outputs] == [len(source) + 4 for source in sources]


@torch.inference_mode()
@pytest.mark.parametrize("beam", [11, 12, 50])
def test_beam_wider_than_the_vocabulary_works(model, beam):
    """Faults A14: beam 50, vocabulary 12."""
    outputs = beam_search(model, pad_sources(sentences(4)), DecodingConfig(beam=beam, max_extra=2))
    assert len(outputs) == 4
    assert all(token not in (*NEVER, EOS) for output in outputs for token in output)


def test_length_penalty_has_worked_values():
    assert length_penalty(1, 0.6) == 1.0
    assert length_penalty(7, 0.6) == pytest.approx(2**0.6)
    assert length_penalty(20, 0.0) == 1.0
