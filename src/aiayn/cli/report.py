"""``aiayn report``: tables, figures and pages of a scale, from its results.

Example:
    aiayn report --scale demo

Reads ``results/<scale>`` and config/, writes ``reports/<scale>``: ``index.md``, ``table2`` and
``table3`` as ``.md``, ``.csv`` and ``.tex``, ``figures/*.{png,svg}``, ``claims.md``,
``bleu.md``, ``deviations.md``, ``samples.md``, ``data.md``, ``provenance.md``, ``runs/*.json``,
``metrics.json``, ``curves.csv``.
"""

from pathlib import Path
from typing import Annotated

import typer

from aiayn.cli.options import Pairs, Rehearsal, Rows, Scale, Seeds, SettingsText


def report(
    scale: Scale = None,
    pairs: Pairs = None,
    rows: Rows = None,
    seeds: Seeds = None,
    rehearsal: Rehearsal = False,
    settings: SettingsText = "",
    results: Annotated[Path, typer.Option(help="Folder of results.")] = Path("results"),
    reports: Annotated[Path, typer.Option(help="Folder of reports.")] = Path("reports"),
) -> None:
    """Rebuild the tables, figures and pages of a scale."""
    from aiayn.cli.options import configured_project
    from aiayn.reporting.report import write_report

    project = configured_project(scale, pairs, rows, seeds, rehearsal, settings)
    folder = write_report(project, root=Path(), results=results, reports=reports)
    typer.echo(f"{folder / 'index.md'}", err=True)
