"""Table 3: variations of base, each row's last checkpoint on the dev set, beside the paper's."""

from dataclasses import dataclass
from pathlib import Path

from aiayn.common.errors import UserError
from aiayn.common.files import write_text
from aiayn.config import Run
from aiayn.config.cost import parameters
from aiayn.config.project import TABLE3_PAIR
from aiayn.reporting.measured import (
    NOT_RUN,
    Measured,
    bleu_text,
    deviation_of,
    difference,
    interval_text,
    mean_of,
    millions_text,
    paper_bleu_text,
    ppl_text,
    rounded,
    signed_text,
    with_deviation,
)
from aiayn.reporting.published import PublishedRow
from aiayn.reporting.render import (
    DASH,
    Cell,
    latex_escape,
    latex_number,
    latex_signed,
    latex_table,
    link_targets,
    markdown_table,
    write_csv,
    write_markdown,
)
from aiayn.reporting.results import Results, RunResults, Trained

SHAPE = ("N", "d_model", "d_ff", "h", "d_k", "d_v", "p_drop", "eps_ls", "positions", "steps")
"""Columns that vary, in the paper's order."""
COLUMNS = (
    *("row", "group", *SHAPE, "ppl", "bleu", "params_m"),
    *("paper_ppl", "paper_bleu", "paper_params_m"),
    *("bleu_low", "bleu_high", "bleu_sd", "ppl_sd", "seeds", "params_vocabulary_m"),
)
"""The first are read by others; further ones go to the end."""
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
    """Parameters counted in the trained model, in millions; of one not trained, counted from its
    shape where the configuration says how many rows the embedding has."""
    params_vocabulary_m: Measured | None
    """The same without the embedding's rows beyond the vocabulary, which are never used."""
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


def _steps_taken(trained: list[Trained]) -> dict[str, Cell]:
    """What was trained counts, where the configuration has since come to say otherwise."""
    return {"steps": trained[0].steps} if trained else {}


def _configured_parameters(results: Results, row: str) -> Measured | None:
    try:
        model, _ = results.project.resolve(Run(TABLE3_PAIR, row, 1))
    except UserError:
        return None
    rows = model.vocabulary_rows
    return Measured(parameters(model, rows) / 1e6) if rows else None


def _used_parameters(results: Results, run: RunResults) -> float | None:
    """Millions of parameters less the embedding's rows that no subword has."""
    if run.trained is None:
        return None
    model, _ = results.project.resolve(run.run)
    unused = run.trained.vocabulary_rows - run.trained.vocabulary
    return (run.trained.parameters - unused * model.d_model) / 1e6


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
                shape=resolved_shape(results, name) | _steps_taken(trained),
                ppl=Measured.of(one.dev.ppl for one in trained),
                bleu=Measured.of(score.value(convention) for score in scores),
                low=Measured.of(score.value(convention, "_low") for score in scores),
                high=Measured.of(score.value(convention, "_high") for score in scores),
                params_m=Measured.of(one.parameters / 1e6 for one in trained)
                or _configured_parameters(results, name),
                params_vocabulary_m=Measured.of(_used_parameters(results, run) for run in runs),
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
        "bleu_low": rounded(row.low),
        "bleu_high": rounded(row.high),
        "bleu_sd": deviation_of(row.bleu),
        "ppl_sd": deviation_of(row.ppl),
        "seeds": row.bleu.seeds if row.bleu else None,
        "params_vocabulary_m": rounded(row.params_vocabulary_m, 6),
    }


def shape_cells(row: Row, base: Row) -> dict[str, str]:
    """As in the paper: base's values in base's row, elsewhere only what differs from them."""
    return {
        key: ""
        if value is None or (row.name != "base" and value == base.shape[key])
        else (f"{value:,}" if isinstance(value, int) else str(value))
        for key, value in row.shape.items()
    }


def _change(row: Row, base: Row) -> str:
    """What a row changes, in words: h 1, d_k 256."""
    if row.name == "base":
        return ""
    cells = shape_cells(row, base).items()
    return ", ".join(f"{key} {text}" for key, text in cells if text)


def _result_record(row: Row, base: Row) -> dict[str, Cell]:
    return {
        "row": f"[{row.name}]" if row.bleu else row.name,
        "changed": _change(row, base),
        "PPL, paper": ppl_text(row.paper_ppl),
        "PPL": with_deviation(row.ppl, ppl_text(mean_of(row.ppl))),
        "BLEU, paper": paper_bleu_text(row.paper_bleu),
        "BLEU": with_deviation(row.bleu, bleu_text(mean_of(row.bleu))),
        "difference": signed_text(difference(row.bleu, row.paper_bleu)),
        "95% interval": interval_text(row.low, row.high),
    }


def _shape_record(row: Row, base: Row) -> dict[str, Cell]:
    return {
        "row": row.name,
        **shape_cells(row, base),
        "params ×10⁶, paper": _whole(row.paper_params_m),
        "params ×10⁶": millions_text(mean_of(row.params_m)) or NOT_RUN,
        "with the vocabulary alone": millions_text(mean_of(row.params_vocabulary_m)),
    }


def _whole(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _latex_record(row: Row, base: Row) -> dict[str, str]:
    shape = {
        _LATEX_NAMES.get(key, key): latex_escape(text.removesuffix("usoidal"))
        for key, text in shape_cells(row, base).items()
    }
    return {
        "": latex_escape(row.name),
        **shape,
        "PPL (paper)": ppl_text(row.paper_ppl),
        "PPL": latex_number(with_deviation(row.ppl, ppl_text(mean_of(row.ppl)))),
        "BLEU (paper)": paper_bleu_text(row.paper_bleu),
        "BLEU": latex_number(with_deviation(row.bleu, bleu_text(mean_of(row.bleu)))),
        "diff.": latex_signed(difference(row.bleu, row.paper_bleu)),
        r"95\% interval": interval_text(row.low, row.high).replace(" to ", "--"),
        "params (paper)": _whole(row.paper_params_m),
        r"$\times10^6$": millions_text(mean_of(row.params_m)) or DASH,
    }


def _legend(results: Results) -> str:
    dev = results.set_name(TABLE3_PAIR, 3)
    scores = [run.scores[dev] for run in results.runs if dev in run.scores]
    segments = f", {scores[0].segments:,} segments" if scores else ""
    return (
        f"English to German, dev set `{dev}`{segments} (newstest2013 in the paper), each row's "
        "last checkpoint without averaging. BLEU by the paper's EN-DE convention "
        "(`compound_split`), its difference to the paper's and its 95% bootstrap interval; PPL per "
        "BPE token. Each row links to what made it."
    )


_PARAMETERS = (
    "Blank: base's value. Parameters as counted in the trained model, or from its shape where it "
    "was not run and the configuration says how many rows the embedding has. The paper's counts "
    "(blank there: base's) come out with the 40,960 rows of the original code, more than its "
    "vocabulary has entries, for every row but big: its 213 fits neither 40,960 rows (218.3) nor "
    "37,000 (214.2). The last column leaves out rows beyond this run's vocabulary."
)


def write_table3(results: Results, folder: Path) -> None:
    """Write ``table3.{md,csv,tex}`` into ``folder``."""
    rows = table3_rows(results)
    base = next(row for row in rows if row.name == "base")
    write_csv(folder / "table3.csv", [csv_record(row) for row in rows], COLUMNS)
    write_markdown(
        folder / "table3.md",
        "Table 3: variations on the Transformer architecture",
        results.about,
        results.comparison_note,
        markdown_table([_result_record(row, base) for row in rows]),
        _legend(results),
        "## Shapes and parameters",
        markdown_table([_shape_record(row, base) for row in rows]),
        _PARAMETERS,
        link_targets({row.name: (TABLE3_PAIR, row.name) for row in rows if row.bleu}),
    )
    records = [_latex_record(row, base) for row in rows]
    caption = (
        f"Variations on the Transformer architecture, the paper's numbers beside ours; "
        f"--: not run ({results.about})."
    )
    write_text(folder / "table3.tex", latex_table(records, caption, "tab:variations"))
