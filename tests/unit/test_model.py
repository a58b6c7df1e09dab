"""The Transformer against the paper's formulas and an independent implementation."""

import math

import pytest
import torch
from torch import nn

from aiayn.common.errors import UserError
from aiayn.common.formulas import sinusoids
from aiayn.config import ModelConfig
from aiayn.model import Transformer
from aiayn.model.attention import MultiHeadAttention, Past, scaled_dot_product_attention
from aiayn.model.device import choose_device
from aiayn.text import PAD

TINY = ModelConfig(N=2, d_model=16, d_ff=32, h=4, p_drop=0.1)


@pytest.mark.parametrize(
    ("offset", "product"),
    [(0, 256), (1, 249.1), (2, 231.7), (5, 189.6), (10, 173.8), (32, 143.9)],
)
@pytest.mark.parametrize("position", [0, 7, 100])
def test_products_of_sinusoids_depend_on_the_offset_alone(offset, product, position):
    encoding = sinusoids(200, 512)
    assert float(encoding[position] @ encoding[position + offset]) == pytest.approx(
        product, abs=0.05
    )


def test_sinusoids_alternate_sine_and_cosine():
    encoding = sinusoids(4, 8)
    assert encoding[3, 0] == pytest.approx(math.sin(3))
    assert encoding[3, 1] == pytest.approx(math.cos(3))
    assert encoding[3, 4] == pytest.approx(math.sin(3 / 10_000 ** (4 / 8)))


def test_attention_is_equation_1():
    q, k, v = torch.randn(2, 3, 5, 4), torch.randn(2, 3, 7, 4), torch.randn(2, 3, 7, 6)
    bias = torch.zeros(2, 1, 1, 7)
    bias[1, ..., 5:] = float("-inf")
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    torch.testing.assert_close(scaled_dot_product_attention(q, k, v, bias), expected)


def test_multi_head_attention_equals_torchs():
    config = ModelConfig(d_model=16, h=4)
    ours = MultiHeadAttention(config)
    theirs = nn.MultiheadAttention(16, 4, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(ours.in_proj.weight)
        theirs.in_proj_bias.copy_(ours.in_proj.bias)
        theirs.out_proj.load_state_dict(ours.out_proj.state_dict())
    x, memory = torch.randn(2, 5, 16), torch.randn(2, 6, 16)
    torch.testing.assert_close(ours(x, None, None), theirs(x, x, x)[0])
    torch.testing.assert_close(ours(x, memory, None), theirs(x, memory, memory)[0])


def test_encoder_layer_equals_torchs_post_norm_layer():
    model = Transformer(TINY, 40).eval()
    ours = model.encoder[0]
    theirs = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, layer_norm_eps=1e-6).eval()
    with torch.no_grad():
        theirs.self_attn.in_proj_weight.copy_(ours.self_attention.in_proj.weight)
        theirs.self_attn.out_proj.weight.copy_(ours.self_attention.out_proj.weight)
        theirs.self_attn.in_proj_bias.zero_()
        theirs.self_attn.out_proj.bias.zero_()
        theirs.linear1.load_state_dict(ours.feed_forward.linear_1.state_dict())
        theirs.linear2.load_state_dict(ours.feed_forward.linear_2.state_dict())
    x = torch.randn(2, 5, 16)
    torch.testing.assert_close(ours(x, None), theirs(x))


def test_embedding_is_tied_and_scaled():
    model = Transformer(TINY, 40).eval()
    names = [name for name, _ in model.named_parameters() if "embedding" in name]
    assert names == ["embedding.weight"]
    expected = (
        model.embedding.weight[7] * 4 + torch.tensor(sinusoids(1, 16)[0]).float()
    )  # sqrt(16) = 4
    torch.testing.assert_close(model.embedding(torch.tensor([[7]]))[0, 0], expected)
    hidden = torch.randn(3, 16)
    torch.testing.assert_close(model.embedding.logits(hidden), hidden @ model.embedding.weight.T)


def test_decoder_does_not_see_later_targets():
    model = Transformer(TINY, 40).eval()
    source = torch.randint(4, 40, (1, 6))
    one, other = torch.randint(4, 40, (2, 1, 8)).unbind(0)
    other[:, :5] = one[:, :5]
    first, second = (model.decode(target, *model.encode(source)) for target in (one, other))
    torch.testing.assert_close(first[:, :5], second[:, :5])
    assert not torch.allclose(first[:, 5:], second[:, 5:])


def test_padding_changes_nothing():
    """Faults A9: a batch with and without ten extra pads."""
    model = Transformer(TINY, 40).eval()
    source, target = torch.randint(4, 40, (2, 6)), torch.randint(4, 40, (2, 5))
    padded = torch.nn.functional.pad(source, (0, 10), value=PAD)
    longer = torch.nn.functional.pad(target, (0, 10), value=PAD)
    plain = model(source, target, torch.arange(10))
    positions = torch.arange(30).view(2, 15)[:, :5].flatten()
    torch.testing.assert_close(model(padded, longer, positions), plain)


def test_step_by_step_with_cache_equals_all_at_once():
    model = Transformer(TINY, 40).eval()
    source, target = torch.randint(4, 40, (3, 6)), torch.randint(4, 40, (3, 5))
    source[1, 4:] = PAD
    memory, bias = model.encode(source)
    at_once = model.embedding.logits(model.decode(target, memory, bias))
    past, projected = [Past() for _ in model.decoder], model.memory(memory)
    for position in range(5):
        logits = model.step(target[:, position], position, past, projected, bias)
        torch.testing.assert_close(logits, at_once[:, position])


def test_initial_weights_have_the_original_codes_scale():
    model = Transformer(ModelConfig(N=1), 1000).requires_grad_(False)
    fused = model.encoder[0].self_attention.in_proj.weight
    assert float(fused.abs().max()) == pytest.approx(math.sqrt(6 / (4 * 512)), rel=0.01)
    assert float(model.embedding.weight[4:].std()) == pytest.approx(512**-0.5, rel=0.02)
    assert not model.embedding.weight[PAD].any()


def test_learned_positions_end_with_their_table_and_sinusoids_do_not():
    learned = Transformer(TINY.model_copy(update={"positions": "learned", "max_positions": 8}), 40)
    sinusoidal = Transformer(TINY.model_copy(update={"max_positions": 8}), 40)
    long_source = torch.randint(4, 40, (1, 9))
    with pytest.raises(ValueError, match="max_positions=8"):
        learned.encode(long_source)
    assert sinusoidal.encode(long_source)[0].shape == (1, 9, 16)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_an_error():
    assert choose_device("auto") == torch.device("cpu")
    with pytest.raises(UserError, match="--device: cuda, but torch finds no GPU"):
        choose_device("cuda")


def test_vocabulary_larger_than_its_rows_is_an_error():
    with pytest.raises(UserError, match="vocabulary_rows: 32 is less than"):
        Transformer(ModelConfig(vocabulary_rows=32), 40)
