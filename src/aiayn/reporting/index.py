"""index.md: the way into a report."""

from pathlib import Path

from aiayn.config.project import TABLE3_PAIR
from aiayn.reporting.claims import summary_records
from aiayn.reporting.cost import device_hours
from aiayn.reporting.figures import FIGURES
from aiayn.reporting.measured import (
    NOT_RUN,
    bleu_text,
    interval_text,
    mean_of,
    paper_bleu_text,
    with_deviation,
)
from aiayn.reporting.render import (
    Cell,
    markdown_escape,
    markdown_table,
    run_label,
    write_markdown,
)
from aiayn.reporting.results import Results
from aiayn.reporting.table2 import pairs_of, run_links, table2_systems
from aiayn.reporting.verdicts import judge

PAGES = {
    "table2.md": "Table 2: BLEU and training cost, beside the published systems",
    "table3.md": "Table 3: variations on base, beside the paper's",
    "claims.md": "the paper's seven claims, tested: verdicts and the numbers behind them",
    "bleu.md": "every BLEU convention of the same translations, and which one the paper used",
    "samples.md": "twenty sentences: source, reference, base, big",
    "deviations.md": "where this run departs from the paper, and why",
    "data.md": "the data: archives, pairs kept and dropped by reason",
    "provenance.md": "code, data, machine and hours of every run; every table links to it",
}
SEE_CLAIMS = "What was tested, and how a verdict comes about: [claims.md](claims.md)."


def _state(results: Results) -> str:
    """What was run, and on what."""
    project = results.project
    trained = [run.trained for run in results.runs if run.trained]
    missing = [run.label for run in results.runs if run.trained is None]
    state = (
        f"{len(trained)} of {len(results.runs)} trainings are in this report: {_rows(results)}; "
        f"{' and '.join(project.settings.pairs)}; corpus `{project.scale.corpus}`."
    )
    hours = sum(hours for run in results.runs if (hours := device_hours(run)))
    devices = ", ".join(map(markdown_escape, results.devices))
    made = f" They took {hours:.3g} device-hours on {devices}." if trained else ""
    which = ", ".join(missing) if trained else "all of them"
    return state + made + (f" {NOT_RUN.capitalize()}: {which}." if missing else "")


def _rows(results: Results) -> str:
    """Which rows of Table 3 were asked for."""
    rows = results.table3_rows
    if not rows:
        return f"no row of Table 3, which is {TABLE3_PAIR.upper()}"
    every = set(rows) >= set(results.published.table3)
    return f"{'every row' if every else 'rows ' + ', '.join(rows)} of Table 3"


def _headline(results: Results) -> str:
    """BLEU of Table 2's rows, beside the paper's."""
    records: list[dict[str, Cell]] = [
        {
            "model": system.model,
            "pair": pair.upper(),
            "BLEU, paper": paper_bleu_text(system.paper_bleu),
            "BLEU": with_deviation(system.bleu, bleu_text(mean_of(system.bleu))),
            "95% interval": interval_text(system.low, system.high),
            "made by": f"[{run_label(pair, system.row)}]" if system.row and system.bleu else "",
        }
        for pair in pairs_of(results)
        for system in table2_systems(results, pair)[1]
    ]
    parts = ("## BLEU on the test sets", markdown_table(records), results.comparison_note)
    return "\n\n".join(part for part in parts if part)


def _verdicts(results: Results) -> str:
    records = summary_records(results, judge(results))
    return f"## The paper's claims\n\n{markdown_table(records)}\n\n{SEE_CLAIMS}"


def write_index(results: Results, folder: Path) -> None:
    """Write ``index.md`` into ``folder``."""
    pages = "\n".join(f"* [{name}]({name}): {about}" for name, about in PAGES.items())
    tables = (
        "The tables also as [table2.csv](table2.csv), [table2.tex](table2.tex), "
        "[table3.csv](table3.csv), [table3.tex](table3.tex); [metrics.json](metrics.json) and "
        "[curves.csv](curves.csv) hold the numbers for tools."
    )
    figures = [f"### {title}\n\n![{title}](figures/{name}.svg)" for name, title in FIGURES.items()]
    write_markdown(
        folder / "index.md",
        f"Attention Is All You Need, reproduced: {results.project.name}",
        results.about,
        _state(results),
        pages,
        tables,
        _headline(results),
        _verdicts(results),
        "## Figures",
        *figures,
        run_links(results),
    )
