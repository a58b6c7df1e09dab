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
    """Wall-clock time of its commands, one after another."""
    cpu_seconds: float
    """Processor time of all their processes; other programs on the machine change it little."""
    peak_mb: float
    """Most memory of a command and its workers at a time, in MB (10^6 bytes)."""


def run_measured(commands: Sequence[list[str]]) -> Measured:
    """Run commands one after another; the highest peak of them counts.

    Raises:
        subprocess.CalledProcessError: a command failed.
    """
    started, cpu = time.perf_counter(), _cpu_seconds()
    peaks = [_peak_bytes(command) for command in commands]
    return Measured(time.perf_counter() - started, _cpu_seconds() - cpu, max(peaks) / 1e6)


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
