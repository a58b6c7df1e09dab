"""The machine under everything: disk, memory, write access, locale, git."""

import fcntl
import locale
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from aiayn.common.provenance import git_commit
from aiayn.config.plan import Plan
from aiayn.doctor.finding import Finding, fail, ok, warn

BESIDE_TRAINING = 2_000_000_000
"""Bytes that torch and the other steps want."""
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def check_disk(plan: Plan, results: Path) -> Finding:
    """Whether what the scale still has to write fits."""
    folder = _nearest(results)
    free = shutil.disk_usage(folder).free
    held = sum(
        path.stat().st_size
        for part in (results / plan.project.name, Path(plan.project.downloads))
        for path in part.rglob("*")
        if path.is_file() and not path.is_symlink()
    )
    missing = max(0, plan.disk_bytes - held)
    what = f"disk: {_gb(free)} free for results/, about {_gb(missing)} to be written"
    if free < missing:
        return fail(what, "free some, link results/ to a larger disk, or run fewer rows")
    return ok(what)


def check_memory(plan: Plan) -> Finding:
    """Whether a training of the largest model fits into this machine's memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if _CGROUP_LIMIT.exists() and (limit := _CGROUP_LIMIT.read_text().strip()).isdecimal():
        memory = min(memory, int(limit))
    needed = BESIDE_TRAINING + max(each.memory_bytes for each in plan.trainings)
    what = f"memory: {_gb(memory)}, about {_gb(needed)} needed by a training on the CPU"
    if memory < needed:
        return warn(what, "train on another machine, or run smaller rows")
    return ok(what)


def check_writing(folder: Path) -> Finding:
    """Whether files can be made and locked in a folder, or where it will be."""
    place = _nearest(folder)
    try:
        with tempfile.TemporaryFile(dir=place) as stream:
            stream.write(b"aiayn")
            stream.flush()
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except PermissionError:
        return fail(f"{folder}/: not writable", f"chown or chmod {place}")
    except OSError as error:
        return fail(
            f"{folder}/: {error.strerror}", "training needs a file system that has flock and space"
        )
    return ok(f"{folder}/: files can be written and locked")


def check_locale() -> Finding:
    """Whether other programs are told that text is UTF-8."""
    encoding = locale.getencoding()
    if encoding.replace("-", "").lower() != "utf8":
        return warn(f"locale: text is {encoding}", "export LC_ALL=C.UTF-8")
    return ok("locale: UTF-8")


def check_git() -> Finding:
    """Whether run.json can name the code."""
    if shutil.which("git") is None:
        return warn("git: not installed", "install it; run.json names the commit it was made with")
    commit = git_commit()
    if commit is None:
        return warn("git: no checkout here", "clone the repository; run.json names the commit")
    if commit.endswith("-dirty"):
        return warn("git: uncommitted changes", "commit them; run.json names the commit")
    return ok(f"git: commit {commit[:12]}")


def check_machine(plan: Plan, results: Path, reports: Path) -> Iterator[Finding]:
    """All of these."""
    yield check_disk(plan, results)
    yield check_memory(plan)
    yield check_writing(results)
    yield check_writing(reports)
    yield check_locale()
    yield check_git()


def _nearest(folder: Path) -> Path:
    """The folder, or the one in which it will be made."""
    while not folder.is_dir():
        folder = folder.parent
    return folder


def _gb(count: float) -> str:
    return f"{count / 1e9:,.1f} GB"
