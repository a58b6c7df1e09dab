"""Which SHA-256 an archive must have: the catalogue's, its mirror's, or the first download's.

Beside the archives lie two files in ``sha256sum``'s format:

* ``SHA256SUMS``: a copy of the mirror's (``corpora_base``), when it has one. Its sums stand in for
  the catalogue's, and the data are not the official ones.
* ``SHA256SUMS.lock``: archives whose sum nobody published, pinned by their first download and
  compared from then on.
"""

import fcntl
import shlex
from pathlib import Path
from typing import NamedTuple

from aiayn.common.errors import UserError
from aiayn.common.files import read_lines, sha256_of, write_text
from aiayn.config.catalogue import Archive

MIRROR_SUMS = "SHA256SUMS"
PINNED_SUMS = "SHA256SUMS.lock"


class ExpectedSum(NamedTuple):
    """The sum that an archive must have; None when nobody knows it yet."""

    sha256: str | None
    official: bool
    """Whether the archive is what the catalogue's host publishes, as far as is known."""


def parse_sums(lines: list[str], name: str) -> dict[str, str]:
    """Sums by path, from lines in the format of ``sha256sum``.

    Raises:
        UserError: a line is something else; the message names ``name`` and the line.
    """
    sums = {}
    for number, line in enumerate(lines, start=1):
        sha256, blanks, path = line.partition("  ")
        if not blanks or len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
            raise UserError(f"{name}, line {number}: expected a sha256, two blanks and a path")
        sums[path] = sha256
    return sums


def read_sums(path: Path) -> dict[str, str]:
    """Sums by path from a file; none when it is absent."""
    return parse_sums(list(read_lines(path)), str(path)) if path.exists() else {}


def expected_sum(archive: Archive, downloads: Path) -> ExpectedSum:
    """The sum that an archive in the folder of downloads must have."""
    mirror = read_sums(downloads / MIRROR_SUMS)
    if archive.path in mirror:
        sha256 = mirror[archive.path]
        return ExpectedSum(sha256, official=sha256 == archive.sha256)
    if archive.sha256:
        return ExpectedSum(archive.sha256, official=True)
    pinned = read_sums(downloads / PINNED_SUMS).get(archive.file)
    return ExpectedSum(pinned, official=not mirror)


def pin(archive: Archive, downloads: Path, sha256: str) -> None:
    """Record the sum of an archive that has no published one."""
    # Downloads run side by side; each adds its line.
    with (downloads / f".{PINNED_SUMS}.guard").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        sums = read_sums(downloads / PINNED_SUMS) | {archive.file: sha256}
        lines = [f"{value}  {path}\n" for path, value in sorted(sums.items())]
        write_text(downloads / PINNED_SUMS, "".join(lines))


def verify(name: str, archive: Archive, downloads: Path, corpora_base: str = "") -> bool:
    """Check an archive before it is used.

    Args:
        name, archive: The archive.
        downloads: Folder of the archives.
        corpora_base: The mirror that they come from; empty for the catalogue's hosts.

    Returns:
        Whether it is the official one.

    Raises:
        UserError: it is missing, or its sum is wrong; the message says what to do.
    """
    path = downloads / archive.file
    fetch = ["aiayn", "fetch", f"--archive={name}", f"--downloads={downloads}"]
    fetch += [f"--corpora-base={corpora_base}"] if corpora_base else []
    remedy = f"run: {shlex.join(fetch)}"
    if not path.exists():
        raise UserError(f"{path}: no such file; {remedy}")
    expected = expected_sum(archive, downloads)
    found = sha256_of(path)
    if expected.sha256 is None:
        raise UserError(f"{path}: its sha256 was never pinned; {remedy}")
    if found != expected.sha256:
        raise UserError(f"{path}: sha256 is {found}, expected {expected.sha256}; {remedy}")
    return expected.official
