"""Starting the ranks of a training on one machine and on several."""

import os
import subprocess
import sys

import pytest

from aiayn.cli.launch import launch, note_end_of_job, srun_command
from aiayn.common.errors import UserError
from tests.unit.training_fixtures import command, make_job, run, weights, write_corpus

# Stands in for two machines: each gets its own torchrun, at the same time.
SRUN = f"""#!{sys.executable}
import subprocess, sys
options = [a for a in sys.argv[1:] if a.startswith("-")]
first = next(i for i, a in enumerate(sys.argv) if i and not a.startswith("-"))
assert "--nodes=2" in options and "--ntasks-per-node=1" in options, options
launchers = [subprocess.Popen(sys.argv[first:]) for _ in range(2)]
sys.exit(max(launcher.wait() for launcher in launchers))
"""


def program(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def in_a_job(monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "12345")
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "16")


def test_on_several_machines_srun_starts_one_launcher_on_each(in_a_job):
    words = srun_command(16, 2, ["aiayn", "train"])
    torchrun = words.index(sys.executable)
    assert words[0] == "srun"
    assert {"--nodes=2", "--ntasks=2", "--cpus-per-task=16"} < set(words[:torchrun])
    assert {"--nnodes=2", "--nproc-per-node=8", "--rdzv-id=12345"} < set(words[torchrun:])
    assert words[-3:] == ["-m", "aiayn", "train"]


def test_two_jobs_on_the_same_machines_meet_at_different_ports(in_a_job, monkeypatch):
    one = srun_command(2, 2, [])
    monkeypatch.setenv("SLURM_JOB_ID", "12346")
    assert set(srun_command(2, 2, [])) - set(one) == {
        next(a for a in srun_command(2, 2, []) if a.startswith("--rdzv-endpoint")),
        "--rdzv-id=12346",
    }


def test_ranks_that_cannot_be_shared_evenly_are_one_line(in_a_job):
    with pytest.raises(UserError, match=r"--ranks 3 cannot be shared evenly among --nodes 2"):
        launch(3, 2, [])


def test_several_machines_without_a_slurm_job_are_one_line(monkeypatch):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    with pytest.raises(UserError, match="inside a Slurm job only"):
        launch(2, 2, [])


@pytest.mark.parametrize(
    ("answer", "end"),
    [("1970-01-02T00:00:00+00:00", "86400.0"), ("NONE", None), ("", None)],
)
def test_the_end_of_the_job_is_asked_for_where_slurm_does_not_tell(
    in_a_job, monkeypatch, tmp_path, answer, end
):
    monkeypatch.setenv("SLURM_JOB_END_TIME", "unset after the test")
    monkeypatch.delenv("SLURM_JOB_END_TIME")
    program(tmp_path / "squeue", f"#!/bin/sh\n[ $2 = --jobs=12345 ] && echo '{answer}'\n")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    note_end_of_job()
    assert os.environ.get("SLURM_JOB_END_TIME") == end


@pytest.mark.slow
def test_two_launchers_train_what_one_trains(tmp_path):
    """Rendezvous of two torchruns; the weights are those of two ranks of one torchrun."""
    text = write_corpus(tmp_path / "text")
    together, apart = make_job(text, tmp_path / "together"), make_job(text, tmp_path / "apart")
    assert run(together, 2).returncode == 0
    program(tmp_path / "bin/srun", SRUN)
    environment = os.environ | {
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "SLURM_JOB_ID": str(os.getpid()),
    }
    done = subprocess.run(
        [*command(apart, 2), "--nodes", "2"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "2 x cpu" in done.stderr
    assert weights(apart) == weights(together)
