"""Lines through worker processes: order kept, memory bounded, output the same for any number."""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from itertools import chain, islice
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from aiayn.common.errors import UserError
from aiayn.common.files import atomic_write
from aiayn.common.progress import Meter

Result = TypeVar("Result")

BLOCK_BYTES = 1 << 18
_BLOCKS_A_WORKER = 3
"""Blocks read ahead; they bound the memory."""


class Block(NamedTuple):
    """Consecutive lines of a file."""

    name: str
    """The file, for errors."""
    first: int
    """Number of the first line, from 1."""
    data: bytes
    """The lines, each but perhaps the file's last with its ``\\n``."""

    def lines(self) -> list[bytes]:
        """Lines without their ``\\n``, cut there alone."""
        return self.data.removesuffix(b"\n").split(b"\n")

    def text(self) -> str:
        """The lines in one piece.

        Raises:
            UserError: a line is not UTF-8; the message names file and line.
        """
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.first + self.data.count(b"\n", 0, error.start)
            raise UserError(f"{self.name}, line {line}: not UTF-8 ({error.reason})") from None


def read_blocks(path: Path | None, size: int | None = None) -> Iterator[Block]:
    """Blocks of whole lines of a file, or of standard input.

    Args:
        path: The file; standard input when None.
        size: Bytes of a block; ``BLOCK_BYTES`` when None.

    Raises:
        UserError: no such file.
    """
    try:
        source = nullcontext(sys.stdin.buffer) if path is None else path.open("rb")
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    first = 1
    with source as stream:
        # One piece of bytes goes to a worker much faster than thousands of lines.
        while data := stream.read(size or BLOCK_BYTES) + stream.readline():
            yield Block(str(path or "standard input"), first, data)
            first += data.count(b"\n")


def map_blocks(
    make_worker: Callable[[], Callable[[Block], Result]], blocks: Iterator[Block], workers: int
) -> Iterator[Result]:
    """Apply a function to blocks in ``workers`` processes; results come in order.

    Args:
        make_worker: Makes the function once in each process. It and what it is made of must be
            picklable; the function itself need not be.
        blocks: What to work on; only a few are read ahead.
        workers: Number of processes. One block, or one worker, stays in this process.

    Raises:
        UserError: a worker was killed; the message names the file and about where in it.
    """
    ahead = list(islice(blocks, 2))
    blocks = chain(ahead, blocks)
    if workers == 1 or len(ahead) < 2:
        worker = make_worker()
        yield from (_apply(worker, block) for block in blocks)
        return
    block = ahead[0]
    try:
        with ProcessPoolExecutor(workers, initializer=_start, initargs=(make_worker,)) as pool:
            submitted = ((block, pool.submit(_work, block)) for block in blocks)
            waiting = deque(islice(submitted, _BLOCKS_A_WORKER * workers))
            while waiting:
                block, future = waiting.popleft()
                result = future.result()
                waiting.extend(islice(submitted, 1))
                yield result
    except BrokenProcessPool:
        raise UserError(
            f"{block.name}, line {block.first} or after: a worker was killed, perhaps for want of "
            "memory; try fewer --workers"
        ) from None


def _apply(worker: Callable[[Block], Result], block: Block) -> Result:
    """Call a worker; should it fail on text nobody thought of, say where that is."""
    try:
        return worker(block)
    except UserError:
        raise
    except Exception as error:
        last = block.first + len(block.lines()) - 1
        error.add_note(f"in {block.name}, lines {block.first} to {last}")
        raise


_worker: Callable[[Block], Any]


def _start(make_worker: Callable[[], Callable[[Block], Any]]) -> None:
    global _worker
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = make_worker()


def _end_with_parent() -> None:
    # When the parent is killed outright, workers would wait for the next block for ever.
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _work(block: Block) -> Any:
    return _apply(_worker, block)


def rewrite_lines(
    make_worker: Callable[[], Callable[[Block], bytes]],
    source: Path | None,
    output: Path | None,
    *,
    workers: int,
    label: str,
    block_bytes: int | None = None,
) -> None:
    """Write what :func:`map_blocks` makes of a file, whole or not at all.

    Args:
        make_worker: Its functions return as many lines as their block has, each with ``\\n``.
        source: File to read; standard input when None.
        output: File to write; standard output when None.
        workers: Number of processes.
        label: Name of the step, shown with its progress.
        block_bytes: Bytes of a block; ``BLOCK_BYTES`` when None.
    """
    sink = nullcontext(sys.stdout.buffer) if output is None else atomic_write(output, "wb")
    with sink as stream, Meter(label, unit="lines") as meter:
        for lines in map_blocks(make_worker, read_blocks(source, block_bytes), workers):
            stream.write(lines)
            meter.advance(lines.count(b"\n"))
        stream.flush()
