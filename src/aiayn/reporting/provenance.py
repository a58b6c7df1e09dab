"""provenance.md: which code, data and machine made each number."""

import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from aiayn.reporting.measured import NOT_RUN, flops_text
from aiayn.reporting.render import Cell, markdown_escape, markdown_table, write_markdown
from aiayn.reporting.results import Results, RunResults

SHOWN = 12
"""Hexadecimal digits of a hash that the page shows; run.json has them all."""


def _record(run: RunResults, folder: Path) -> dict[str, Cell]:
    name = f"{run.run.pair} {run.run.row} seed{run.run.seed}"
    if run.provenance is None:
        return {"run": name, "commit": NOT_RUN}
    made: dict[str, Any] = run.provenance
    hours = (run.trained.seconds if run.trained else made.get("seconds", 0)) / 3600
    link = Path(os.path.relpath(run.folder / "run.json", folder)).as_posix()
    return {
        "run": f"[{name}]({link})",
        "commit": _shortened(made.get("git_commit")),
        "device": markdown_escape(str(made.get("device", ""))),
        "precision": str(made.get("precision", "")),
        "steps": f"{run.trained.steps:,}" if run.trained else "",
        "target tokens": f"{run.trained.target_tokens:,}" if run.trained else "",
        "hours of training": f"{hours:.3g}",
        "FLOPs": flops_text(run.trained.flops) if run.trained else "",
    }


def _shortened(commit: str | None) -> str:
    if not commit:
        return "unknown"
    return commit[:SHOWN] + ("-dirty" if commit.endswith("-dirty") else "")


def _grouped(results: Results, key: str) -> dict[str, list[str]]:
    """Runs by the values of one mapping of run.json, the values as lines of text."""
    groups: dict[str, list[str]] = defaultdict(list)
    for run in results.runs:
        if run.provenance is not None:
            values = run.provenance.get(key) or {}
            text = "\n".join(f"* {name}: `{_flat(value)}`" for name, value in values.items())
            groups[text].append(f"{run.run.pair} {run.run.row} seed{run.run.seed}")
    return dict(groups)


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_flat(inner)}" for key, inner in value.items())
    text = str(value)
    return f"{text[:SHOWN]}…" if re.fullmatch("[0-9a-f]{64}", text) else text


def _section(results: Results, key: str, title: str) -> str:
    groups = _grouped(results, key)
    if not groups:
        return ""
    blocks = []
    for text, runs in groups.items():
        # One machine and one set of packages made most reports: then there is no list to read.
        whose = "All runs:" if len(groups) == 1 else f"{', '.join(runs)}:"
        blocks.append(f"{whose}\n\n{text}")
    return f"## {title}\n\n" + "\n\n".join(blocks)


def write_provenance(results: Results, folder: Path) -> None:
    """Write ``provenance.md`` into ``folder``; each run links to its run.json."""
    records = [_record(run, folder) for run in results.runs]
    write_markdown(
        folder / "provenance.md",
        "Provenance",
        results.about,
        "Each number of Tables 2 and 3 comes from the run of its pair, row and seed; `run.json` "
        "holds its whole configuration.",
        markdown_table(records),
        _section(results, "data_sha256", "SHA-256 of the binarized data"),
        _section(results, "versions", "Versions"),
        _section(results, "host", "Machines"),
    )
