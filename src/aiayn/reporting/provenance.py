"""provenance.md: which code, data and machine made each number."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from aiayn.common.files import read_json, write_json
from aiayn.reporting.cost import device_hours
from aiayn.reporting.measured import NOT_RUN, bleu_text, flops_text, ppl_text
from aiayn.reporting.render import Cell, markdown_escape, markdown_table, write_markdown
from aiayn.reporting.results import Results, RunResults

SHOWN = 12
"""Hexadecimal digits of a hash that the page shows; the run's JSON file has them all."""
_DIRTY = "A commit marked `-dirty` had changes that were not committed."


def record_name(run: RunResults) -> str:
    """The file, below the report's folder, of all that is known of a run."""
    return f"runs/{run.run.pair}.{run.run.row}.seed{run.run.seed}.json"


def _record(run: RunResults) -> dict[str, Cell]:
    if run.provenance is None:
        return {"run": run.label, "commit": NOT_RUN}
    made: dict[str, Any] = run.provenance
    trained, hours = run.trained, device_hours(run)
    ranks = dict.fromkeys(piece.ranks for piece in trained.pieces) if trained else ()
    return {
        "run": f"[{run.label}]({record_name(run)})",
        "commit": _shortened(made.get("git_commit")),
        "device": markdown_escape(
            ", ".join(trained.devices) if trained else made.get("device", "")
        ),
        "ranks": ", ".join(map(str, ranks)),
        "precision": str(made.get("precision", "")),
        "steps": f"{trained.steps:,}" if trained else "",
        "target tokens": f"{trained.target_tokens:,}" if trained else "",
        "seconds": f"{trained.seconds:,.0f}" if trained else "",
        "device-hours": "" if hours is None else f"{hours:.3g}",
        "FLOPs, counted": flops_text(trained.flops) if trained else "",
    }


def _numbers(results: Results, run: RunResults) -> str:
    """The numbers of the report that a run made."""
    pair = run.run.pair
    convention = results.published.convention(pair)
    found = [f"PPL {ppl_text(run.trained.dev.ppl)} on dev"] if run.trained else []
    found += [
        f"BLEU {bleu_text(score.value(convention))} on {name}" for name, score in run.scores.items()
    ]
    return ", ".join(found)


def _rows(results: Results) -> str:
    """A section for each row: where the links of the tables lead."""
    rows: dict[str, list[RunResults]] = defaultdict(list)
    for run in results.runs:
        rows[f"{run.run.pair} {run.run.row}"].append(run)
    sections = []
    for heading, runs in rows.items():
        lines = [
            f"* seed {run.run.seed}: [{record_name(run)}]({record_name(run)}): "
            f"{_numbers(results, run)}"
            if run.provenance
            else f"* seed {run.run.seed}: {NOT_RUN}"
            for run in runs
        ]
        sections.append("\n".join([f"### {heading}", "", *lines]))
    return "\n\n".join(["## What each run made", *sections])


def _write_records(results: Results, folder: Path) -> None:
    """Write ``runs/*.json``: run.json, trained.json and scores as they are, in one file."""
    for run in results.runs:
        if run.provenance is None:
            continue
        trained = run.folder / "trained.json"
        scores = {name: read_json(run.folder / f"score.{name}.json") for name in run.scores}
        record = run.provenance | {
            "trained": read_json(trained) if trained.exists() else None,
            "decoding": results.project.settings.decoding.model_dump(mode="json"),
            "scores": scores,
        }
        write_json(folder / record_name(run), record)


def _total(results: Results) -> str:
    hours = [own for run in results.runs if (own := device_hours(run)) is not None]
    return f"All {len(hours)} trainings together: {sum(hours):.3g} device-hours."


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
            groups[text].append(run.label)
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
    """Write ``provenance.md`` and ``runs/*.json`` into ``folder``."""
    _write_records(results, folder)
    settings = results.project.settings
    decoding = (
        f"Decoding: beam {settings.beam}, length penalty {settings.alpha:g}, at most the source's "
        f"length + {settings.max_extra}."
    )
    write_markdown(
        folder / "provenance.md",
        "Provenance",
        results.about,
        "Each number comes from the runs of its pair and row, one a seed. A run's JSON file holds "
        "its whole configuration, commit, SHA-256 of data and checkpoints, versions, machine, "
        "times and scores.",
        markdown_table([_record(run) for run in results.runs]),
        f"{_total(results)} {decoding} {_DIRTY}",
        _rows(results),
        _section(results, "data_sha256", "SHA-256 of the binarized data"),
        _section(results, "versions", "Versions"),
        _section(results, "host", "Machines"),
    )
