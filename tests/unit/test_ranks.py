"""Training on several processes, by torchrun and gloo; signals; losses that are not finite."""

import csv
import os
import signal
import subprocess
import time
from dataclasses import replace

import psutil
import pytest

from aiayn.common.files import read_json
from aiayn.training.checkpoints import list_checkpoints
from aiayn.training.interruption import EXIT_CODE
from tests.unit.training_fixtures import MODEL, command, make_job, run, weights, write_corpus

pytestmark = pytest.mark.slow

BOUND_SECONDS = 60
"""torchrun notices a dead rank within seconds; its processes get 30 s to end."""


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus") / "text")


@pytest.fixture
def job(text, tmp_path):
    def make(output, model=MODEL, **changes):
        return make_job(text, tmp_path / output, model, **changes)

    return make


def losses(job):
    with (job.output / "train.csv").open() as stream:
        return [float(row["loss"]) for row in csv.DictReader(stream)]


def wait_for_step(job, process, step):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if any(found.step >= step for found in list_checkpoints(job.checkpoints)):
            return
        time.sleep(0.01)
    raise AssertionError(f"no checkpoint of step {step}: {process.communicate()}")


def test_one_and_two_ranks_take_the_same_steps(job):
    """Losses over 30 steps agree to 1e-5, dropout included: it is seeded by micro-batch."""
    settings = {"steps": 30, "log_every": 1, "checkpoint_every": 10, "micro_batches": 4}
    alone, together = job("alone", **settings), job("together", **settings)
    for one, ranks in ((alone, 1), (together, 2)):
        done = run(one, ranks)
        assert done.returncode == 0, done.stderr
    assert losses(together) == pytest.approx(losses(alone), rel=1e-5)
    markers = [read_json(one.output / "trained.json") for one in (alone, together)]
    assert [marker["ranks"] for marker in markers] == [1, 2]
    assert markers[0]["target_tokens"] == markers[1]["target_tokens"]
    assert markers[1]["dev"]["ppl"] == pytest.approx(markers[0]["dev"]["ppl"], rel=1e-4)


def test_two_ranks_one_killed_end_in_time_and_resume_bit_for_bit(job):
    """Faults A11 and a dead rank: no orphan, no hang; the rerun equals an unbroken run."""
    settings = {"steps": 400, "checkpoint_every": 4}
    unbroken, broken = job("unbroken", **settings), job("broken", **settings)
    assert run(unbroken, 2).returncode == 0
    process = subprocess.Popen(
        command(broken, 2), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    wait_for_step(broken, process, 12)
    ranks = psutil.Process(process.pid).children(recursive=True)
    assert len(ranks) == 2
    ranks[1].kill()
    started = time.monotonic()
    output, _ = process.communicate(timeout=BOUND_SECONDS)
    assert process.returncode != 0, output
    assert time.monotonic() - started < BOUND_SECONDS
    assert not any(rank.is_running() for rank in ranks)
    assert not (broken.output / "trained.json").exists()
    done = run(broken, 2)
    assert done.returncode == 0, done.stderr
    assert "resuming after step" in done.stderr
    assert weights(broken) == weights(unbroken)


def assert_stops(job, ranks, number):
    """Start a training, send it a signal, and look at its end."""
    process = subprocess.Popen(
        command(job, ranks), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    wait_for_step(job, process, 50)
    os.kill(process.pid, number)
    output, _ = process.communicate(timeout=BOUND_SECONDS)
    assert process.returncode == EXIT_CODE, output
    assert f"{number.name}: stopped after step" in output
    assert not (job.output / "trained.json").exists()


@pytest.mark.parametrize("ranks", [1, 2])
def test_told_to_stop_it_saves_at_the_next_step_and_goes_on(job, ranks):
    settings = {"steps": 300, "checkpoint_every": 50}
    unbroken, stopped = job("unbroken", **settings), job("stopped", **settings)
    assert run(unbroken, ranks).returncode == 0
    assert_stops(stopped, ranks, signal.SIGTERM)
    assert run(stopped, ranks).returncode == 0
    assert weights(stopped) == weights(unbroken)


def test_every_signal_of_a_cluster_stops_all_ranks(job):
    """Of SIGUSR1 alone, torchrun would die without them."""
    assert_stops(job("stopped", steps=300, checkpoint_every=50), 2, signal.SIGUSR1)


def test_the_end_of_a_slurm_job_near_is_a_reason_to_stop(job, monkeypatch):
    stopped = job("stopped", steps=300)
    monkeypatch.setenv("SLURM_JOB_END_TIME", str(int(time.time()) + 60))
    done = run(stopped)
    assert done.returncode == EXIT_CODE
    assert "the job's time limit is near: stopped after step 1;" in done.stderr
    assert [found.step for found in list_checkpoints(stopped.checkpoints)] == [1]


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_tiny_corpus_ends_on_uneven_ranks(tmp_path, ranks):
    """Faults A8: 5 pairs, dev of 50, 2 and 3 ranks."""
    text = write_corpus(tmp_path / "text", train=5, dev=50)
    settings = {"tokens_per_step": 12 * ranks, "micro_batches": ranks}
    done = run(make_job(text, tmp_path / "run", **settings), ranks)
    assert done.returncode == 0, done.stderr


def test_fewer_batches_than_ranks_is_an_error(tmp_path):
    """Faults A8: 1 pair on 2 ranks."""
    text = write_corpus(tmp_path / "text", train=1)
    done = run(make_job(text, tmp_path / "run"), 2)
    assert done.returncode == 2
    assert "fewer batches than ranks" in done.stderr


def test_a_mistake_is_one_line_before_any_rank_is_started(job, tmp_path):
    one, folder = job("run", micro_batches=2), tmp_path / "none/train"
    for wrong, ranks, words in (
        (one, 3, "--ranks: 3 is more than the micro_batches: 2 of a step"),
        (replace(one, train_data=folder), 2, f"{folder}/index.json"),
    ):
        done = run(wrong, ranks)
        assert done.returncode == 2
        assert done.stderr.startswith(f"aiayn: {words}")
        assert done.stderr.count("\n") == 1


def test_three_ranks_interrupted_and_resumed_equal_unbroken_ones(job):
    """Sums of three terms depend on their order."""
    settings = {"steps": 12, "checkpoint_every": 3, "micro_batches": 3}
    unbroken, broken = job("unbroken", **settings), job("broken", **settings)
    assert run(unbroken, 3).returncode == 0
    assert run(replace(broken, training=broken.training.model_copy(update={"steps": 9})), 3)
    done = run(broken, 3)
    assert done.returncode == 0, done.stderr
    assert "resuming after step 9" in done.stderr
    assert weights(broken) == weights(unbroken)


def test_a_loss_that_is_not_finite_stops_and_leaves_no_checkpoint_of_it(job):
    """Faults A9: an absurd learning rate."""
    absurd = job("absurd", lr_factor=1e30, steps=100, checkpoint_every=10)
    done = run(absurd)
    assert done.returncode == 2
    last = done.stderr.strip().split("\n")[-1]
    assert "step " in last
    assert "finite" in last or "the loss is" in last
    assert not (absurd.output / "trained.json").exists()
    for checkpoint in list_checkpoints(absurd.checkpoints):
        from safetensors.numpy import load_file

        tensors = load_file(checkpoint.path / "model.safetensors").values()
        assert all(abs(tensor).max() < float("inf") for tensor in tensors)
