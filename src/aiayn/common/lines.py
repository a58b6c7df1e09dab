"""Lines from a file or standard input, lines to a file or standard output."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from aiayn.common.errors import UserError
from aiayn.common.files import atomic_write, read_lines


def input_lines(path: Path | None) -> Iterator[str]:
    """Lines of UTF-8 text, cut at ``\\n`` alone, from ``path`` or standard input.

    Raises:
        UserError: the file is missing or a line is not UTF-8; the message names file and line.
    """
    if path is not None:
        yield from read_lines(path)
        return
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            yield line.removesuffix(b"\n").decode("utf-8")
        except UnicodeDecodeError as error:
            raise UserError(f"standard input, line {number}: not UTF-8 ({error.reason})") from None


@contextlib.contextmanager
def output_lines(path: Path | None) -> Iterator[Callable[[str], object]]:
    """A function that writes a line to ``path``, whole or not at all, or to standard output."""
    if path is None:
        yield lambda line: _write_bytes(line)
        sys.stdout.buffer.flush()
        return
    with atomic_write(path) as stream:
        yield lambda line: stream.write(f"{line}\n")


def _write_bytes(line: str) -> None:
    sys.stdout.buffer.write(f"{line}\n".encode())
