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


def download(addresses: tuple[str, ...], part: Path, size: int | None, label: str) -> None:
    """Download into ``part``, going on after what it already holds.

    Args:
        addresses: ``http(s)://`` or ``file:``, tried in this order.
        part: File that grows; it stays when a transfer breaks off.
        size: Bytes of the whole file, when known.
        label: What to call it.

    Raises:
        UserError: no address gives the file, or the disk is full.
    """
    problems = []
    for address in addresses:
        try:
            _download_from(address, part, size, label)
            return
        except TransferError as error:
            problems.append(f"{address}: {error}")
            log(f"{label}: {problems[-1]}")
        except OSError as error:
            raise UserError(f"{part.parent}: {error.strerror or error}") from None
    raise UserError(f"{label}: could not be downloaded ({'; '.join(problems)})")


def _download_from(address: str, part: Path, size: int | None, label: str) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with _open(address, _size_of(part)) as source:
                _copy(source, part, size, label)
                return
        except _StaleError:
            part.unlink()
        except requests.RequestException as error:
            if attempt == ATTEMPTS:
                raise TransferError(_reason(error)) from None
            log(f"{label}: broke off after {_size_of(part):,} bytes ({_reason(error)}); going on")
            time.sleep(min(attempt, 5))


def _copy(source: _Source, part: Path, size: int | None, label: str) -> None:
    total = source.size or size
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
    if source.size is not None and _size_of(part) != source.size:
        raise requests.ConnectionError(f"got {_size_of(part):,} of {source.size:,} bytes")


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
    if response.status_code == 416:  # nothing lies after what we hold
        whole = content_range.rpartition("/")[2]
        if whole == str(held):
            return _Source(iter(()), held, held)
        raise _StaleError
    if not response.ok:
        raise TransferError(f"HTTP {response.status_code}")
    length = response.headers.get("Content-Length", "")
    size = int(length) if length.isdecimal() else None
    first = 0
    if response.status_code == 206 and content_range.startswith(f"bytes {held}-"):
        first = held
        size = None if size is None else held + size
    elif response.status_code == 206:
        raise TransferError(f"the server sent {content_range!r} for a range from {held}")
    return _Source(response.iter_content(PIECE_BYTES), first, size)


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
