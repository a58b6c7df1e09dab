"""Slurm, if this machine belongs to a cluster, and the profile that submits to it."""

import getpass
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aiayn.config.yaml_files import read_yaml
from aiayn.doctor.finding import Finding, fail, ok, output_of, warn

PROFILE = "slurm/config.yaml"
COMMANDS = ("sbatch", "squeue", "sinfo", "scancel", "scontrol")


def check_slurm(root: Path) -> Iterator[Finding]:
    """Whether ``snakemake --profile slurm`` can submit and follow jobs."""
    missing = [name for name in COMMANDS if shutil.which(name) is None]
    if len(missing) == len(COMMANDS):
        yield ok("slurm: not on this machine; trainings run here")
        return
    if missing:
        yield fail(
            f"slurm: no {', '.join(missing)} here", "install slurm-client, or load its module"
        )
        return
    partitions = output_of("sinfo", "--noheader", "--format=%R")
    if not partitions.succeeded:
        yield warn(
            f"slurm: {partitions.text}", "no job can be submitted; ask whether the cluster is up"
        )
        return
    yield ok(f"slurm: partitions {', '.join(partitions.text.split())}")
    yield _check_queue()
    resources = profile_resources(root)
    yield _check_partition(resources.get("slurm_partition"), partitions.text.split())
    yield from _check_accounting(resources.get("slurm_account"), profile(root))


def profile(root: Path) -> dict[str, Any]:
    """slurm/config.yaml; empty when there is none.

    Raises:
        UserError: it is not YAML; the message names it.
    """
    path = root / PROFILE
    return read_yaml(path) if path.exists() else {}


def profile_resources(root: Path) -> dict[str, str]:
    """``default-resources`` of the profile, a mapping or a list of ``name=value``."""
    given = profile(root).get("default-resources") or {}
    if isinstance(given, list):
        given = dict(str(item).split("=", 1) for item in given if "=" in str(item))
    return {str(key): str(value).strip("\"'") for key, value in given.items()}


def _check_queue() -> Finding:
    queue = output_of("squeue", "--noheader", "--me")
    if not queue.succeeded:
        return fail(f"slurm: {queue.text}", "ask whether the controller is up")
    jobs = len(queue.text.split("\n")) if queue.text else 0
    return ok(f"slurm: squeue answers, {jobs} jobs of yours")


def _check_partition(name: str | None, known: list[str]) -> Finding:
    if name is None:
        return ok(f"partition: none in {PROFILE}; the cluster's default")
    if name not in known:
        return fail(
            f"partition: no {name!r} on this cluster",
            f"set slurm_partition in {PROFILE} to one of: {', '.join(known)}",
        )
    return ok(f"partition: {name}")


def _check_accounting(account: str | None, profile: dict[str, Any]) -> Iterator[Finding]:
    if not _accounting_is_on():
        yield _without_accounting(account, str(profile.get("slurm-status-command", "sacct")))
        return
    yield ok("accounting: on")
    if account is None:
        yield ok(f"account: none in {PROFILE}; your default")
        return
    mine = output_of(
        "sacctmgr", "--noheader", "--parsable2", "show", "associations",
        f"user={getpass.getuser()}", "format=account",
    )  # fmt: skip
    if not mine.succeeded:
        yield warn(f"account: {mine.text}", f"ask whether {account!r} is yours")
    elif account not in mine.text.split():
        yours = ", ".join(sorted(set(mine.text.split()))) or "none"
        yield fail(
            f"account: {account!r} is not yours", f"set slurm_account in {PROFILE} to: {yours}"
        )
    else:
        yield ok(f"account: {account}")


def _accounting_is_on() -> bool:
    settings = output_of("scontrol", "show", "config").text
    storage = [line for line in settings.split("\n") if "AccountingStorageType" in line]
    return bool(storage) and not storage[0].rstrip().endswith(("/none", "(null)", "="))


def _without_accounting(account: str | None, status_command: str) -> Finding:
    what = "accounting: off"
    if status_command != "squeue":
        return fail(what, f"set slurm-status-command: squeue in {PROFILE}, or runs wait for ever")
    if account is not None:
        return warn(what, f"slurm_account in {PROFILE} has no effect")
    return ok(f"{what}; jobs are followed with squeue")
