"""Files that are whole or absent, and text whose lines end at ``\\n`` and nowhere else."""

import contextlib
import glob
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from aiayn.common.errors import UserError


@contextlib.contextmanager
def scratch(path: Path) -> Iterator[Path]:
    """A name beside ``path`` for a file or folder that is renamed to it, or needed for a while.

    What still has that name in the end is removed; so is, first of all, what killed processes left.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    for found in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        maker = found.name.removeprefix(f".{path.name}.").removesuffix(".tmp")
        if found == temporary or (maker.isdecimal() and not _lives(int(maker))):
            with contextlib.suppress(OSError):
                remove(found)
    try:
        yield temporary
    finally:
        with contextlib.suppress(OSError):
            remove(temporary)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)  # kills nothing, only asks
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # another user's; no number of a process
        pass
    return True


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it; nothing needs to be there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def errors_naming(path: Path) -> Iterator[None]:
    """Put ``path`` into an error that names no file: a write that finds the disk full does not."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def fsync_directory(directory: Path) -> None:
    """Make renames inside ``directory`` survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def atomic_write(path: Path | str, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file beside ``path`` and rename it over ``path`` on success.

    Args:
        path: The file to make; its folder is created when missing.
        mode: ``"w"`` for UTF-8 text with ``\\n`` line ends, ``"wb"`` for bytes.

    On any error the temporary file is removed and ``path`` stays as it was. What is no file, such
    as ``/dev/null``, ``/dev/stdout`` or a named pipe, is written to directly and stays what it is.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    text_options: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    with errors_naming(path):
        if _is_no_file(path):
            with path.open(mode, **text_options) as stream:
                yield stream
            return
        with scratch(path) as temporary:
            with temporary.open(mode, **text_options) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(path)
            fsync_directory(path.parent)


def _is_no_file(path: Path) -> bool:
    # /dev/stdout leads to /proc/self/fd/1, and from there to a file where the shell says so.
    link = str(path.readlink()) if path.is_symlink() else ""
    is_opened = link.startswith("/proc/") or path.parent.resolve().is_relative_to("/proc")
    return is_opened or (path.exists() and not path.is_file())


def write_text(path: Path | str, text: str) -> None:
    """Write ``text`` as UTF-8, whole or not at all."""
    with atomic_write(path) as stream:
        stream.write(text)


def write_json(path: Path | str, value: Any) -> None:
    """Write ``value`` as indented JSON, whole or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path | str) -> Any:
    """Read a JSON file.

    Raises:
        UserError: the file is missing or is not JSON; the message names it.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid JSON ({error})") from None


def open_lines(path: Path | str) -> IO[str]:
    """Open UTF-8 text so that iterating yields lines cut at ``\\n`` alone.

    Python's default also cuts at a lone CR; ``str.splitlines`` and ``codecs`` cut at U+2028 and
    five more characters. Either would shift one side of a parallel corpus against the other.
    """
    return Path(path).open(encoding="utf-8", newline="\n")


def read_lines(path: Path | str) -> Iterator[str]:
    """Yield the lines of a UTF-8 file without their ``\\n``.

    Raises:
        UserError: the file is missing, or a line is not UTF-8; the message names file and line.
    """
    number = 0
    try:
        with Path(path).open("rb") as stream:
            for number, line in enumerate(stream, start=1):  # noqa: B007 (the error names it)
                yield line.removesuffix(b"\n").decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}, line {number}: not UTF-8 ({error.reason})") from None
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None


def sha256_of(path: Path | str) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
