"""Table 3: variations of base, each row's last checkpoint on the dev set, beside the paper's."""

from dataclasses import dataclass
from pathlib import Path

from aiayn.common.errors import UserError
from aiayn.common.files import write_text
from aiayn.config import Run
from aiayn.config.project import TABLE3_PAIR
from aiayn.reporting.measured import (
    NOT_RUN,
    Measured,
    bleu_text,
    interval_text,
    millions_text,
    ppl_text,
    rounded,
    with_deviation,
)
from aiayn.reporting.published import PublishedRow
from aiayn.reporting.render import (
    DASH,
    Cell,
    latex_escape,
    latex_table,
    markdown_table,
    write_csv,
    write_markdown,
)
from aiayn.reporting.results import Results

SHAPE = ("N", "d_model", "d_ff", "h", "d_k", "d_v", "p_drop", "eps_ls", "positions", "steps")
"""Columns that vary, in the paper's order."""
COLUMNS = (
    *("row", "group", *SHAPE, "ppl", "bleu", "params_m"),
    *("paper_ppl", "paper_bleu", "paper_params_m"),
)
_LATEX_NAMES = {
    "N": "$N$",
    "d_model": r"$d_{\mathrm{model}}$",
    "d_ff": r"$d_{\mathrm{ff}}$",
    "h": "$h$",
    "d_k": "$d_k$",
    "d_v": "$d_v$",
    "p_drop": "$P_{drop}$",
    "eps_ls": r"$\epsilon_{ls}$",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row: what was trained, what was measured, what the paper has."""

    name: str
    group: str
    shape: dict[str, Cell]
    """Resolved values of ``SHAPE`` at this scale."""
    ppl: Measured | None
    bleu: Measured | None
    low: Measured | None
    """Lower end of BLEU's 95% interval; with several seeds the mean of theirs."""
    high: Measured | None
    params_m: Measured | None
    """Parameters counted in the trained model, in millions."""
    paper: PublishedRow | None

    @property
    def paper_bleu(self) -> float | None:
        """The paper's BLEU; ``None`` for a row that the paper does not have."""
        return self.paper.bleu if self.paper else None

    @property
    def paper_ppl(self) -> float | None:
        """The paper's perplexity."""
        return self.paper.ppl if self.paper else None

    @property
    def paper_params_m(self) -> float | None:
        """The paper's millions of parameters; ``None`` where it leaves a blank."""
        return self.paper.params_m if self.paper else None


def resolved_shape(results: Results, row: str) -> dict[str, Cell]:
    """The values of ``SHAPE`` at this scale; empty for a row that the scale cannot run."""
    try:
        model, training = results.project.resolve(Run(TABLE3_PAIR, row, 1))
    except UserError:  # of a row left out; those to run were checked when the project was loaded
        return dict.fromkeys(SHAPE)
    values = model.model_dump() | training.model_dump()
    values |= {"d_k": model.query_width, "d_v": model.value_width}
    return {key: values[key] for key in SHAPE}


def table3_rows(results: Results) -> list[Row]:
    """All rows of the configuration, in the paper's order."""
    convention = results.published.convention(TABLE3_PAIR)
    dev = results.set_name(TABLE3_PAIR, 3)
    rows = []
    for name, experiment in results.project.experiments.items():
        runs = results.of(TABLE3_PAIR, name)
        scores = [run.scores[dev] for run in runs if dev in run.scores]
        trained = [run.trained for run in runs if run.trained]
        rows.append(
            Row(
                name=name,
                group=experiment.group,
                shape=resolved_shape(results, name),
                ppl=Measured.of(one.dev.ppl for one in trained),
                bleu=Measured.of(score.value(convention) for score in scores),
                low=Measured.of(score.value(convention, "_low") for score in scores),
                high=Measured.of(score.value(convention, "_high") for score in scores),
                params_m=Measured.of(one.parameters / 1e6 for one in trained),
                paper=results.published.table3.get(name),
            )
        )
    return rows


def csv_record(row: Row) -> dict[str, Cell]:
    """The row by the names of ``COLUMNS``."""
    return {
        "row": row.name,
        "group": row.group,
        **row.shape,
        "ppl": rounded(row.ppl),
        "bleu": rounded(row.bleu),
        "params_m": rounded(row.params_m, 6),
        "paper_ppl": row.paper_ppl,
        "paper_bleu": row.paper_bleu,
        "paper_params_m": row.paper_params_m,
    }


def shape_cells(row: Row, base: Row) -> dict[str, str]:
    """As in the paper: base's values in base's row, elsewhere only what differs from them."""
    return {
        key: ""
        if value is None or (row.name != "base" and value == base.shape[key])
        else (f"{value:,}" if isinstance(value, int) else str(value))
        for key, value in row.shape.items()
    }


def _mean(measured: Measured | None) -> float | None:
    return measured.mean if measured else None


def _markdown_record(row: Row, base: Row) -> dict[str, Cell]:
    difference = row.bleu.mean - row.paper_bleu if row.bleu and row.paper_bleu else None
    shape = {
        key: f"**{text}**" if text and row.name != "base" else text
        for key, text in shape_cells(row, base).items()
    }
    return {
        "row": row.name,
        **shape,
        "PPL": with_deviation(row.ppl, ppl_text(_mean(row.ppl))),
        "PPL, paper": ppl_text(row.paper_ppl),
        "BLEU": with_deviation(row.bleu, bleu_text(_mean(row.bleu))),
        "95% interval": interval_text(_mean(row.low), _mean(row.high)),
        "BLEU, paper": "" if row.paper_bleu is None else f"{row.paper_bleu:.1f}",
        "difference": "" if difference is None else f"{difference:+.2f}",
        "params ×10⁶": millions_text(_mean(row.params_m)) or NOT_RUN,
        "params, paper": "" if row.paper_params_m is None else f"{row.paper_params_m:.0f}",
    }


def _latex_record(row: Row, base: Row) -> dict[str, str]:
    # Three columns are headed "(paper)": blanks, which LaTeX ignores, make three keys of it.
    shape = {
        _LATEX_NAMES.get(key, key): latex_escape(text)
        for key, text in shape_cells(row, base).items()
    }
    return {
        "": latex_escape(row.name),
        **shape,
        "PPL": ppl_text(_mean(row.ppl)) or DASH,
        "(paper)": ppl_text(row.paper_ppl),
        "BLEU": bleu_text(_mean(row.bleu)) or DASH,
        "(paper) ": "" if row.paper_bleu is None else f"{row.paper_bleu:.1f}",
        r"params $\times10^6$": millions_text(_mean(row.params_m)) or DASH,
        "(paper)  ": "" if row.paper_params_m is None else f"{row.paper_params_m:.0f}",
    }


def _legend(results: Results) -> str:
    dev = results.set_name(TABLE3_PAIR, 3)
    scores = [run.scores[dev] for run in results.runs if dev in run.scores]
    segments = f", {scores[0].segments:,} segments" if scores else ""
    return (
        f"English to German, dev set `{dev}`{segments} (newstest2013 in the paper), each row's "
        "last checkpoint without averaging. Blank: base's value. BLEU by the paper's EN-DE "
        "convention (`compound_split`) with its 95% bootstrap interval; PPL per BPE token; "
        "parameters as counted in the trained model (blank in the paper: base's)."
    )


def write_table3(results: Results, folder: Path) -> None:
    """Write ``table3.{md,csv,tex}`` into ``folder``."""
    rows = table3_rows(results)
    base = next(row for row in rows if row.name == "base")
    write_csv(folder / "table3.csv", [csv_record(row) for row in rows], COLUMNS)
    table = markdown_table([_markdown_record(row, base) for row in rows])
    title = "Table 3: variations on the Transformer architecture"
    write_markdown(folder / "table3.md", title, results.about, table, _legend(results))
    records = [_latex_record(row, base) for row in rows]
    caption = (
        f"Variations on the Transformer architecture, ours beside the paper's ({results.about})."
    )
    write_text(folder / "table3.tex", latex_table(records, caption, "tab:variations"))
