"""Python and the packages of requirements.lock."""

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from aiayn.common.files import read_lines
from aiayn.doctor.finding import Finding, fail, ok, warn

LOCK_FILE = "requirements.lock"
OLDEST_PYTHON = (3, 11)
SHOWN = 5
REMEDY = f"{sys.executable} -m pip install -r {LOCK_FILE}"


def check_python() -> Finding:
    """Whether Python is new enough."""
    what = f"python: {platform.python_version()}"
    if sys.version_info < OLDEST_PYTHON:
        return fail(what, "use Python 3.11 or newer")
    return ok(what)


def check_packages(root: Path) -> Finding:
    """Whether the packages are those of requirements.lock."""
    path = root / LOCK_FILE
    if not path.exists():
        return warn(f"packages: no {LOCK_FILE} here", "run this from the root of the checkout")
    pinned = dict(
        line.split("==", 1) for line in read_lines(path) if "==" in line and line[0] != "#"
    )
    found = {name: _installed(name) for name in pinned}
    missing = [name for name in pinned if found[name] is None]
    if missing:
        return fail(f"packages: {_some(missing)} not installed", REMEDY)
    other = [
        f"{name} {found[name]} instead of {pinned[name]}"
        for name in pinned
        if found[name] != pinned[name]
    ]
    if other:
        return warn(f"packages: {_some(other)}", REMEDY)
    return ok(f"packages: the {len(pinned)} of {LOCK_FILE}")


def check_environment(root: Path) -> Iterator[Finding]:
    """Both."""
    yield check_python()
    yield check_packages(root)


def _installed(name: str) -> str | None:
    """A package's version; ``2.13.0+cpu`` is a build of 2.13.0."""
    try:
        return version(name).partition("+")[0]
    except PackageNotFoundError:
        return None


def _some(names: list[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
