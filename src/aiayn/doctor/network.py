"""Whether the archives of a scale are here or can be fetched."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests

from aiayn.config.project import Project
from aiayn.doctor.finding import Finding, fail, ok, output_of

SECONDS = 10
AT_ONCE = 8
METHOD_NOT_ALLOWED = (405, 501)


def check_archives(project: Project, *, offline: bool) -> Iterator[Finding]:
    """One finding for those in place, one for each that is not.

    Args:
        offline: Ask no server.
    """
    catalogue, downloads = project.catalogue, Path(project.downloads)
    pairs = map(project.corpus_pair, project.settings.pairs)
    needed = {key for pair in pairs for key in pair.all_archives}
    here = {name for name in needed if (downloads / catalogue.archives[name].file).exists()}
    if here:
        yield ok(f"archives: {len(here)} of {len(needed)} in {downloads}/ (fetch --check verifies)")
    missing = sorted(needed - here)
    if offline and missing:
        yield ok(f"archives: {len(missing)} to be fetched; offline, so their hosts are not asked")
        return
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(lambda name: _check_archive(project, name), missing)


def _check_archive(project: Project, name: str) -> Finding:
    transport = project.catalogue.transport(name, project.settings.corpora_base)
    if transport.pip:
        return _check_index(name, transport.pip)
    problems = []
    for address in transport.addresses:
        problem = _problem_at(address)
        if problem is None:
            return ok(f"{name}: can be fetched from {address}")
        problems.append(f"{address} ({problem})")
    return fail(
        f"{name}: not at {', '.join(problems)}",
        "check the connection or proxy, or set corpora_base to a mirror",
    )


def _problem_at(address: str) -> str | None:
    if address.startswith("file:"):
        return None if Path(url2pathname(urlsplit(address).path)).is_file() else "no such file"
    try:
        answer = requests.head(address, timeout=SECONDS, allow_redirects=True)
        if answer.status_code in METHOD_NOT_ALLOWED:
            with requests.get(address, timeout=SECONDS, stream=True) as answer:
                pass
    except requests.RequestException as error:
        return type(error).__name__
    return None if answer.ok else f"HTTP {answer.status_code}"


def _check_index(name: str, requirement: str) -> Finding:
    """Whether pip's index, the user's own or the default one, has a package's version."""
    package, _, version = requirement.partition("==")
    command = [sys.executable, "-m", "pip", "index", "versions", package]
    options = ["--disable-pip-version-check", "--retries=0", f"--timeout={SECONDS}"]
    listed = output_of(*command, *options)
    if not listed.succeeded:
        return fail(
            f"{name}: pip: {listed.text}", "check the connection, or pip's index (pip config)"
        )
    if version not in listed.text.replace(",", " ").split():
        return fail(f"{name}: pip's index has no {requirement}", "use an index that has it")
    return ok(f"{name}: pip's index has {requirement}")
