"""Table 1 measured: the layers do what they are called, and the file has every point."""

import pytest
import torch

from aiayn.analysis.layer_times import (
    BLOCK,
    RestrictedSelfAttention,
    make_layers,
    measure,
    parse_lengths,
)
from aiayn.common.errors import UserError
from aiayn.config import ModelConfig


@torch.inference_mode()
def test_restricted_attention_is_attention_with_a_mask_of_two_blocks():
    torch.manual_seed(1)
    layer = RestrictedSelfAttention(ModelConfig(d_model=16, h=2))
    x = torch.randn(2, 3 * BLOCK, 16)
    block = torch.arange(x.shape[1]) // BLOCK
    apart = block[:, None] - block[None, :]
    bias = torch.zeros(apart.shape).masked_fill_((apart < 0) | (apart > 1), float("-inf"))
    torch.testing.assert_close(layer(x), layer.attention(x, None, bias), atol=1e-5, rtol=1e-4)


@torch.inference_mode()
def test_every_kind_of_table_1_maps_a_sequence_to_one_of_its_shape():
    x = torch.randn(1, 2 * BLOCK, 16)
    layers = make_layers(16, 2)
    kinds = {"self-attention", "recurrent", "convolutional", "self-attention (restricted)"}
    assert set(layers) == kinds
    for kind, layer in layers.items():
        assert layer(x).shape == x.shape, kind


def test_measuring_gives_a_time_for_each_kind_and_length_and_names_the_machine():
    found = measure([4, 8], torch.device("cpu"), d_model=16, h=2)
    assert found["lengths"] == [4, 8]
    for kind, seconds in found["seconds"].items():
        assert len(seconds) == 2, kind
        assert all(0 < second < 1 for second in seconds), kind
    assert found["device"]
    assert found["host"]["system"]


def test_lengths_that_cannot_be_cut_into_blocks_are_an_error():
    assert parse_lengths("128,16") == [16, 128]
    for wrong in ("100", "0", "x", ""):
        with pytest.raises(UserError, match="--lengths"):
            parse_lengths(wrong)
