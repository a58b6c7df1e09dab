"""``aiayn doctor``: is this machine ready for a scale?

Example:
    aiayn doctor --scale paper --pairs en-de

Looks at Python and packages, disk, memory, write access, locale, git, GPUs and NCCL, Slurm, and
whether archives can be fetched. Prints ``ok``, ``warn`` or ``fail``, one line each, with what to
do, and writes nothing. Exits with 1 when something fails.
"""

from pathlib import Path
from typing import Annotated

import typer

from aiayn.cli.options import Pairs, Rehearsal, Rows, Scale, Seeds, SettingsText


def doctor(
    scale: Scale = None,
    pairs: Pairs = None,
    rows: Rows = None,
    seeds: Seeds = None,
    rehearsal: Rehearsal = False,
    settings: SettingsText = "",
    offline: Annotated[bool, typer.Option("--offline", help="Ask no server.")] = False,
    results: Annotated[Path, typer.Option(help="Folder of results.")] = Path("results"),
    reports: Annotated[Path, typer.Option(help="Folder of reports.")] = Path("reports"),
) -> None:
    """Look whether this machine is ready for a scale."""
    from aiayn.cli.options import configured_project
    from aiayn.doctor import State, examine

    project = configured_project(scale, pairs, rows, seeds, rehearsal, settings)
    failed = False
    for finding in examine(project, offline=offline, results=results, reports=reports):
        typer.echo(str(finding))
        failed |= finding.state == State.FAIL
    raise typer.Exit(1 if failed else 0)
