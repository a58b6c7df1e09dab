"""Trainings that die at any moment, on a full disk, or for want of memory, and go on afterwards."""

import csv
import errno
import os
import random
import signal
import subprocess
import time

import pytest
import torch

from aiayn.common.files import read_json, sha256_of
from aiayn.training import loop
from aiayn.training.checkpoints import MODEL, OPTIMIZER, STATE, list_checkpoints, verified
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
    leftovers = [*job.checkpoints.glob(".*.tmp"), *(job.output / "last").glob(".*.tmp")]
    assert leftovers == []
    for name in ("train.csv", "valid.csv"):
        with (job.output / name).open(encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        files[name] = str([{k: v for k, v in row.items() if "second" not in k} for row in rows])
    marker = read_json(job.output / "trained.json")
    del marker["seconds"], marker["stretches"]
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


def die_at_pruning(last_step, *removed):
    """Kill this very process when it prunes after a step, with files of the oldest removed."""
    original = loop.prune_checkpoints

    def prune(folder, **options):
        found = list_checkpoints(folder)
        if found[-1].step == last_step:
            for name in removed:
                (found[0].path / name).unlink()
            die()
        original(folder, **options)

    loop.prune_checkpoints = prune


@pytest.mark.slow
@pytest.mark.parametrize("removed", [(), (STATE,)])
def test_killed_while_it_prunes_after_the_last_step(unbroken, text, tmp_path, removed):
    """A moment that random kills seldom meet: an old checkpoint is still there, or part of it."""
    job = make_job(text, tmp_path / "run", **SETTINGS)
    code = finish(job, tmp_path / "log", die_at_pruning, SETTINGS["steps"], *removed)
    assert code == -signal.SIGKILL
    assert finish(job) == 0
    assert results(job) == results(unbroken[0])


def at_durable_write(call, act):
    """Have something happen when the ``call``-th file or folder is made durable."""
    fsync, calls = os.fsync, iter(range(1, call))

    def durable(descriptor):
        if next(calls, None) is None:
            act()
        fsync(descriptor)

    os.fsync = durable


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def find_no_space():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.slow
@pytest.mark.parametrize("call", [1, 8, 83], ids=["journal", "checkpoint", "last"])
def test_killed_while_it_writes_it_leaves_no_half_files_for_ever(unbroken, text, tmp_path, call):
    """Faults A10: killed in the middle of a file; nothing else would ever remove its half."""
    job = make_job(text, tmp_path / "run", **SETTINGS)
    assert finish(job, tmp_path / "log", at_durable_write, call, die) == -signal.SIGKILL
    assert list(job.output.rglob(".*.tmp"))
    assert finish(job) == 0
    assert results(job) == results(unbroken[0])


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


@pytest.fixture
def small_disk(tmp_path):
    """A function that gives a small file system, mounted at ``tmp_path/disk``, another size."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if mounted.returncode:
        pytest.skip(f"mounting a small file system needs root: {mounted.stderr.strip()}")

    def resize(kilobytes):
        subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", str(disk)], check=True)
        return disk

    yield resize
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.slow
def test_on_a_full_file_system_older_checkpoints_stay(unbroken, text, small_disk):
    """Faults A10: a small full tmpfs, at several sizes, each time emptied of nothing."""
    sizes = (80, 160, 200, 240)
    job = make_job(text, small_disk(sizes[0]) / "run", **SETTINGS)
    reached = []
    for kilobytes in sizes:
        small_disk(kilobytes)
        log = small_disk(kilobytes).parent / "log"
        assert_stopped_by_a_full_disk(job, finish(job, log), log)
        reached.append(max((found.step for found in list_checkpoints(job.checkpoints)), default=0))
    assert reached == sorted(reached)
    assert reached[-1] > 0
    small_disk(10_000)
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
