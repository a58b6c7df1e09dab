"""``aiayn plan``: what the trainings of a scale cost, before any is started.

Example:
    aiayn plan --scale paper --device A100 --gpus 8 --budget 150

Prints, for every training, parameters, operations, GPU-hours, hours on so many GPUs and disk, and
the totals; below, the paper's own estimate beside our count. With ``--budget`` it proposes which
rows to run. Writes nothing; reads config/ and, for measured speeds, ``results/<scale>``.
"""

import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from aiayn.cli.options import Pairs, Rehearsal, Rows, Scale, Seeds, SettingsText


class Format(StrEnum):
    """How to print."""

    TABLE = "table"
    MARKDOWN = "md"
    JSON = "json"
    CSV = "csv"


def plan(
    scale: Scale = None,
    pairs: Pairs = None,
    rows: Rows = None,
    seeds: Seeds = None,
    rehearsal: Rehearsal = False,
    settings: SettingsText = "",
    device: Annotated[
        str | None, typer.Option(help="Of config/devices.yaml; A100, or cpu as in config.yaml.")
    ] = None,
    gpus: Annotated[
        int | None, typer.Option(min=1, help="GPUs of each training; config.yaml's ranks.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=0, help="GPU-hours; propose rows within them.")
    ] = None,
    tflops: Annotated[
        float | None, typer.Option(min=1e-6, help="Sustained TFLOP/s of one device.")
    ] = None,
    format: Annotated[
        Format | None, typer.Option(help="How to print; table on a terminal, else md.")
    ] = None,
    results: Annotated[Path, typer.Option(help="Folder of results.")] = Path("results"),
) -> None:
    """Say what the trainings of a scale cost."""
    from aiayn.cli.options import configured_project
    from aiayn.config.budget import propose
    from aiayn.config.plan import make_plan
    from aiayn.reporting import plan as page

    project = configured_project(scale, pairs, rows, seeds, rehearsal, settings)
    made = make_plan(
        project,
        device_name=device or ("cpu" if project.settings.device == "cpu" else "A100"),
        gpus=gpus or project.settings.ranks,
        tflops=tflops,
        results=results,
    )
    proposal = None if budget is None else propose(made, budget)
    format = format or (Format.TABLE if sys.stdout.isatty() else Format.MARKDOWN)
    printers: dict[Format, Callable[[], str]] = {
        Format.TABLE: lambda: page.plan_terminal(made, proposal),
        Format.MARKDOWN: lambda: page.plan_markdown(made, proposal),
        Format.JSON: lambda: page.plan_json(made, proposal),
        Format.CSV: lambda: page.plan_csv(made),
    }
    typer.echo(printers[format](), nl=False)
