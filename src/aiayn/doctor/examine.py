"""All checks, in the order in which a run would meet what they find."""

from collections.abc import Iterator
from pathlib import Path

from aiayn.config.devices import CPU
from aiayn.config.plan import make_plan
from aiayn.config.project import Project
from aiayn.doctor.finding import Finding
from aiayn.doctor.gpus import check_gpus
from aiayn.doctor.machine import check_machine
from aiayn.doctor.network import check_archives
from aiayn.doctor.packages import check_environment
from aiayn.doctor.slurm import check_slurm


def examine(
    project: Project, *, offline: bool = False, root: Path = Path(), results: Path, reports: Path
) -> Iterator[Finding]:
    """Yield findings as they come.

    Args:
        project: What is to be run.
        offline: Ask no server for archives.
        root: The checkout.
        results, reports: Folders to be written.

    Raises:
        UserError: a file of the configuration is wrong.
    """
    plan = make_plan(project, device_name=CPU, gpus=1, root=root, results=results)
    yield from check_environment(root)
    yield from check_machine(plan, results, reports)
    yield from check_gpus(plan)
    yield from check_slurm(root)
    yield from check_archives(project, offline=offline)
