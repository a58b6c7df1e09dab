"""deviations.md: where this run departs from the paper, found by comparing the configuration."""

from pathlib import Path
from typing import Any

from aiayn.config import Run
from aiayn.config.project import TABLE3_PAIR
from aiayn.reporting.published import PublishedRow, RecipeItem
from aiayn.reporting.render import Cell, markdown_escape, markdown_table, write_markdown
from aiayn.reporting.results import Results
from aiayn.reporting.table3 import SHAPE, resolved_shape

_RATIOS = ("N", "d_model", "d_ff", "h", "d_k", "d_v", "steps")
"""Columns of Table 3 that scale with base; the others are compared as they are."""


def run_values(results: Results) -> dict[str, Any]:
    """The value of every ``section.key`` that made base at this scale."""
    project = results.project
    model, training = project.resolve(Run(TABLE3_PAIR, "base", project.settings.seeds[0]))
    widths = {"d_k": model.query_width, "d_v": model.value_width}
    sections = {
        "data": {"corpus": project.scale.corpus} | project.scale.select.model_dump(),
        "text": project.scale.text.model_dump(),
        "cleaning": project.scale.cleaning.model_dump(),
        "model": model.model_dump() | widths,
        "training": training.model_dump(),
        "decoding": project.settings.decoding.model_dump(),
    }
    return {
        f"{section}.{key}": value
        for section, values in sections.items()
        for key, value in values.items()
    }


def recipe_deviations(results: Results) -> list[tuple[RecipeItem, Any]]:
    """Items of the paper's recipe whose value is another here, with that value."""
    values = run_values(results)
    return [
        (item, values[item.key])
        for item in results.published.recipe
        if values[item.key] != item.value
    ]


def row_deviations(results: Results) -> list[dict[str, Cell]]:
    """Rows whose relation to base is not the paper's: by ratio for sizes, by value for the rest."""
    published = results.published.table3
    paper_base, base = published["base"], resolved_shape(results, "base")
    found: list[dict[str, Cell]] = []
    for name in results.project.rows:
        if name not in published or name == "base":
            continue
        shape = resolved_shape(results, name)
        for key in SHAPE:
            paper = _relation(
                key, _value(published[name], paper_base, key), getattr(paper_base, key)
            )
            here = _relation(key, shape[key], base[key])
            if paper != here:
                found.append({"row": name, "key": key, "paper": str(paper), "here": str(here)})
    return found


def _value(row: PublishedRow, base: PublishedRow, key: str) -> Any:
    own = getattr(row, key)
    return getattr(base, key) if own is None else own


def _relation(key: str, value: Any, base: Any) -> Cell:
    if key in _RATIOS and base and value is not None:
        return f"{value / base:.3g} × base"
    return None if value is None else str(value)


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return markdown_escape(str(value))


def _recipe_section(results: Results) -> str:
    records: list[dict[str, Cell]] = [
        {
            "key": f"`{item.key}`",
            "paper": _text(item.value),
            "here": _text(value),
            "source": item.source,
            "note": markdown_escape(item.note),
        }
        for item, value in recipe_deviations(results)
    ]
    heading = "## This scale's base model against the paper's"
    return f"{heading}\n\n{markdown_table(records) if records else 'No difference.'}"


def _rows_section(results: Results) -> str:
    heading = "## Rows that differ from base otherwise than in the paper"
    records = row_deviations(results)
    return f"{heading}\n\n{markdown_table(records) if records else 'None.'}"


def _mirror(results: Results) -> str:
    mirror = "The data come from a mirror (`corpora_base`); data.md says whether they are official."
    return mirror if results.project.settings.corpora_base else ""


def table2_deviations(results: Results) -> list[dict[str, Cell]]:
    """What Table 2's rows do otherwise than in the paper, beyond the columns of Table 3."""
    found: list[dict[str, Cell]] = []
    for item in results.published.table2_recipe:
        if item.row not in results.project.rows or item.pair not in results.project.settings.pairs:
            continue
        model, training = results.project.resolve(Run(item.pair, item.row, 1))
        here = (model.model_dump() | training.model_dump())[item.key]
        if here != item.value:
            found.append(
                {
                    "row": f"{item.row}, {item.pair.upper()}",
                    "key": f"`{item.key}`",
                    "paper": _text(item.value),
                    "here": _text(here),
                    "source": item.source,
                }
            )
    return found


def _table2_section(results: Results) -> str:
    heading = "## Table 2's rows, beyond the columns of Table 3"
    records = table2_deviations(results)
    return f"{heading}\n\n{markdown_table(records) if records else 'No difference.'}"


def _left_out(results: Results) -> str:
    rows = results.table3_rows
    left_out = [name for name in results.published.table3 if name not in rows]
    return f"Rows of Table 3 not run: {', '.join(left_out)}." if left_out else ""


def _choices_section(results: Results) -> str:
    records = [
        {
            "": markdown_escape(choice.subject),
            "paper": markdown_escape(choice.paper),
            "tensor2tensor, June 2017": markdown_escape(choice.original),
            "here": markdown_escape(choice.here),
        }
        for choice in results.published.choices
    ]
    return (
        "## At every scale: where the paper is silent or its code departs from it\n\n"
        f"{markdown_table(records)}"
    )


def write_deviations(results: Results, folder: Path) -> None:
    """Write ``deviations.md`` into ``folder``."""
    note = (
        "Made by comparing the resolved configuration with the paper's recipe. Source: a section "
        "of the paper, or tensor2tensor where the paper is silent."
    )
    write_markdown(
        folder / "deviations.md",
        "Deviations from the paper",
        results.about,
        note,
        _mirror(results),
        _recipe_section(results),
        _rows_section(results),
        _left_out(results),
        _table2_section(results),
        _choices_section(results),
    )
