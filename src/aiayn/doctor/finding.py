"""What a check found."""

import subprocess
from enum import StrEnum
from typing import NamedTuple

COMMAND_SECONDS = 15
"""A cluster's commands hang when their server is gone."""


class State(StrEnum):
    """``fail`` stops a run; ``warn`` may."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Finding(NamedTuple):
    """One line of ``aiayn doctor``."""

    state: State
    what: str
    """The thing looked at, and how it is."""
    remedy: str = ""
    """What to do; empty when it is well."""

    def __str__(self) -> str:
        line = f"{self.state:4} {self.what}"
        return f"{line}: {self.remedy}" if self.remedy else line


def ok(what: str) -> Finding:
    """All is well."""
    return Finding(State.OK, what)


def warn(what: str, remedy: str) -> Finding:
    """It may do harm."""
    return Finding(State.WARN, what, remedy)


def fail(what: str, remedy: str) -> Finding:
    """It will do harm."""
    return Finding(State.FAIL, what, remedy)


class Output(NamedTuple):
    """What a command printed."""

    succeeded: bool
    text: str
    """Standard output; of a command that failed, its last line of error."""


def output_of(*command: str) -> Output:
    """Run a command of the machine, for a few seconds at most."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=COMMAND_SECONDS
        )
    except subprocess.TimeoutExpired:
        return Output(False, f"no answer within {COMMAND_SECONDS} seconds")
    except OSError as error:
        return Output(False, error.strerror or str(error))
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or "no output").split("\n")
        return Output(False, lines[-1])
    return Output(True, done.stdout.strip())
