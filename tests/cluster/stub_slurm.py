#!/usr/bin/env python3
"""Slurm's commands as far as Snakemake uses them, with answers that a real one gives on bad days.

Called by the name of a command. ``$STUB_SLURM`` is a folder: ``<job>.pid`` and ``<job>.exit`` of
each job, and ``answers``, one a line for the first calls of squeue:

    fail        exit with 1, as when the controller does not answer
    PREEMPTED   say so, whatever the job is doing; likewise other states
    TIMEOUT     end the running jobs like Slurm at their time limit, and say so
    -           the truth
"""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path


def sbatch(folder: Path, arguments: list[str]) -> None:
    """Start the wrapped command in the background; print the job's number."""
    wrapped = next(a for a in arguments if a.startswith("--wrap=")).removeprefix("--wrap=")
    job = 1 + len(list(folder.glob("*.pid")))
    script = f'({wrapped}) > "{folder}/{job}.log" 2>&1; echo $? > "{folder}/{job}.exit"'
    child = subprocess.Popen(
        ["sh", "-c", script],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    (folder / f"{job}.pid").write_text(str(child.pid))
    print(job)


def squeue(folder: Path, _: list[str]) -> None:
    """Print ``job|STATE`` of every job ever started."""
    answer = _next_answer(folder)
    if answer == "fail":
        sys.exit("slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
    for file in sorted(folder.glob("*.pid")):
        ended = file.with_suffix(".exit")
        if answer == "TIMEOUT" and not ended.exists():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(int(file.read_text()), signal.SIGKILL)
            ended.write_text(answer)
        print(f"{file.stem}|{_state(ended, answer)}")


def _next_answer(folder: Path) -> str:
    answers = (folder / "answers").read_text().split()
    (folder / "answers").write_text("\n".join(answers[1:]))
    return answers[0] if answers else "-"


def _state(ended: Path, answer: str) -> str:
    if ended.exists():
        status = ended.read_text().strip()
        return {"0": "COMPLETED", "TIMEOUT": "TIMEOUT"}.get(status, "FAILED")
    return "RUNNING" if answer == "-" else answer


def srun(_: Path, arguments: list[str]) -> None:
    """Become the command after the options."""
    first = next(i for i, argument in enumerate(arguments) if not argument.startswith("-"))
    os.execvp(arguments[first], arguments[first:])


def sinfo(_: Path, __: list[str]) -> None:
    """Print the default partition."""
    print("main*")


def scontrol(_: Path, __: list[str]) -> None:
    """Print the one line of the configuration that is looked for."""
    print("MinJobAge = 300 sec")


def scancel(folder: Path, _: list[str]) -> None:
    """End every job."""
    for file in folder.glob("*.pid"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(int(file.read_text()), signal.SIGKILL)


COMMANDS = {f.__name__: f for f in (sbatch, squeue, srun, sinfo, scontrol, scancel)}

if __name__ == "__main__":
    COMMANDS[Path(sys.argv[0]).name](Path(os.environ["STUB_SLURM"]), sys.argv[1:])
