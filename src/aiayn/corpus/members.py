"""Lines out of files and archives, streamed: plain, gzip, gzip inside tar, SGML.

Nothing is unpacked to a path.
"""

import gzip
import html
import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, cast

from aiayn.common.errors import UserError

_SEGMENT = re.compile(r"<seg\b[^>]*>(.*)</seg>")
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|\w+);")


@contextmanager
def _naming(archive: Path) -> Iterator[None]:
    """Turn the errors of a broken archive into one line that names it."""
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"{archive}: no such file; fetch it first") from None
    except (OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile) as error:
        raise UserError(f"{archive}: broken archive ({error})") from None


def gzip_lines(archive: Path) -> Iterator[bytes]:
    """Lines of a gzip file, each with its ``\\n``.

    Raises:
        UserError: the file is missing or broken.
    """
    with _naming(archive), gzip.open(archive) as stream:
        yield from stream


def file_lines(path: Path) -> Iterator[bytes]:
    """Lines of a file that is in no archive, each with its ``\\n``; ``.gz`` is gunzipped.

    Raises:
        UserError: the file is missing or cannot be read.
    """
    if path.suffix == ".gz":
        yield from gzip_lines(path)
        return
    try:
        with path.open("rb") as stream:
            yield from stream
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or str(error)).lower()}") from None


def tar_lines(archive: Path, member: str) -> Iterator[bytes]:
    """Lines of one member of a tar archive, compressed or not; ``.gz`` members are gunzipped.

    Raises:
        UserError: the archive is missing or broken, or the member is missing or no plain file.
    """
    with _naming(archive), ExitStack() as stack:
        tar = stack.enter_context(tarfile.open(archive, "r|*"))
        stream: IO[bytes] = stack.enter_context(_find(tar, archive, member))
        if member.endswith(".gz"):
            stream = stack.enter_context(cast(IO[bytes], gzip.GzipFile(fileobj=stream)))
        yield from stream


def _find(tar: tarfile.TarFile, archive: Path, member: str) -> IO[bytes]:
    for entry in tar:
        if entry.name.removeprefix("./") == member:
            # A link could lead anywhere, a device or pipe could block.
            stream = tar.extractfile(entry) if entry.isreg() else None
            if stream is None:
                raise UserError(f"{archive}: member {member!r} is not a plain file")
            return io.BufferedReader(cast(io.RawIOBase, stream), 1 << 18)
    raise UserError(f"{archive}: no member {member!r}")


def sgml_lines(lines: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Text of each ``<seg>`` of an SGML test set, entities unescaped.

    The files are not always well-formed XML, so they are read line by line.

    Args:
        lines: The file; a segment lies on one line.
        name: The file, for errors.

    Raises:
        UserError: a line is not UTF-8, or a segment does not end on its line.
    """
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UserError(f"{name}, line {number}: not UTF-8 ({error.reason})") from None
        if match := _SEGMENT.search(text):
            segment = _ENTITY.sub(lambda entity: html.unescape(entity[0]), match[1])
            yield segment.replace("\n", " ").strip().encode("utf-8") + b"\n"
        elif "<seg" in text:
            raise UserError(f"{name}, line {number}: <seg> without </seg> on the same line")


def unzip_member(archive: Path, member: str, output: IO[bytes]) -> None:
    """Copy one member of a zip archive (a wheel) to an open file, in pieces.

    Raises:
        UserError: the archive is missing or broken, or has no such member.
    """
    with _naming(archive), zipfile.ZipFile(archive) as wheel:
        if member not in wheel.namelist():
            raise UserError(f"{archive}: no member {member!r}")
        with wheel.open(member) as stream:
            while piece := stream.read(1 << 20):
                output.write(piece)
