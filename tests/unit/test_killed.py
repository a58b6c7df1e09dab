"""Trainings that die at any moment, on a full disk, or for want of memory, and go on afterwards."""

import csv
import errno
import os
import random
import time

import pytest
import torch

from aiayn.common.files import read_json, sha256_of
from aiayn.training.checkpoints import MODEL, OPTIMIZER, list_checkpoints, verified
from aiayn.training.interruption import EXIT_CODE
from aiayn.training.trainer import Trainer
from tests.unit.forked_trainings import finish, kill_after
from tests.unit.training_fixtures import MODEL as SHAPE
from tests.unit.training_fixtures import make_job, write_corpus

KILLS = 20
SETTINGS = {"steps": 20, "checkpoint_every": 2, "average": 3, "validate_every": 8, "log_every": 3}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus") / "text")


@pytest.fixture(scope="module")
def unbroken(text, tmp_path_factory):
    """A training that nothing disturbs, and the seconds that it took."""
    job = make_job(text, tmp_path_factory.mktemp("unbroken") / "run", **SETTINGS)
    assert finish(make_job(text, tmp_path_factory.mktemp("warm") / "run", **SETTINGS)) == 0
    started = time.monotonic()
    assert finish(job) == 0
    return job, time.monotonic() - started


def results(job):
    """All that a training leaves, less clocks: weights, checkpoints, Adam's state, journals."""
    files = {
        str(path.relative_to(job.output)): sha256_of(path)
        for path in sorted(job.output.rglob("*.safetensors"))
    }
    for name in ("train.csv", "valid.csv"):
        with (job.output / name).open(encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        files[name] = str([{k: v for k, v in row.items() if "second" not in k} for row in rows])
    marker = read_json(job.output / "trained.json")
    del marker["seconds"]
    return files | {"trained.json": str(marker)}


@pytest.mark.slow
def test_killed_at_twenty_random_moments_it_ends_in_the_same_bytes(unbroken, text, tmp_path):
    """Faults A10 and A11: kill -9, resume, kill again, until it has come to its end."""
    whole, seconds = unbroken
    expected, chance, log = results(whole), random.Random(20), tmp_path / "log"
    kills = chains = resumed = 0
    while kills < KILLS:
        chains += 1
        job = make_job(text, tmp_path / f"chain{chains}", **SETTINGS)
        before = kills
        while kills < KILLS and kill_after(job, chance.uniform(0, seconds)):
            kills += 1
        assert finish(job, log) == 0
        assert results(job) == expected, f"after {kills - before} kills"
        resumed += "resuming after step" in log.read_text(encoding="utf-8")
    assert resumed > 0


def at_durable_write(call, act):
    """Have something happen when the ``call``-th file or folder is made durable."""
    fsync, calls = os.fsync, iter(range(1, call))

    def durable(descriptor):
        if next(calls, None) is None:
            act()
        fsync(descriptor)

    os.fsync = durable


def find_no_space():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def assert_stopped_by_a_full_disk(job, code, log):
    """Exit code 2 and one line; whatever lies there as a checkpoint is whole."""
    lines = log.read_text(encoding="utf-8").strip().split("\n")
    assert code == 2, lines
    assert "No space left on device" in lines[-1]
    assert "Traceback" not in "\n".join(lines)
    assert not (job.output / "trained.json").exists()
    for checkpoint in list_checkpoints(job.checkpoints):
        assert verified(checkpoint, MODEL), checkpoint
    newest = list_checkpoints(job.checkpoints)[-1:]
    assert all(verified(checkpoint, OPTIMIZER) for checkpoint in newest)
    assert [path for path in job.output.rglob("*.safetensors") if not path.stat().st_size] == []


@pytest.mark.slow
@pytest.mark.parametrize("call", [1, 8, 27, 83])
def test_a_disk_that_fills_up_costs_no_older_checkpoint(unbroken, text, tmp_path, call):
    """Faults A10: no space at each kind of write; with space again, training goes on."""
    job = make_job(text, tmp_path / "run", **SETTINGS)
    log = tmp_path / "log"
    code = finish(job, log, at_durable_write, call, find_no_space)
    assert_stopped_by_a_full_disk(job, code, log)
    assert finish(job) == 0
    assert results(job) == results(unbroken[0])


def memory_for(pairs):
    """Have memory for so many sentence pairs at once."""
    original = Trainer._backward

    def backward(self, data, own, scale):
        if len(own) > pairs:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return original(self, data, own, scale)

    Trainer._backward = backward


@pytest.mark.slow
def test_out_of_memory_is_tried_again_with_smaller_micro_batches_and_says_so(text, tmp_path):
    """Each try halves them until they fit; without dropout the steps are the same."""
    model = SHAPE.model_copy(update={"p_drop": 0.0})
    settings = {"steps": 9, "tokens_per_step": 400, "log_every": 1}
    plenty, little = (make_job(text, tmp_path / name, model, **settings) for name in ("a", "b"))
    assert finish(plenty) == 0
    log, said = tmp_path / "log", []
    while finish(little, log, memory_for, 14) == EXIT_CODE:
        said.append(log.read_text(encoding="utf-8").strip().split("\n")[-1])
    assert len(said) >= 2
    for tries, words in enumerate(said, start=1):
        assert f"out of memory; next time each micro-batch is cut into {2**tries};" in words
    assert f"each micro-batch in {2 ** len(said)} parts, for memory" in log.read_text("utf-8")
    losses = [read_json(job.output / "trained.json")["dev"]["loss"] for job in (plenty, little)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
