"""Memory: of the C library, and of GPUs that are too small for a micro-batch."""

import contextlib
import ctypes
from pathlib import Path

from aiayn.common.files import read_json, write_json
from aiayn.common.progress import log

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEEP = (1 << 31) - 1


def keep_freed_memory() -> None:
    """Have glibc keep the pages of freed tensors for the next step.

    By default it returns blocks over 32 MB to the system at once, and every step then pays for
    fresh zeroed pages: a tenth of a training step on CPUs. Elsewhere this does nothing.
    """
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        # Older versions refuse more than 32 MB, and setting either alone would do harm.
        if libc.mallopt(_M_MMAP_THRESHOLD, _KEEP):
            libc.mallopt(_M_TRIM_THRESHOLD, _KEEP)


def parts_of_micro_batches(checkpoints: Path) -> int:
    """Into how many parts each micro-batch is cut; more than 1 once memory ran out."""
    file = checkpoints / "memory.json"
    return int(read_json(file)["parts"]) if file.exists() else 1


def use_more_parts(checkpoints: Path, parts: int) -> None:
    """Remember to cut micro-batches twice as fine from the next start on."""
    write_json(checkpoints / "memory.json", {"parts": 2 * parts})
    log(f"out of memory with micro-batches in {parts} parts; from now on in {2 * parts}")
