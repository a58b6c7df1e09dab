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


def report(
    scale: Annotated[str | None, typer.Option(help="Scale; config.yaml's when absent.")] = None,
    pairs: Annotated[str | None, typer.Option(help="Pairs, with commas; likewise.")] = None,
    rows: Annotated[str | None, typer.Option(help="Rows, with commas; likewise.")] = None,
    seeds: Annotated[str | None, typer.Option(help="Seeds, with commas; likewise.")] = None,
    rehearsal: Annotated[bool, typer.Option(help="The scale's rehearsal.")] = False,
    settings: Annotated[str, typer.Option(help="Keys of config.yaml: {key: value}.")] = "",
    results: Annotated[Path, typer.Option(help="Folder of results.")] = Path("results"),
    reports: Annotated[Path, typer.Option(help="Folder of reports.")] = Path("reports"),
) -> None:
    """Rebuild the tables, figures and pages of a scale."""
    from aiayn.common.errors import UserError
    from aiayn.config import load_project
    from aiayn.config.yaml_files import parse_yaml
    from aiayn.reporting.report import write_report

    overrides = parse_yaml(settings, "--settings") or {}
    if not isinstance(overrides, dict):
        raise UserError(f"--settings: expected {{key: value}}, found {settings!r}")
    given = {"scale": scale, "pairs": pairs, "rows": rows, "seeds": seeds}
    overrides |= {key: value for key, value in given.items() if value is not None}
    overrides |= {"rehearsal": True} if rehearsal else {}
    project = load_project(overrides)
    folder = write_report(project, root=Path(), results=results, reports=reports)
    typer.echo(f"{folder / 'index.md'}", err=True)
