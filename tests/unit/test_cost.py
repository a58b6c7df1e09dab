"""Parameter counts of paper.md and fidelity.md, and the model against the formula."""

import pytest
import torch

from aiayn.config import ModelConfig, load_project
from aiayn.config.cost import (
    TokenCounts,
    decoder_layer_parameters,
    encoder_layer_parameters,
    parameters,
    training_flops,
)
from aiayn.model import Transformer
from aiayn.model.layers import DecoderLayer, EncoderLayer
from aiayn.model.transformer import parameter_count

# Table 3's parameter column, x 1e6. Rows that leave it blank have base's.
PUBLISHED = {
    "base": 65, "B1": 58, "B2": 60, "C1": 36, "C2": 50, "C3": 80, "C4": 28, "C5": 168,
    "C6": 53, "C7": 90,
}  # fmt: skip


def test_one_layer_of_base_has_the_published_number_of_parameters():
    base = ModelConfig()
    assert encoder_layer_parameters(base) == 3_152_384
    assert decoder_layer_parameters(base) == 4_204_032
    assert parameter_count(EncoderLayer(base)) == 3_152_384
    assert parameter_count(DecoderLayer(base)) == 4_204_032


def test_base_with_37000_rows_has_63_1_million():
    assert round(parameters(ModelConfig(), 37_000) / 1e6, 1) == 63.1


@pytest.mark.parametrize(("row", "millions"), PUBLISHED.items())
def test_table_3_parameter_column_to_the_printed_digit(row, millions):
    project = load_project({"scale": "paper"})
    run = next(run for run in project.runs if (run.pair, run.row) == ("en-de", row))
    model, _ = project.resolve(run)
    assert round(parameters(model, 40_960) / 1e6) == millions


def test_parameters_agree_with_fidelity_notes_to_one_decimal():
    project = load_project({"scale": "paper"})
    counted = {
        run.row: round(parameters(project.resolve(run)[0], 40_960) / 1e6, 1)
        for run in project.runs
        if run.pair == "en-de"
    }
    expected = {
        "base": 65.1, "B1": 58.0, "B2": 60.4, "C1": 35.7, "C2": 50.4, "C3": 79.8, "C4": 27.8,
        "C5": 167.9, "C6": 52.5, "C7": 90.3, "big": 218.3,
    }  # fmt: skip
    assert {row: counted[row] for row in expected} == expected


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
@pytest.mark.parametrize("widths", [{}, {"d_k": 3, "d_v": 5}])
def test_formula_counts_what_the_model_has(positions, widths):
    config = ModelConfig(N=2, d_model=16, d_ff=24, h=4, positions=positions, **widths)
    assert parameter_count(Transformer(config, 41)) == parameters(config, 48)


def test_flops_of_one_pair_equal_those_torch_counts():
    from torch.utils.flop_counter import FlopCounterMode

    config = ModelConfig(N=2, d_model=16, d_ff=24, h=4, d_k=3, d_v=5, p_drop=0.0)
    model = Transformer(config, 48)
    source, target = torch.randint(4, 48, (1, 7)), torch.randint(4, 48, (1, 5))
    with FlopCounterMode(display=False) as counter:
        model(source, target, torch.arange(5)).sum().backward()
    tokens = TokenCounts(7, 5, 49, 25, 35)
    counted = counter.get_total_flops()
    # The first layer's inputs get no gradient product in torch's count of embedding inputs.
    assert counted == pytest.approx(training_flops(config, 48, tokens), rel=0.01)
