"""Whether an archive is whole, where no published sum says so: it is read to its end."""

import bz2
import gzip
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from aiayn.common.progress import Meter

_PIECE_BYTES = 1 << 20
_TAR_END = bytes(1024)
"""Two blocks of zeros end a tar archive."""
_COMPRESSED: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": gzip.open,
    ".tgz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile)


def flaw(path: Path, name: str) -> str | None:
    """What keeps an archive from being read to its end; None when nothing does.

    Args:
        path: The file.
        name: What it is called in the end; its suffix says how it is packed. A file with another
            suffix than those of archives is only looked at for being empty.
    """
    size = path.stat().st_size
    if not size:
        return "the file is empty"
    try:
        with path.open("rb") as stream, Meter(f"read {name}", total=size, unit="bytes") as meter:
            for _ in _reading(stream, Path(name).suffix):
                meter.advance(stream.tell() - meter.done)
    except _BROKEN as error:
        return f"the archive is not whole ({error})"
    return None


def _reading(stream: IO[bytes], suffix: str) -> Iterator[None]:
    """Read an archive piece by piece, verifying its checksums where it has some."""
    if suffix in _COMPRESSED:
        with _COMPRESSED[suffix](stream) as unpacked:
            while unpacked.read(_PIECE_BYTES):
                yield
    elif suffix in (".zip", ".whl"):
        with zipfile.ZipFile(stream) as archive:
            for entry in archive.infolist():
                with archive.open(entry) as member:
                    while member.read(_PIECE_BYTES):
                        yield
    elif suffix == ".tar":
        with tarfile.open(fileobj=stream, mode="r:") as tar:
            while tar.next():
                tar.members.clear()  # type: ignore[attr-defined]  # or it would remember each
                yield
        stream.seek(-len(_TAR_END), os.SEEK_END)
        if stream.read() != _TAR_END:
            raise EOFError("its end is missing")
