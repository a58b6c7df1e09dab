"""claims.md: what the paper concludes, beside the numbers of this run that bear on it."""

from pathlib import Path

from aiayn.config.project import TABLE3_PAIR
from aiayn.reporting.measured import (
    NOT_RUN,
    bleu_text,
    interval_text,
    paper_bleu_text,
    ppl_text,
    with_deviation,
)
from aiayn.reporting.published import Claim
from aiayn.reporting.render import Cell, markdown_table, write_markdown
from aiayn.reporting.results import Results
from aiayn.reporting.table2 import System, pairs_of, table2_systems
from aiayn.reporting.table3 import Row, table3_rows

PAPER_SCALE = "paper"
UNDECIDED = "not decided at this scale"
SEE_NUMBERS = "see numbers"


def _table3_records(claim: Claim, rows: list[Row]) -> list[dict[str, Cell]]:
    chosen = [row for row in rows if row.name in claim.rows]
    return [
        {
            "row": row.name,
            "BLEU": with_deviation(row.bleu, bleu_text(row.bleu.mean if row.bleu else None)),
            "95% interval": interval_text(
                row.low.mean if row.low else None, row.high.mean if row.high else None
            ),
            "BLEU, paper": paper_bleu_text(row.paper_bleu),
            "PPL": with_deviation(row.ppl, ppl_text(row.ppl.mean if row.ppl else None)),
            "PPL, paper": ppl_text(row.paper_ppl),
        }
        for row in chosen
    ]


def _table2_records(claim: Claim, systems: list[System]) -> list[dict[str, Cell]]:
    return [
        {
            "row": system.row,
            "pair": system.pair.upper(),
            "BLEU": with_deviation(
                system.bleu, bleu_text(system.bleu.mean if system.bleu else None)
            ),
            "95% interval": interval_text(
                system.low.mean if system.low else None, system.high.mean if system.high else None
            ),
            "BLEU, paper": paper_bleu_text(system.paper_bleu),
        }
        for system in systems
        if system.row in claim.rows
    ]


def verdict(scale: str, all_run: bool) -> str:
    """What may be said: nothing without every row's numbers, nothing below paper scale.

    Args:
        scale: The project's name; a rehearsal is not the paper's scale.
        all_run: Whether every row that bears on the claim has its numbers.
    """
    if not all_run:
        return NOT_RUN
    return SEE_NUMBERS if scale == PAPER_SCALE else UNDECIDED


def write_claims(results: Results, folder: Path) -> None:
    """Write ``claims.md`` into ``folder``."""
    rows = table3_rows(results)
    pairs = [pair for pair in pairs_of(results) if pair == TABLE3_PAIR]
    systems = [system for pair in pairs for system in table2_systems(results, pair)[1]]
    sections, summary = [], []
    for number, claim in enumerate(results.published.claims, start=1):
        if claim.table == 2:
            records = _table2_records(claim, systems)
        else:
            records = _table3_records(claim, rows)
        said = verdict(
            results.project.name, all(NOT_RUN not in record.values() for record in records)
        )
        summary.append({"claim": str(number), "rows": ", ".join(claim.rows), "verdict": said})
        sections.append(
            f"## Claim {number}: {said}\n\n{claim.text}\n\n"
            f"Numbers of Table {claim.table}:\n\n{markdown_table(records)}"
        )
    note = (
        "A claim is about models trained as in the paper: below that scale the numbers are shown "
        "and nothing is decided."
    )
    write_markdown(
        folder / "claims.md",
        "The paper's claims",
        results.about,
        note,
        markdown_table(summary),
        *sections,
    )
