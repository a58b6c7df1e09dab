"""Table 2: BLEU and training cost on the test set, published systems and reproduced ones."""

from dataclasses import dataclass
from pathlib import Path

from aiayn.common.files import write_text
from aiayn.reporting.measured import (
    NOT_RUN,
    Measured,
    bleu_text,
    flops_text,
    interval_text,
    paper_bleu_text,
    rounded,
    with_deviation,
)
from aiayn.reporting.published import BleuConvention
from aiayn.reporting.render import (
    DASH,
    Cell,
    latex_escape,
    latex_power,
    latex_table,
    markdown_escape,
    markdown_table,
    write_csv,
    write_markdown,
)
from aiayn.reporting.results import Results

COLUMNS = (
    *("model", "pair", "source", "bleu", "bleu_convention", "bleu_low", "bleu_high"),
    *("sacrebleu", "sacrebleu_signature", "flops", "paper_bleu", "paper_flops"),
)


@dataclass(frozen=True, kw_only=True)
class System:
    """A model on one language pair: the paper's numbers and, when it was run, ours."""

    model: str
    pair: str
    row: str | None
    """The row of the configuration that reproduces it."""
    paper_bleu: float | None
    paper_flops: float | None
    convention: BleuConvention
    """The paper's, for its Transformers; ours are measured the same way."""
    bleu: Measured | None = None
    low: Measured | None = None
    high: Measured | None = None
    sacrebleu: Measured | None = None
    signature: str = ""
    tokenized: Measured | None = None
    compound_split: Measured | None = None
    flops: Measured | None = None
    """Counted operations of the training."""


def pairs_of(results: Results) -> list[str]:
    """The paper's language pairs, then any other that was asked for."""
    pairs = (*results.published.bleu_convention, *results.project.settings.pairs)
    return list(dict.fromkeys(pairs))


def _published_systems(results: Results, pair: str) -> list[System]:
    return [
        System(
            model=system.model,
            pair=pair,
            row=system.row,
            paper_bleu=system.bleu.get(pair),
            paper_flops=system.flops.get(pair),
            convention=results.published.convention(pair),
        )
        for system in results.published.table2
        if pair in system.bleu or pair in system.flops
    ]


def _reproduced(results: Results, pair: str, row: str) -> System:
    published = results.published.system(row)
    convention = results.published.convention(pair)
    test = results.set_name(pair, 2)
    runs = results.of(pair, row)
    scores = [run.scores[test] for run in runs if test in run.scores]
    return System(
        model=published.model if published else f"Transformer ({row})",
        pair=pair,
        row=row,
        paper_bleu=published.bleu.get(pair) if published else None,
        paper_flops=published.flops.get(pair) if published else None,
        convention=convention,
        bleu=Measured.of(score.value(convention) for score in scores),
        low=Measured.of(score.value(convention, "_low") for score in scores),
        high=Measured.of(score.value(convention, "_high") for score in scores),
        sacrebleu=Measured.of(score.sacrebleu for score in scores),
        signature=scores[0].sacrebleu_signature if scores else "",
        tokenized=Measured.of(score.tokenized for score in scores),
        compound_split=Measured.of(score.compound_split for score in scores),
        flops=Measured.of(run.trained.flops for run in runs if run.trained),
    )


def table2_systems(results: Results, pair: str) -> tuple[list[System], list[System]]:
    """The published systems of a pair, and the reproduced ones (run or not)."""
    rows = [name for name, row in results.project.experiments.items() if row.table2]
    return _published_systems(results, pair), [_reproduced(results, pair, row) for row in rows]


def paper_record(system: System) -> dict[str, Cell]:
    """A published system by the names of ``COLUMNS``."""
    return {
        "model": system.model,
        "pair": system.pair,
        "source": "paper",
        "bleu": system.paper_bleu,
        "bleu_convention": system.convention if system.row else None,
        "flops": system.paper_flops,
        "paper_bleu": system.paper_bleu,
        "paper_flops": system.paper_flops,
    }


def reproduced_record(system: System) -> dict[str, Cell]:
    """A reproduced system by the names of ``COLUMNS``; empty fields when it was not run."""
    return {
        "model": system.model,
        "pair": system.pair,
        "source": "reproduced",
        "bleu": rounded(system.bleu),
        "bleu_convention": system.convention,
        "bleu_low": rounded(system.low),
        "bleu_high": rounded(system.high),
        "sacrebleu": rounded(system.sacrebleu),
        "sacrebleu_signature": system.signature,
        "flops": rounded(system.flops, 0),
        "paper_bleu": system.paper_bleu,
        "paper_flops": system.paper_flops,
    }


def _mean(measured: Measured | None) -> float | None:
    return measured.mean if measured else None


def _markdown_record(system: System, ours: System | None) -> dict[str, Cell]:
    record: dict[str, Cell] = {
        "model": markdown_escape(system.model),
        "BLEU, paper": paper_bleu_text(system.paper_bleu),
    }
    cells = ("BLEU", "95% interval", "difference", "sacreBLEU")
    if ours is None:
        record |= dict.fromkeys(cells, "")
    elif ours.bleu is None:
        record |= dict.fromkeys(cells, "") | {"BLEU": NOT_RUN}
    else:
        interval = interval_text(_mean(ours.low), _mean(ours.high))
        difference = ours.bleu.mean - ours.paper_bleu if ours.paper_bleu else None
        values = (
            with_deviation(ours.bleu, bleu_text(ours.bleu.mean)),
            interval,
            "" if difference is None else f"{difference:+.2f}",
            bleu_text(_mean(ours.sacrebleu)),
        )
        record |= dict(zip(cells, values, strict=True))
    record["FLOPs, paper"] = flops_text(system.paper_flops)
    record["FLOPs"] = flops_text(_mean(ours.flops)) or NOT_RUN if ours else ""
    return record


def _side_by_side(
    published: list[System], ours: list[System]
) -> list[tuple[System, System | None]]:
    """Each published system with its reproduction, then rows that the paper does not have."""
    by_model = {system.model: system for system in ours}
    pairs = [(system, by_model.pop(system.model, None)) for system in published]
    return [*pairs, *((system, system) for system in by_model.values())]


def _latex_record(system: System, ours: System | None) -> dict[str, str]:
    return {
        "Model": latex_escape(system.model),
        "BLEU (paper)": paper_bleu_text(system.paper_bleu),
        "BLEU": (bleu_text(_mean(ours.bleu)) or DASH) if ours else "",
        "sacreBLEU": (bleu_text(_mean(ours.sacrebleu)) or DASH) if ours else "",
        "FLOPs (paper)": latex_power(flops_text(system.paper_flops)),
        "FLOPs": (latex_power(flops_text(_mean(ours.flops))) or DASH) if ours else "",
    }


def _conventions(systems: list[System]) -> str:
    """All conventions of the same hypotheses, of systems that were run."""
    records: list[dict[str, Cell]] = [
        {
            "model": markdown_escape(system.model),
            "compound_split": bleu_text(_mean(system.compound_split)),
            "tokenized": bleu_text(_mean(system.tokenized)),
            "sacreBLEU": bleu_text(_mean(system.sacrebleu)),
            "signature of sacreBLEU": f"`{system.signature}`".replace("|", r"\|"),
        }
        for system in systems
        if system.bleu
    ]
    return markdown_table(records) if records else ""


def _further_sets(results: Results, pair: str) -> str:
    """Test sets beside the paper's, such as the filtered newstest2014."""
    shown = {results.set_name(pair, 2), results.set_name(pair, 3)}
    records: list[dict[str, Cell]] = [
        {
            "set": name,
            "segments": score.segments,
            "row": run.run.row,
            "seed": run.run.seed,
            "compound_split": bleu_text(score.compound_split),
            "tokenized": bleu_text(score.tokenized),
            "sacreBLEU": bleu_text(score.sacrebleu),
        }
        for run in results.runs
        if run.run.pair == pair
        for name, score in run.scores.items()
        if name not in shown
    ]
    if not records:
        return ""
    return f"Further test sets, not comparable with the paper's:\n\n{markdown_table(records)}"


def _section(results: Results, pair: str) -> str:
    published, ours = table2_systems(results, pair)
    test = results.set_name(pair, 2)
    scores = [
        run.scores[test] for run in results.runs if run.run.pair == pair and test in run.scores
    ]
    where = f"test set `{test}`" if test else "no corpus at this scale"
    segments = f", {scores[0].segments:,} segments" if scores else ""
    table = markdown_table([_markdown_record(*both) for both in _side_by_side(published, ours)])
    convention = (
        f"BLEU of the averaged model by the paper's convention for this pair, "
        f"`{results.published.convention(pair)}`, with its 95% bootstrap interval. Other systems' "
        "numbers are as their authors published them, on newstest2014."
    )
    conventions = _conventions(ours)
    if conventions:
        conventions = f"The same hypotheses by every convention:\n\n{conventions}"
    heading = f"## {pair.upper()} ({where}{segments})"
    parts = (heading, table, convention, conventions, _further_sets(results, pair))
    return "\n\n".join(part for part in parts if part)


_COST = (
    "FLOPs, paper: the paper's estimate, training time × number of GPUs × sustained "
    "single-precision capacity. FLOPs: multiplications and additions of all matrix products of "
    "the training, counted from the model's shape and the tokens seen."
)


def write_table2(results: Results, folder: Path) -> None:
    """Write ``table2.{md,csv,tex}`` into ``folder``."""
    records: list[dict[str, Cell]] = []
    latex = []
    for pair in pairs_of(results):
        published, ours = table2_systems(results, pair)
        records += [paper_record(system) for system in published]
        records += [reproduced_record(system) for system in ours]
        caption = f"BLEU and training cost, {pair.upper()} ({results.about})."
        cells = [_latex_record(*both) for both in _side_by_side(published, ours)]
        latex.append(latex_table(cells, caption, f"tab:results-{pair}"))
    write_csv(folder / "table2.csv", records, COLUMNS)
    write_text(folder / "table2.tex", "\n".join(latex))
    sections = [_section(results, pair) for pair in pairs_of(results)]
    title = "Table 2: BLEU and training cost"
    write_markdown(folder / "table2.md", title, results.about, *sections, _COST)
