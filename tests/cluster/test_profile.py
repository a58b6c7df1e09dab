"""What the profile asks Slurm for; nothing is submitted, so that this runs everywhere."""

import re
import subprocess

import pytest

from aiayn.config import load_project, resources
from tests.conftest import ROOT
from tests.workflow.conftest import BIN


def dry_run(*arguments: str) -> str:
    """What a dry run by the profile prints."""
    command = [BIN / "snakemake", "--cores", "all", "--profile", "slurm", "--dry-run"]
    done = subprocess.run(
        [*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def requests_of(rule: str, output: str) -> list[dict[str, str]]:
    """Resources of a rule's jobs in what a dry run printed."""
    jobs = re.findall(rf"^rule {rule}:\n(?:    .*\n)+", output, re.MULTILINE)
    return [
        dict(re.findall(r"[ ,](\w+)=([^\s,]+)", job[job.index("resources:") :])) for job in jobs
    ]


@pytest.fixture(scope="module")
def paper():
    return dry_run("--config", "scale=paper", "ranks=8", "pairs=en-de", "rows=base,big")


@pytest.fixture(scope="module")
def on_gpus(paper):
    return requests_of("train", paper)


def test_a_training_asks_for_its_ranks_as_gpus_of_one_task(on_gpus):
    """Faults A20: no tasks, which the plugin would turn into --ntasks-per-gpu."""
    for asked in on_gpus:
        assert asked["gres"] == "gpu:8"
        assert not {"tasks", "tasks_per_gpu", "mpi"} & set(asked)
        assert asked["slurm_extra"] == "--signal=TERM@180"


def test_no_job_is_longer_than_the_profile_allows(on_gpus):
    minutes = sorted(int(asked["runtime"]) for asked in on_gpus)
    assert minutes[0] < minutes[1] == 1440  # base fits, big goes on in a next job


def test_a_step_that_runs_models_asks_for_a_gpu_no_longer_than_they_take(paper):
    """Of the pair's text, whose steps ask for hours, they have 3,000 sentences."""
    for rule, jobs in (("translate", 4), ("losses", 1), ("attention", 1)):
        found = requests_of(rule, paper)
        assert len(found) == jobs
        assert all(asked["gres"] == "gpu:1" for asked in found)
        assert all(15 < int(asked["runtime"]) < 30 for asked in found), rule
        assert all(6_000 < int(asked["mem_mb"]) < 8_000 for asked in found), rule


def test_on_several_nodes_each_gets_its_share():
    output = dry_run(
        "--default-resources", "training_nodes=2", "gpu_type=a100", "runtime_limit=600",
        "--config", "scale=paper", "ranks=8", "pairs=en-de", "rows=base",
    )  # fmt: skip
    asked, *_ = requests_of("train", output)
    assert (asked["nodes"], asked["gres"], asked["ranks"]) == ("2", "gpu:a100:4", "8")
    assert not asked.get("slurm_extra")  # srun kills its step on SIGTERM


def test_steps_that_share_a_job_fit_a_partition_of_an_hour_whatever_host_submits_them():
    """Snakemake asks for the sum of those that it takes to run one after another: with a single
    core, of all."""
    output = dry_run(
        "--forceall", "--default-resources", "runtime_limit=60",
        "--config", "scale=smoke", "pairs=en-de", "rows=base",
    )  # fmt: skip
    jobs = [
        (name, sorted(map(int, re.findall(r" runtime=(\d+)", steps))))
        for name, steps in re.findall(r"Group job (\S+) .*\n((?:\n|    .*\n)+)", output)
    ]
    assert sorted(name for name, _ in jobs) == 2 * ["evaluation.en-de.base.1"] + ["text.en-de"]
    assert all(16 < sum(minutes) <= 60 for _, minutes in jobs)
    project, cluster = load_project({"scale": "smoke"}), resources.Cluster(runtime_limit=60)
    assert dict(jobs)["text.en-de"] == sorted(resources.text_group(project, "en-de", cluster))


def test_on_cpu_nodes_no_gpu_is_asked_for():
    output = dry_run("--config", "scale=smoke", "device=cpu", "pairs=en-de", "rows=base")
    asked, *_ = requests_of("train", output)
    assert "gres" not in asked
    assert asked["tasks"] == "1"
