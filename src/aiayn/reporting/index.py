"""index.md: the way into a report."""

from pathlib import Path

from aiayn.reporting.measured import NOT_RUN
from aiayn.reporting.render import write_markdown
from aiayn.reporting.results import Results

PAGES = {
    "table2.md": "Table 2: BLEU and training cost, beside the published systems",
    "table3.md": "Table 3: variations on base, beside the paper's",
    "claims.md": "the paper's claims and the numbers that bear on them",
    "deviations.md": "where this run departs from the paper",
    "samples.md": "sample translations",
    "data.md": "the data: pairs kept and dropped, by reason",
    "provenance.md": "code, data, machine and hours of every run",
}
FIGURES = {
    "ablation_A": "(A) attention heads",
    "ablation_B": "(B) key size",
    "ablation_C": "(C) model size",
    "ablation_D": "(D) regularization",
    "ablation_E": "(E) positional encoding",
    "learning_loss": "Training loss",
    "learning_ppl": "Perplexity on the dev set",
    "bleu_against_cost": "BLEU against training cost",
    "learning_rate": "Learning rate",
    "positional_encoding": "Positional encoding",
    "positional_dot_products": "Positional encoding: similarity against offset",
}
"""Every figure, in order; each is written as PNG and SVG."""


def _state(results: Results) -> str:
    trained = sum(run.trained is not None for run in results.runs)
    missing = [
        f"{run.run.pair} {run.run.row} seed{run.run.seed}"
        for run in results.runs
        if run.trained is None
    ]
    state = f"{trained} of {len(results.runs)} trainings are in this report."
    return state + (f" {NOT_RUN.capitalize()}: {', '.join(missing)}." if missing else "")


def write_index(results: Results, folder: Path) -> None:
    """Write ``index.md`` into ``folder``."""
    pages = "\n".join(f"* [{name}]({name}): {about}" for name, about in PAGES.items())
    tables = (
        "The tables also as [table2.csv](table2.csv), [table2.tex](table2.tex), "
        "[table3.csv](table3.csv), [table3.tex](table3.tex); [metrics.json](metrics.json) and "
        "[curves.csv](curves.csv) hold the numbers for tools."
    )
    figures = [f"### {title}\n\n![{title}](figures/{name}.svg)" for name, title in FIGURES.items()]
    title = f"Attention Is All You Need, reproduced: {results.project.name}"
    write_markdown(
        folder / "index.md",
        title,
        results.about,
        _state(results),
        pages,
        tables,
        "## Figures",
        *figures,
    )
