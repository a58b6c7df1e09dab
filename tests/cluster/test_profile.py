"""What the profile asks Slurm for; nothing is submitted, so that this runs everywhere."""

import re
import subprocess

import pytest

from tests.conftest import ROOT
from tests.workflow.conftest import BIN


def requests_of(rule: str, *arguments: str) -> list[dict[str, str]]:
    """Resources of a rule's jobs in a dry run of the paper's scale by the profile."""
    command = [BIN / "snakemake", "--cores", "all", "--profile", "slurm", "--dry-run"]
    done = subprocess.run(
        [*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    jobs = re.findall(rf"^rule {rule}:\n(?:    .*\n)+", done.stdout + done.stderr, re.MULTILINE)
    return [
        dict(re.findall(r"[ ,](\w+)=([^\s,]+)", job[job.index("resources:") :])) for job in jobs
    ]


@pytest.fixture(scope="module")
def on_gpus():
    return requests_of(
        "train", "--config", "scale=paper", "ranks=8", "pairs=en-de", "rows=base,big"
    )


def test_a_training_asks_for_its_ranks_as_gpus_of_one_task(on_gpus):
    """Faults A20: no tasks, which the plugin would turn into --ntasks-per-gpu."""
    for asked in on_gpus:
        assert asked["gres"] == "gpu:8"
        assert not {"tasks", "tasks_per_gpu", "mpi"} & set(asked)
        assert asked["slurm_extra"] == "--signal=TERM@180"


def test_no_job_is_longer_than_the_profile_allows(on_gpus):
    minutes = sorted(int(asked["runtime"]) for asked in on_gpus)
    assert minutes[0] < minutes[1] == 1440  # base fits, big goes on in a next job


def test_on_several_nodes_each_gets_its_share():
    asked, *_ = requests_of(
        "train",
        "--default-resources", "training_nodes=2", "gpu_type=a100", "runtime_limit=600",
        "--config", "scale=paper", "ranks=8", "pairs=en-de", "rows=base",
    )  # fmt: skip
    assert (asked["nodes"], asked["gres"], asked["ranks"]) == ("2", "gpu:a100:4", "8")
    assert not asked.get("slurm_extra")  # srun kills its step on SIGTERM


def test_on_cpu_nodes_no_gpu_is_asked_for():
    asked, *_ = requests_of(
        "train", "--config", "scale=smoke", "device=cpu", "pairs=en-de", "rows=base"
    )
    assert "gres" not in asked
    assert asked["tasks"] == "1"
