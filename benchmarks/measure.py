"""Commands with their time and the peak memory of all their processes together.

psutil comes with snakemake and dvc.
"""

import contextlib
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

import psutil

SECONDS_BETWEEN_SAMPLES = 0.1


class Measured(NamedTuple):
    """What a step took."""

    seconds: float
    """Wall-clock time of its commands, one after another, in the fastest of the rounds."""
    cpu_seconds: float
    """Processor time of all their processes, the least of the rounds."""
    peak_mb: float
    """Most memory of a command and its workers at a time, in MB (10^6 bytes)."""


def measure_in_turn(choices: Sequence[Sequence[list[str]]], rounds: int) -> list[Measured]:
    """Time each choice of commands in every round; then run each again for its peak of memory.

    The least of the rounds counts: what else a machine does, its host included, only adds to it.
    Memory has a run to itself: looking at it stops a process for as long as it takes, and takes a
    twelfth of a core, which one worker leaves free on two cores and two workers do not.

    Raises:
        subprocess.CalledProcessError: a command failed.
    """
    timed = [[_time(commands) for commands in choices] for _ in range(rounds)]
    measured = []
    for commands, runs in zip(choices, zip(*timed, strict=True), strict=True):
        seconds, cpu_seconds = (min(times) for times in zip(*runs, strict=True))
        peak = max(map(_peak_bytes, commands))
        measured.append(Measured(seconds, cpu_seconds, peak / 1e6))
    return measured


def _time(commands: Sequence[list[str]]) -> tuple[float, float]:
    started, cpu = time.perf_counter(), _cpu_seconds()
    for command in commands:
        subprocess.run(command, stdout=sys.stderr, check=True)
    return time.perf_counter() - started, _cpu_seconds() - cpu


def _cpu_seconds() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


def _peak_bytes(command: list[str]) -> int:
    process = subprocess.Popen(command, stdout=sys.stderr)
    ended = threading.Event()
    peaks = [0]

    def sample() -> None:
        tree = psutil.Process(process.pid)
        while not ended.wait(SECONDS_BETWEEN_SAMPLES):
            peaks.append(_held_bytes(tree))

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        code = process.wait()
    finally:
        ended.set()
        sampler.join()
    if code:
        raise subprocess.CalledProcessError(code, command)
    return max(peaks)


def _held_bytes(tree: psutil.Process) -> int:
    """Memory of a process and its descendants; pages that several share count once (PSS)."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        for process in (tree, *tree.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                total += process.memory_full_info().pss
    return total
