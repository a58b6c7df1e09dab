"""What Slurm says on bad days must not lose, double or falsely finish a job (faults A20).

The profile is the real one; Slurm's commands are stubs, so that this runs everywhere.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster import stub_slurm
from tests.conftest import ROOT

SNAKEFILE = """\
rule whole:
    output:
        "whole.txt",
    retries: 1
    shell:
        # Half of the output, then work that takes its time when first tried, and the rest.
        "echo started >> starts.txt; echo half > {output};"
        " test -e tried || {{ touch tried; sleep {config[seconds]}; }}; echo whole > {output}"
"""

# Answers of squeue, one after another (after 1 s, 12 s, ...), and the seconds that the job works.
SCENARIOS = {
    "no answer": (["-", *6 * ["fail"]], 2),
    "preempted": (["PREEMPTED", "PENDING", "-"], 2),
    "time limit": (["-", "TIMEOUT"], 60),
}


class Scenario:
    """A workflow that runs on the stub, in a folder of its own."""

    def __init__(self, folder: Path, answers: list[str], seconds: int) -> None:
        self.folder, self.state = folder, folder / "state"
        self.state.mkdir(parents=True)
        (folder / "Snakefile").write_text(SNAKEFILE)
        (self.state / "answers").write_text("\n".join(answers))
        self._install_stubs()
        self.environment = os.environ | {
            "STUB_SLURM": str(self.state),
            "PATH": f"{folder}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        command = ["snakemake", "--cores", "1", "--profile", str(ROOT / "slurm")]
        quick = ["--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "2"]
        self.process = subprocess.Popen(
            [*command, *quick, "--config", f"seconds={seconds}"],
            cwd=folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def _install_stubs(self) -> None:
        for command in stub_slurm.COMMANDS:
            program = self.folder / "bin" / command
            program.parent.mkdir(exist_ok=True)
            shutil.copy(stub_slurm.__file__, program)
            program.chmod(0o755)

    def output(self) -> str:
        """What Snakemake printed, once it has succeeded."""
        try:
            output, _ = self.process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            self.end()
            output = "Snakemake waits without end:\n" + self.process.communicate()[0]
        logs = "".join(log.read_text() for log in self.state.glob("*.log"))
        assert self.process.returncode == 0, output + logs
        return output

    def end(self) -> None:
        """Leave nothing running."""
        self.process.kill()
        subprocess.run(["scancel"], env=self.environment, check=False)


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory):
    """All scenarios at once: they mostly wait."""
    root = tmp_path_factory.mktemp("stub")
    running = {
        name: Scenario(root / name.replace(" ", "_"), *scenario)
        for name, scenario in SCENARIOS.items()
    }
    yield running
    for scenario in running.values():
        scenario.end()


def check_whole(scenario: Scenario, starts: int) -> None:
    assert (scenario.folder / "whole.txt").read_text() == "whole\n"
    assert (scenario.folder / "starts.txt").read_text() == starts * "started\n"


def test_a_controller_that_does_not_answer_for_a_while_loses_no_job(scenarios):
    """Faults A20: one round of failed queries, and the plugin forgets the job for ever."""
    scenarios["no answer"].output()
    check_whole(scenarios["no answer"], starts=1)


def test_a_preempted_job_that_runs_again_is_not_started_twice(scenarios):
    """Faults A20: PREEMPTED, then RUNNING: Slurm has started it again itself."""
    scenarios["preempted"].output()
    check_whole(scenarios["preempted"], starts=1)


def test_output_half_written_at_the_time_limit_is_done_again(scenarios):
    """Faults A20: TIMEOUT in the middle of writing is never success."""
    assert "SLURM status is: 'TIMEOUT'" in scenarios["time limit"].output()
    check_whole(scenarios["time limit"], starts=2)
