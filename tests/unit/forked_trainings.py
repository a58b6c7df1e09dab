"""Trainings in processes that start at once: forked from a server that has loaded torch."""

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from aiayn.cli.main import main
from aiayn.training import Job
from tests.unit.training_fixtures import command

CONTEXT = multiprocessing.get_context("forkserver")
# torch loads the last when the first optimizer is made; that takes longer than a tiny training.
CONTEXT.set_forkserver_preload(["aiayn.cli.main", "aiayn.training", "torch._dynamo"])


def start(
    job: Job,
    log: Path = Path(os.devnull),
    before: Callable[..., None] | None = None,
    *given: object,
) -> multiprocessing.process.BaseProcess:
    """Start ``aiayn train`` as a process.

    Args:
        log: Takes its standard error.
        before: Called in the process with ``given`` before training (to break something).
    """
    process = CONTEXT.Process(target=_train, args=(command(job)[3:], log, before, given))
    process.start()
    return process


def finish(*arguments: object) -> int:
    """Run :func:`start` to its end and return the exit code."""
    process = start(*arguments)  # type: ignore[arg-type]
    process.join(timeout=120)
    assert process.exitcode is not None, "the training hangs"
    return process.exitcode


def kill_after(job: Job, seconds: float) -> bool:
    """Start a training and kill it; False when it had ended before."""
    process = start(job)
    time.sleep(seconds)
    process.kill()
    process.join()
    return process.exitcode != 0


def _train(
    arguments: list[str], log: Path, before: Callable[..., None] | None, given: tuple[object, ...]
) -> None:
    stream = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(stream, sys.stderr.fileno())
    if before:
        before(*given)
    sys.argv = ["aiayn", *arguments]
    main()
