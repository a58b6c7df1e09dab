"""Never two trainers in one run folder."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from aiayn.common.errors import UserError


@contextlib.contextmanager
def only_trainer(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; the kernel lets go of it when its owner dies.

    Raises:
        UserError: another trainer holds it; the message names the folder and the process.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a+", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.seek(0)
            owner = stream.read().strip() or "unknown"
            raise UserError(
                f"{folder}: another trainer is at work here (process {owner})"
            ) from None
        stream.truncate(0)
        stream.write(f"{os.getpid()} on {os.uname().nodename}\n")
        stream.flush()
        yield
