"""Training runs: what they write, resuming, precision, locks."""

import csv
import dataclasses
import time
from functools import partial

import numpy as np
import pytest
import torch

from aiayn.batches import training_steps
from aiayn.common.errors import UserError
from aiayn.common.files import read_json, sha256_of
from aiayn.config.cost import TokenCounts, training_flops
from aiayn.model import load_model
from aiayn.model.device import choose_precision
from aiayn.training import checkpoints, train
from aiayn.training.checkpoints import list_checkpoints
from aiayn.training.interruption import InterruptedTrainingError
from aiayn.training.lock import only_trainer
from aiayn.training.loop import Loop
from aiayn.training.trainer import Trainer
from tests.unit.training_fixtures import MODEL, make_job, weights, write_corpus


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """A tiny parallel corpus."""
    return write_corpus(tmp_path_factory.mktemp("corpus") / "text")


@pytest.fixture
def job(text, tmp_path):
    """A function that makes a training into a named run folder."""

    def make(output="run", model=MODEL, **changes):
        return make_job(text, tmp_path / output, model, **changes)

    return make


def test_a_run_leaves_what_the_next_stages_need(job):
    done = job()
    train(done)
    marker = read_json(done.output / "trained.json")
    assert marker["steps"] == 12
    assert [checkpoint["step"] for checkpoint in marker["checkpoints"]] == [6, 9, 12]
    for checkpoint in marker["checkpoints"]:
        assert sha256_of(done.output / checkpoint["path"]) == checkpoint["sha256"]
    model, description = load_model(done.output / "last")
    assert (description.source_language, description.target_language) == ("en", "de")
    assert marker["parameters"] == sum(p.numel() for p in model.parameters())
    with (done.output / "train.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["step"]) for row in rows] == [2, 3, 4, 6, 8, 9, 10, 12]
    assert int(rows[-1]["target_tokens"]) == marker["target_tokens"]
    assert float(rows[-1]["loss"]) < float(rows[0]["loss"])
    with (done.output / "valid.csv").open() as stream:
        validations = list(csv.DictReader(stream))
    assert [int(row["step"]) for row in validations] == [6, 12]
    assert float(validations[-1]["ppl"]) == marker["dev"]["ppl"]
    provenance = read_json(done.output / "run.json")
    assert provenance["config"]["training"]["steps"] == 12
    assert provenance["versions"]["torch"] == torch.__version__


def test_perplexity_is_of_the_dev_set_without_smoothing_or_dropout(job, text):
    done = job(eps_ls=0.1)
    train(done)
    model, _ = load_model(done.output / "last")
    total = tokens = 0
    for line in (text / "dev.txt").read_text().split("\n")[:-1]:
        ids = torch.tensor([[4 + int(word[1:]) for word in line.split()]])
        source = torch.cat((ids, torch.tensor([[2]])), 1)
        given = torch.cat((torch.tensor([[1]]), ids), 1)
        logits = model(source, given, torch.arange(source.shape[1]))
        total += torch.nn.functional.cross_entropy(logits, source[0], reduction="sum").item()
        tokens += source.shape[1]
    marker = read_json(done.output / "trained.json")
    assert marker["dev"]["ppl"] == pytest.approx(np.exp(total / tokens), rel=1e-5)


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(job):
    first, second, third = job("a"), job("b"), job("c", seed=2)
    for one in (first, second, third):
        train(one)
    assert weights(first) == weights(second) != weights(third)


def stop_after(monkeypatch, steps):
    """Make training die, as if killed, once it has taken so many steps."""
    original = Loop._save

    def save(self):
        original(self)
        if self.progress.step == steps:
            raise KeyboardInterrupt

    monkeypatch.setattr(Loop, "_save", save)


@pytest.mark.parametrize("cut", [3, 9])
def test_interrupted_and_resumed_equals_unbroken_bit_for_bit(job, monkeypatch, cut):
    """Faults A11: 20 steps against 10, a kill and 10."""
    unbroken, broken = job("unbroken"), job("broken")
    train(unbroken)
    with monkeypatch.context() as patch:
        stop_after(patch, cut)
        with pytest.raises(KeyboardInterrupt):
            train(broken)
    assert not (broken.output / "trained.json").exists()
    train(broken)
    assert weights(broken) == weights(unbroken)

    def stable(run, name):
        with (run.output / name).open() as stream:
            rows = list(csv.DictReader(stream))
        return [{k: v for k, v in row.items() if "second" not in k} for row in rows]

    for name in ("train.csv", "valid.csv"):
        assert stable(broken, name) == stable(unbroken, name)


def test_resuming_a_finished_run_changes_nothing(job):
    done = job()
    train(done)
    before = weights(done)
    journals = [(done.output / name).read_bytes() for name in ("train.csv", "valid.csv")]
    (done.output / "trained.json").unlink()
    train(done)
    assert weights(done) == before
    assert [(done.output / name).read_bytes() for name in ("train.csv", "valid.csv")] == journals
    assert read_json(done.output / "trained.json")["steps"] == 12


def test_a_broken_checkpoint_is_named_and_the_one_before_is_used(job, capfd):
    """Faults A10: the newest checkpoint cut in half."""
    unbroken, broken = job("unbroken"), job("broken")
    train(unbroken)
    train(broken)
    newest = list_checkpoints(broken.output / "checkpoints")[-1].path / "model.safetensors"
    newest.write_bytes(newest.read_bytes()[: newest.stat().st_size // 2])
    train(broken)
    assert weights(broken) == weights(unbroken)
    errors = capfd.readouterr().err
    assert f"{newest}: broken or missing; not used" in errors
    assert "resuming after step 9" in errors


@pytest.mark.parametrize("change", [{"lr_factor": 2.0}, {"eps_ls": 0.0}, {"seed": 9}])
def test_checkpoints_of_another_training_are_set_aside(job, change, capfd):
    train(job())
    changed = job(**change)
    train(changed)
    fresh = job("fresh", **change)
    train(fresh)
    assert weights(changed) == weights(fresh)
    assert "of another training (training)" in capfd.readouterr().err
    assert list_checkpoints(changed.output / "checkpoints.old")


def test_more_steps_go_on_from_the_last_checkpoint(job, capfd):
    train(job())
    longer = job(steps=15)
    train(longer)
    assert "resuming after step 12" in capfd.readouterr().err
    fresh = job("fresh", steps=15)
    train(fresh)
    assert weights(longer) == weights(fresh)


def test_more_checkpoints_to_average_than_were_kept_is_an_error(job):
    train(job())
    train(job(average=2))  # fewer are there
    with pytest.raises(UserError, match=r"average: 4 checkpoints are to be averaged, .* be 2: "):
        train(job(average=4))
    train(job(steps=21, average=4))  # as many will be there


def test_what_training_began_in_it_goes_on_in(job, monkeypatch, capfd):
    """Faults A11: another kind of device after the interruption."""
    settings = {"precision": "auto"}
    unbroken, broken = job("unbroken", **settings), job("broken", **settings)
    devices = iter([("one", "fp32"), ("one", "fp32"), ("another", "bf16")])

    def train_here(one):
        name, precision = next(devices)
        monkeypatch.setattr("aiayn.training.loop.choose_precision", lambda *_: precision)
        monkeypatch.setattr("aiayn.training.loop.device_name", lambda _: name)
        train(one)

    train_here(unbroken)
    with monkeypatch.context() as patch:
        stop_after(patch, 6)
        with pytest.raises(KeyboardInterrupt):
            train_here(broken)
    train_here(broken)
    assert "begun in fp32, and goes on in it; here it would be bf16" in capfd.readouterr().err
    assert weights(broken) == weights(unbroken)
    marker = read_json(broken.output / "trained.json")
    pieces = marker["stretches"]
    assert [(piece["device"], piece["precision"]) for piece in pieces] == [
        ("one", "fp32"),
        ("another", "fp32"),
    ]
    assert sum(piece["seconds"] for piece in pieces) == pytest.approx(marker["seconds"], abs=0.001)
    assert (marker["device"], marker["precision"]) == ("another", "fp32")


def test_seconds_count_all_between_steps_but_validation_and_checkpoints(job, monkeypatch):
    def slowly(steps, *arguments, **options):
        for step in steps(*arguments, **options):
            time.sleep(0.02)
            yield step

    def slow(method):
        def slowed(*arguments):
            time.sleep(1)
            return method(*arguments)

        return slowed

    monkeypatch.setattr("aiayn.training.loop.training_steps", partial(slowly, training_steps))
    monkeypatch.setattr(Loop, "_measure", slow(Loop._measure))
    monkeypatch.setattr(Loop, "_save", slow(Loop._save))
    done = job(steps=10, checkpoint_every=10, validate_every=5, average=1)
    train(done)
    assert 0.2 <= read_json(done.output / "trained.json")["seconds"] < 1


def test_out_of_memory_with_one_pair_at_a_time_is_an_error(job, monkeypatch):
    def no_memory(*_):
        raise torch.OutOfMemoryError

    monkeypatch.setattr(Trainer, "_backward", no_memory)
    said = []
    while len(said) < 20 and "one pair at a time" not in "".join(said):
        with pytest.raises((InterruptedTrainingError, UserError)) as caught:
            train(job())
        said.append(str(caught.value))
    assert said[0] == "out of memory; next time each micro-batch is cut into 2"
    assert said[-1].startswith("step 1: out of memory, with one pair at a time as well")


def test_two_trainers_never_share_a_folder(job):
    one = job()
    with (
        only_trainer(one.output / "checkpoints"),
        pytest.raises(ValueError, match="another trainer"),
    ):
        train(one)


def test_bf16_learns_as_fp32_does(job):
    losses = []
    for precision in ("fp32", "bf16"):
        one = job(precision, precision=precision, steps=40, lr_factor=2.0)
        train(one)
        losses.append(read_json(one.output / "trained.json")["dev"]["loss"])
    assert losses[1] == pytest.approx(losses[0], rel=0.005)
    stored, _ = load_model(tmp := job("bf16").output / "last")
    assert {p.dtype for p in stored.parameters()} == {torch.float32}, tmp


def test_accumulation_takes_the_step_of_one_large_batch(job, text):
    """Micro-batches change the sum over pairs in nothing but rounding."""
    model = MODEL.model_copy(update={"p_drop": 0.0})
    results = []
    for micro_batches in (1, 4):
        one = job(f"m{micro_batches}", model=model, micro_batches=micro_batches,
                  tokens_per_step=10_000, steps=9)  # fmt: skip
        train(one)
        results.append(read_json(one.output / "trained.json")["dev"]["loss"])
    assert results[0] == pytest.approx(results[1], rel=1e-5)


def test_flops_come_from_the_tokens_seen(job):
    done = job()
    train(done)
    marker = read_json(done.output / "trained.json")
    tokens = TokenCounts(marker["source_tokens"], marker["target_tokens"])
    without_attention = training_flops(MODEL, marker["vocabulary_rows"], tokens)
    assert without_attention < marker["flops"] < 1.5 * without_attention


def test_refused_for_bad_data_it_leaves_no_trace(job, tmp_path):
    refused = dataclasses.replace(job(), dev_data=tmp_path / "nowhere")
    with pytest.raises(ValueError, match="nowhere"):
        train(refused)
    assert not refused.output.exists()


def test_going_on_reads_each_file_of_the_newest_checkpoint_once_to_check_it(job, monkeypatch):
    train(job())
    checked = []

    def counted(path):
        checked.append(path.name)
        return sha256_of(path)

    monkeypatch.setattr(checkpoints, "sha256_of", counted)
    train(job())
    assert sorted(checked) == ["model.safetensors", "optimizer.safetensors"]


@pytest.mark.parametrize(("native", "precision"), [(True, "bf16"), (False, "fp32")])
def test_a_gpu_that_only_emulates_bf16_trains_in_fp32(monkeypatch, native, precision):
    def supported(including_emulation=True):
        return native or including_emulation

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", supported)
    assert choose_precision("auto", torch.device("cuda")) == precision
