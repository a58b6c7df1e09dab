"""Snakemake is killed while a training runs, which goes on without it (faults A16)."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cluster.conftest import CAUGHT_AFTER, wait_for
from tests.workflow.conftest import BIN, Checkout

pytestmark = pytest.mark.slow

RUN = Path("results/smoke/en-de/base/seed1")
TARGET = str(RUN / "trained.json")


@pytest.fixture
def orphaned(undisturbed, tmp_path):
    """A checkout, and the trainer whose Snakemake is dead; it holds still."""
    folder = tmp_path / "checkout"
    shutil.copytree(undisturbed.folder, folder, symlinks=True)
    shutil.rmtree(folder / RUN)
    snakemake = subprocess.Popen(
        [BIN / "snakemake", "--cores", "2", TARGET],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder / "src")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    checkpoints = folder / RUN / "checkpoints"
    wait_for("a checkpoint", (checkpoints / f"step-{CAUGHT_AFTER}").exists)
    snakemake.kill()
    trainer = int((checkpoints / "lock").read_text().split()[0])
    os.kill(trainer, signal.SIGSTOP)
    snakemake.wait()
    yield Checkout(folder), trainer
    with contextlib.suppress(ProcessLookupError):
        os.kill(trainer, signal.SIGKILL)


def test_no_second_trainer_starts_and_a_rerun_resumes(orphaned, undisturbed):
    """Faults A16: run again, with --rerun-incomplete, and once the first trainer has ended."""
    checkout, trainer = orphaned
    assert "locked" in checkout.snakemake(TARGET, check=False)
    checkout.run("snakemake", "--unlock")

    for options in ([], ["--rerun-incomplete"]):
        command = ["snakemake", "--cores", "2", *options, TARGET]
        assert checkout.run(*command, check=False).returncode == 1
        refused = f"another trainer is at work here (process {trainer} on "
        assert refused in checkout.logs()

    os.kill(trainer, signal.SIGKILL)
    wait_for("its end", lambda: not Path(f"/proc/{trainer}/exe").exists())
    checkout.snakemake("--rerun-incomplete", TARGET)
    assert re.search(r"resuming after step [2-5]0", checkout.logs())
    for file in ("last/model.safetensors", "valid.csv"):
        resumed, unbroken = (c.folder / RUN / file for c in (checkout, undisturbed))
        assert resumed.read_bytes() == unbroken.read_bytes(), file
