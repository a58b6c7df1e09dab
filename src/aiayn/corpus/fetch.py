"""Archives in place and verified: a wrong or truncated one is set aside and fetched again."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from aiayn.common.errors import UserError
from aiayn.common.files import fsync_directory, scratch, sha256_of, write_text
from aiayn.common.progress import log
from aiayn.config.catalogue import Archive, Catalogue
from aiayn.corpus.sums import MIRROR_SUMS, expected_sum, parse_sums, pin
from aiayn.corpus.transfer import TransferError, download, pip_download, read_text
from aiayn.corpus.whole import flaw


class Status(NamedTuple):
    """What lies in an archive's place."""

    state: str
    """``present``, ``missing`` or ``wrong``."""
    note: str


def needed_archives(catalogue: Catalogue, corpus: str, pair: str | None) -> tuple[str, ...]:
    """Archives of a corpus, for one language pair or for all.

    Raises:
        UserError: no such corpus or pair.
    """
    if corpus not in catalogue.corpora:
        known = ", ".join(catalogue.corpora)
        raise UserError(f"--corpus: no corpus {corpus!r}; there are: {known}")
    pairs = catalogue.corpora[corpus].pairs
    if pair is not None and pair not in pairs:
        raise UserError(f"--pair: {corpus} has no {pair!r}; it has: {', '.join(pairs)}")
    chosen = pairs.values() if pair is None else [pairs[pair]]
    return tuple(dict.fromkeys(key for each in chosen for key in each.all_archives))


def check(catalogue: Catalogue, names: Sequence[str], downloads: Path) -> dict[str, Status]:
    """Say what lies in the archives' places, without downloading.

    Raises:
        UserError: no such archive.
    """
    for name in names:
        if name not in catalogue.archives:
            known = ", ".join(catalogue.archives)
            raise UserError(f"--archive: no archive {name!r}; there are: {known}")
    return {name: _status(catalogue.archives[name], downloads) for name in names}


def _status(archive: Archive, downloads: Path) -> Status:
    path = downloads / archive.file
    if not path.exists():
        return Status("missing", "")
    expected, found = expected_sum(archive, downloads), sha256_of(path)
    if expected.sha256 is None:
        return Status("wrong", "its sha256 was never pinned")
    if found != expected.sha256:
        return Status("wrong", f"sha256 is {found}, expected {expected.sha256}")
    return Status("present", "" if expected.official else "not the official data")


def fetch(
    catalogue: Catalogue, names: Sequence[str], downloads: Path, corpora_base: str = ""
) -> None:
    """Put archives in place; those that are there and right stay as they are.

    Args:
        catalogue: The catalogue.
        names: Keys of archives.
        downloads: Folder to put them in.
        corpora_base: Address that replaces their hosts; empty for the real ones.

    Raises:
        UserError: an archive cannot be had, or is wrong twice.
    """
    if corpora_base and not corpora_base.startswith(("http://", "https://", "file:")):
        raise UserError(f"corpora_base: {corpora_base!r} is no http(s):// or file: address")
    if not corpora_base and (downloads / MIRROR_SUMS).exists():
        raise UserError(
            f"{downloads} holds the archives of a mirror, see {MIRROR_SUMS} there; "
            "give corpora_base, or another folder of downloads"
        )
    missing = []
    for name, status in check(catalogue, names, downloads).items():
        if status.state == "present":
            log(f"{name}: in place and verified")
        else:
            missing.append(name)
    if missing:
        downloads.mkdir(parents=True, exist_ok=True)
        if corpora_base and any(catalogue.archives[name].host for name in missing):
            _copy_mirror_sums(corpora_base, downloads)
        for name in missing:
            _fetch_one(catalogue, name, downloads, corpora_base)


def _copy_mirror_sums(corpora_base: str, downloads: Path) -> None:
    try:
        text = read_text(f"{corpora_base.rstrip('/')}/{MIRROR_SUMS}")
    except TransferError as error:
        raise UserError(f"corpora_base: {corpora_base}: {error}") from None
    if text is None:
        return
    parse_sums(text.rstrip("\n").split("\n"), f"{corpora_base}/{MIRROR_SUMS}")
    write_text(downloads / MIRROR_SUMS, text)
    log(f"{corpora_base} has its own {MIRROR_SUMS}: these are not the official data")


def _fetch_one(catalogue: Catalogue, name: str, downloads: Path, corpora_base: str) -> None:
    archive = catalogue.archives[name]
    final = downloads / archive.file
    final.parent.mkdir(parents=True, exist_ok=True)
    if final.exists():  # unpinned or wrong
        problem = _accept(name, archive, downloads, final)
        if problem is None:
            return
        _set_aside(name, final, final, problem)
    for last in (False, True):
        part = _transfer(catalogue, name, downloads, corpora_base)
        problem = _accept(name, archive, downloads, part)
        if problem is None:
            part.replace(final)
            fsync_directory(final.parent)
            return
        _set_aside(name, part, final, problem)
        if last:
            raise UserError(f"{name}: wrong again after a second download: {problem}")


def _transfer(catalogue: Catalogue, name: str, downloads: Path, corpora_base: str) -> Path:
    """Download to a file beside the final one."""
    archive = catalogue.archives[name]
    final = downloads / archive.file
    part = final.with_name(f"{final.name}.part")
    transport = catalogue.transport(name, corpora_base)
    expected = expected_sum(archive, downloads)
    if transport.pip:
        with scratch(part) as folder:
            folder.mkdir()
            pip_download(transport.pip, expected.sha256, folder).replace(part)
    else:
        size = archive.bytes if expected.sha256 == archive.sha256 else None
        download(transport.addresses, part, size, name, go_on=expected.sha256 is not None)
    return part


def _accept(name: str, archive: Archive, downloads: Path, path: Path) -> str | None:
    """What is wrong with a file; None when it is right, or pinned as the first of its kind."""
    expected = expected_sum(archive, downloads).sha256
    if expected is None and (problem := flaw(path, archive.file)):
        return problem
    found = sha256_of(path)
    if expected is None:
        pin(archive, downloads, found)
        log(f"{name}: no published sha256; pinned {found}")
        return None
    if found == expected:
        log(f"{name}: {path.stat().st_size:,} bytes, sha256 verified")
        return None
    return f"sha256 is {found}, expected {expected}, {path.stat().st_size:,} bytes"


def _set_aside(name: str, path: Path, final: Path, problem: str) -> None:
    aside = final.with_name(f"{final.name}.wrong")
    path.replace(aside)
    log(f"{name}: {problem}; set aside as {aside}")
