"""What figures are computed from: crossing points, heads, smoothed targets."""

import numpy as np
import pytest
import torch

from aiayn.common.errors import UserError
from aiayn.common.files import write_json
from aiayn.reporting import load_published, read_results
from aiayn.reporting.figure_attention import draw_attention, mean_entropy, shown_heads
from aiayn.reporting.figure_layers import crossing, draw_layers
from aiayn.reporting.figure_smoothing import smoothed_loss, target
from aiayn.reporting.figures import FIGURES
from aiayn.training.loss import smoothed_cross_entropy
from tests.unit.fabricated_results import ROOT, project_at


@pytest.fixture
def results(tmp_path):
    return read_results(project_at("demo"), load_published(ROOT), tmp_path / "results")


def test_crossing_of_a_square_and_a_line_is_where_they_are_equal():
    lengths = np.array([16.0, 64.0, 256.0, 1024.0])
    assert crossing(lengths, lengths**2, 100 * lengths) == pytest.approx(100)
    assert crossing(lengths, lengths, 2 * lengths) is None  # always the faster
    assert crossing(lengths, 2 * lengths, lengths) is None  # never the faster
    assert crossing(lengths, 100 * lengths, lengths**2) is None  # ends as the faster


def test_heads_are_chosen_by_entropy():
    even, sharp = np.full((2, 4), 0.25), np.eye(4)[:2]
    middling = np.array([[0.5, 0.5, 0, 0]] * 2)
    heads = np.stack([even, sharp, middling])
    np.testing.assert_allclose(mean_entropy(heads), [np.log(4), 0, np.log(2)])
    assert shown_heads(heads) == [1, 2, 0]
    assert shown_heads(heads[:1]) == [0]
    assert shown_heads(np.stack([middling, even, even, even, sharp])) == [4, 1, 3]


def test_smoothing_has_the_loss_that_training_has():
    rows, p, eps = 9, 0.6, 0.1
    logits = torch.full((1, rows), (1 - p) / (rows - 1)).log()
    logits[0, 4] = np.log(p)
    loss, _ = smoothed_cross_entropy(logits, torch.tensor([4]), eps)
    assert smoothed_loss(np.array([p]), eps, rows)[0] == pytest.approx(loss.item(), rel=1e-5)


def test_smoothed_targets_sum_to_one_and_are_where_the_loss_is_lowest():
    rows = 37_000
    for eps in (0.1, 0.2):
        right, others = target(eps, rows)
        assert right + (rows - 1) * others == pytest.approx(1)
        p = np.linspace(0.5, 0.999, 500)
        lowest = p[smoothed_loss(p, eps, rows).argmin()]
        assert lowest == pytest.approx(1 - eps, abs=0.001)


def test_attention_is_drawn_of_what_can_be_spelled(results, tmp_path):
    weights = [[[0.75, 0.25], [0.5, 0.5]]]
    drawn = {
        "origin": "test, line 1", "source": "costs $", "source_tokens": ["$", "</s>"],
        "target_tokens": ["<s>", "$_"], "encoder": weights, "decoder": weights, "cross": weights,
    }  # fmt: skip
    left_out = {"origin": "the paper", "source": "since 2009", "unknown": ["2@@", "9"]}
    maps = {"layer": 1, "layers": 2, "sentences": [left_out, drawn]}
    write_json(results.folder / "en-de/attention.json", maps)
    draw_attention(results, tmp_path / "one")
    write_json(results.folder / "en-de/attention.json", maps | {"sentences": [left_out]})
    draw_attention(results, tmp_path / "none")
    names = {name for name in FIGURES if name.startswith("attention_")}
    for folder in (tmp_path / "one", tmp_path / "none"):
        assert {path.stem for path in folder.glob("*.svg")} == names
    some, none = (tmp_path / folder / "attention_cross.svg" for folder in ("one", "none"))
    assert "<image" in some.read_text()
    assert "<image" not in none.read_text()


def test_a_broken_file_of_weights_or_times_is_an_error_that_names_it(results, tmp_path):
    write_json(results.folder / "en-de/attention.json", {"layer": 1})
    with pytest.raises(UserError, match=r"attention\.json: layers"):
        draw_attention(results, tmp_path)
    write_json(results.folder / "layer_times.json", {"d_model": 512})
    with pytest.raises(UserError, match=r"layer_times\.json: h"):
        draw_layers(results, tmp_path)
