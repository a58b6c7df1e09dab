"""The smoke scale on a real Slurm, with trainings interrupted half-way."""

import re
import shlex
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from aiayn.common.files import read_json
from tests.cluster.conftest import CAUGHT_AFTER, longer_checkout, wait_for
from tests.cluster.slurm_node import SlurmNode
from tests.workflow.conftest import BIN

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

COMMAND = shlex.split(
    "snakemake --cores all --profile slurm --config scale=smoke rows=base,A1 pairs=en-de"
)
RUNS = Path("results/smoke/en-de")
SAME = [
    *(f"reports/smoke/table{n}.{kind}" for n in (2, 3) for kind in ("csv", "md", "tex")),
    *(
        f"{RUNS}/{row}/seed1/{file}"
        for row in ("base", "A1")
        for file in ("last/model.safetensors", "valid.csv", "hypothesis.dev.de", "score.dev.json")
    ),
    f"{RUNS}/base/seed1/hypothesis.test.de",
]


class ClusterRun:
    """The exact command on a Slurm, and the jobs that it started."""

    def __init__(self, folder: Path, node: SlurmNode) -> None:
        self.folder, self.node = folder, node
        self.log = folder / "snakemake.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [BIN / COMMAND[0], *COMMAND[1:]],
                cwd=folder,
                env=node.environment | {"PYTHONPATH": str(folder / "src")},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def jobs(self, rule: str) -> list[dict[str, str]]:
        """Slurm's jobs of a rule, the ended ones among them."""
        lines = self.node.run("squeue", "--states=all", "-h", "-o", "%i|%T|%b|%r|%l|%k").split("\n")
        fields = ("id", "state", "gpus", "reason", "limit", "comment")
        jobs = [dict(zip(fields, line.split("|"), strict=True)) for line in lines if line]
        return [job for job in jobs if rule in job["comment"]]

    def training(self, row: str) -> dict[str, str]:
        """The newest job of a row's training."""
        return max(
            (job for job in self.jobs("rule_train") if f"_{row}_" in job["comment"]),
            key=lambda job: int(job["id"]),
        )

    def wait_for_step(self, row: str) -> None:
        """Until the row's training has a checkpoint and is not over."""
        checkpoint = self.folder / RUNS / row / f"seed1/checkpoints/step-{CAUGHT_AFTER}"
        wait_for(f"{row}: a checkpoint", checkpoint.exists, seconds=300)

    def start_requeued(self, job: str) -> None:
        """Slurm lets a requeued job wait for two minutes; a test need not."""
        wait_for("the requeued job", lambda: self._state(job) == "PENDING", seconds=60)
        self.node.run("scontrol", "update", f"JobId={job}", "StartTime=now")

    def _state(self, job: str) -> str:
        return next(found["state"] for found in self.jobs("rule_train") if found["id"] == job)

    def output(self) -> str:
        """What Snakemake said, once it is through."""
        wait_for("the end", lambda: self.process.poll() is not None, seconds=600)
        output = self.log.read_text()
        logs = (self.folder / "results/smoke/logs/train").glob("*.log")
        assert self.process.returncode == 0, output[-5000:] + "".join(f.read_text() for f in logs)
        return output


@pytest.fixture(scope="module")
def disturbed(slurm, tmp_path_factory):
    """A run through which one training was requeued, and another cancelled, half-way."""
    checkout = longer_checkout(tmp_path_factory.mktemp("disturbed") / "checkout")
    run = ClusterRun(checkout.folder, slurm)
    try:
        run.wait_for_step("base")
        requeued = run.training("base")
        slurm.run("scontrol", "requeue", requeued["id"])
        run.wait_for_step("A1")
        slurm.run("scancel", run.training("A1")["id"])
        run.start_requeued(requeued["id"])
        run.output()
        yield run
    finally:
        run.process.kill()


def without_timings(file: Path) -> bytes:
    """The bytes of a file; of table2.csv, without the hours that trainings took."""
    if file.name != "table2.csv":
        return file.read_bytes()
    return pd.read_csv(file, dtype=str).drop(columns="device_hours").to_csv().encode()


def test_the_tables_are_those_of_an_undisturbed_run(disturbed, undisturbed):
    for file in SAME:
        found, expected = (without_timings(run.folder / file) for run in (disturbed, undisturbed))
        assert found == expected, file


def test_the_averaged_model_is_that_of_an_undisturbed_run(disturbed, undisturbed):
    """The smoke scale's scores, all near 0, would not tell: the weights do."""
    run = RUNS / "base/seed1"
    averaged = [read_json(r.folder / run / "model.json")["steps"] for r in (disturbed, undisturbed)]
    assert averaged[0] == averaged[1]
    models = [(r.folder / run / "model.safetensors").read_bytes() for r in (disturbed, undisturbed)]
    assert models[0] == models[1]


@pytest.mark.parametrize("row", ["base", "A1"])
def test_an_interrupted_training_saves_at_the_next_step_and_goes_on_from_there(disturbed, row):
    note = (disturbed.folder / RUNS / row / "seed1/checkpoints/interruptions.log").read_text()
    stopped = re.search(r"SIGTERM: stopped after step (\d+)", note)
    assert stopped, note
    log = disturbed.folder / f"results/smoke/logs/train/en-de.{row}.seed1.log"
    assert f"resuming after step {stopped[1]}" in log.read_text()


def test_a_requeued_job_is_the_same_job_and_a_cancelled_one_is_followed_by_another(disturbed):
    jobs = disturbed.jobs("rule_train")
    states = {
        row: [j["state"] for j in jobs if f"_{row}_" in j["comment"]] for row in ("base", "A1")
    }
    assert states["base"] == ["COMPLETED"]
    assert sorted(states["A1"]) == ["CANCELLED", "COMPLETED"]


def test_trainings_ask_for_a_gpu_and_small_steps_share_jobs(disturbed):
    assert {job["gpus"] for job in disturbed.jobs("rule_train")} == {"gres:gpu:1"}
    (text,) = disturbed.jobs("rule_text.en-de")
    # The longest chain of its steps, to all of them one after another; a job's start once.
    assert 5 * 1 + 16 <= int(text["limit"].removesuffix(":00")) <= 14 * 1 + 2 * 16
    evaluations = disturbed.jobs("rule_evaluation")
    assert len(evaluations) == 3  # base: test, after averaging, and dev; A1: dev
