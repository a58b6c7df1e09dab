"""Loss of each dev pair, and the paired test of perplexities, against worked values."""

import csv
import math
from collections import defaultdict

import numpy as np
import pytest
import torch
import typer
from typer.testing import CliRunner

from aiayn.batches import ParallelData
from aiayn.cli.losses import losses as losses_command
from aiayn.common.errors import UserError
from aiayn.config import TextConfig
from aiayn.model import Transformer
from aiayn.model.weights import ModelFolder, load_model, write_model_folder
from aiayn.scoring.compare import compare_files
from aiayn.scoring.perplexity import Losses, compare_ppl, read_losses
from aiayn.training.validation import validate
from tests.unit.training_fixtures import MODEL, write_corpus

PAIRS = 60
HEADER = "system,seed,pair,tokens,nll"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Two untrained models and what the command measured of them."""
    folder = write_corpus(tmp_path_factory.mktemp("text"), dev=30)
    data, models = folder / "data/dev", []
    for seed in (1, 2):
        torch.manual_seed(seed)
        description = ModelFolder(
            source_language="en", target_language="de", vocabulary_size=24, model=MODEL,
            text=TextConfig(),
        )  # fmt: skip
        model = Transformer(MODEL, description.vocabulary_size)
        tensors = dict(model.state_dict())
        write_model_folder(folder / f"model{seed}", description, tensors, folder / "bpe")
        models.append(folder / f"model{seed}")
    app = typer.Typer()
    app.command()(losses_command)
    named = [f"base={models[0]}", f"D3={models[1]}"]
    output = folder / "losses.csv"
    options = ["--data", str(data), "--output", str(output), "--max-length", "8"]
    done = CliRunner().invoke(app, [*named, *options], catch_exceptions=False)
    assert done.exit_code == 0
    return data, models, output


def test_losses_of_the_pairs_add_up_to_the_perplexity_that_training_reports(measured):
    data, models, output = measured
    rows = defaultdict(list)
    with output.open(newline="") as stream:
        for row in csv.DictReader(stream):
            rows[row["system"]].append(row)
    for name, folder in zip(("base", "D3"), models, strict=True):
        total = sum(float(row["nll"]) for row in rows[name])
        tokens = sum(int(row["tokens"]) for row in rows[name])
        expected = validate(load_model(folder)[0], ParallelData(data), 8, torch.device("cpu"))
        assert total / tokens == pytest.approx(expected.loss, rel=1e-5)
        pairs = {int(row["pair"]) for row in rows[name]}
        assert 0 < len(pairs) < 30  # pairs of more than 8 tokens are left out, as in training


def test_a_models_vocabulary_must_be_the_datas(measured, tmp_path):
    _, models, _ = measured
    other = write_corpus(tmp_path / "other")
    vocabulary = other / "bpe/vocabulary.txt"
    vocabulary.write_text(vocabulary.read_text() + "w99\t1\n")
    from aiayn.batches import binarize

    binarize([other / "dev.txt"], [other / "dev.txt"], vocabulary, other / "data/dev25")
    app = typer.Typer()
    app.command()(losses_command)
    output = tmp_path / "none.csv"
    options = ["--data", str(other / "data/dev25"), "--output", str(output)]
    done = CliRunner().invoke(app, [f"base={models[0]}", *options])
    assert isinstance(done.exception, UserError)
    assert "a vocabulary of 24 entries" in str(done.exception)
    assert not output.exists()


def losses_of(**nll):
    tokens = np.full(PAIRS, 10.0)
    return Losses(tokens, {name: np.atleast_2d(values) for name, values in nll.items()})


def test_perplexities_and_their_difference_are_worked_values():
    found = compare_ppl(losses_of(base=[20.0] * PAIRS, D3=[15.0] * PAIRS), "base")
    worked = math.exp(1.5) - math.exp(2)
    assert found["baseline"] == pytest.approx(math.exp(2))
    better = found["systems"]["D3"]
    assert better["score"] == pytest.approx(math.exp(1.5))
    # All pairs alike: every bootstrap sample shows the same difference, and no exchange a larger.
    assert [better[key] for key in ("difference", "low", "high")] == pytest.approx([worked] * 3)
    assert better["p"] == pytest.approx(1 / 2001)


def test_noise_is_no_difference_of_perplexities_and_neither_is_none():
    rng = np.random.default_rng(1)
    base = 20 + rng.normal(size=PAIRS)
    found = compare_ppl(
        losses_of(base=base, same=base, noise=base + rng.normal(size=PAIRS)), "base"
    )
    same, noise = found["systems"]["same"], found["systems"]["noise"]
    assert (same["difference"], same["p"]) == (0, 1)
    assert noise["p"] > 0.05
    assert noise["low"] < 0 < noise["high"]


def test_a_randomization_over_few_pairs_is_exact_enough():
    # 6 equal differences: 2 of 2^6 sign patterns are as extreme, so p is about 1/32.
    tokens = np.full(6, 10.0)
    losses = Losses(tokens, {"base": np.full((1, 6), 20.0), "other": np.full((1, 6), 21.0)})
    p = compare_ppl(losses, "base")["systems"]["other"]["p"]
    assert p == pytest.approx(1 / 32, abs=0.01)


def test_both_tests_stand_in_one_file(write_lines):
    ref = write_lines("ref", ["a b c d e", "f g h i j"])
    rows = [f"{name},1,{pair},5,{nll}" for name, nll in (("base", 9), ("D3", 8)) for pair in (0, 1)]
    losses = write_lines("losses.csv", [HEADER, *rows])
    found = compare_files([f"base={ref}", f"D3={ref}"], ref, "dev", losses)
    assert found["bleu"]["systems"]["D3"]["difference"] == 0
    assert found["ppl"]["systems"]["D3"]["score"] == pytest.approx(math.exp(8 / 5))
    with pytest.raises(UserError, match=r"losses\.csv: does not hold 1 seeds of E"):
        compare_files([f"base={ref}", f"E={ref}"], ref, "dev", losses)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["system,nll", "base,1"], "expected the columns system,seed,pair,tokens,nll"),
        ([HEADER, "base,1,0,5,x"], "losses.csv, line 2: not"),
        ([HEADER, "base,1,0"], "losses.csv, line 2: not"),
        ([HEADER], "not measured on the same pairs"),
        ([HEADER, "base,1,0,5,1", "D3,1,1,6,1"], "not measured on the same pairs"),
    ],
)
def test_a_damaged_file_of_losses_is_an_error_that_names_it(write_lines, lines, message):
    with pytest.raises(UserError, match=message):
        read_losses(write_lines("losses.csv", lines))
