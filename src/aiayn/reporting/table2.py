"""Table 2: BLEU and training cost on the test set, published systems and reproduced ones."""

from dataclasses import dataclass
from pathlib import Path

from aiayn.common.files import write_text
from aiayn.reporting.cost import device_hours, paper_method_flops
from aiayn.reporting.measured import (
    NOT_RUN,
    Measured,
    bleu_text,
    deviation_of,
    difference,
    flops_text,
    interval_text,
    mean_of,
    paper_bleu_text,
    rounded,
    signed_text,
    with_deviation,
)
from aiayn.reporting.published import BleuConvention
from aiayn.reporting.render import (
    DASH,
    Cell,
    latex_escape,
    latex_number,
    latex_power,
    latex_signed,
    latex_table,
    link_targets,
    markdown_escape,
    markdown_table,
    run_label,
    write_csv,
    write_markdown,
)
from aiayn.reporting.results import Results

COLUMNS = (
    *("model", "pair", "source", "bleu", "bleu_convention", "bleu_low", "bleu_high"),
    *("sacrebleu", "sacrebleu_signature", "flops", "paper_bleu", "paper_flops"),
    *("bleu_sd", "seeds", "flops_paper_method", "device_hours"),
)
"""The first are read by others; further ones go to the end."""
NO_CAPACITY = "n/a"


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
    flops: Measured | None = None
    """Counted operations of the training."""
    paper_method_flops: Measured | None = None
    """The same by the paper's method; ``None`` where the device's capacity is unknown."""
    device_hours: Measured | None = None
    comparable: bool = False
    """Whether it was scored on the whole of newstest2014, as the published systems."""


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
        flops=Measured.of(run.trained.flops for run in runs if run.trained),
        paper_method_flops=Measured.of(paper_method_flops(results.published, run) for run in runs),
        device_hours=Measured.of(device_hours(run) for run in runs),
        comparable=bool(scores) and all(score.variant == "full" for score in scores),
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
        "bleu_sd": deviation_of(system.bleu),
        "seeds": system.bleu.seeds if system.bleu else None,
        "flops_paper_method": rounded(system.paper_method_flops, 0),
        "device_hours": rounded(system.device_hours),
    }


def run_links(results: Results) -> str:
    """Where the links of Table 2's rows lead."""
    systems = [one for pair in pairs_of(results) for one in table2_systems(results, pair)[1]]
    rows = [(one.pair, one.row) for one in systems if one.row and one.bleu]
    return link_targets({run_label(*row): row for row in rows})


def _side_by_side(
    published: list[System], ours: list[System]
) -> list[tuple[System, System | None]]:
    """Each published system with its reproduction, then rows that the paper does not have."""
    by_model = {system.model: system for system in ours}
    pairs = [(system, by_model.pop(system.model, None)) for system in published]
    return [*pairs, *((system, system) for system in by_model.values())]


def _cells(system: System, ours: System | None) -> dict[str, str]:
    """A line of the table as text; blank where a system is not ours to run."""
    record = {
        "model": system.model,
        "BLEU, paper": paper_bleu_text(system.paper_bleu),
        **dict.fromkeys(("BLEU", "difference", "95% interval", "sacreBLEU"), ""),
        "FLOPs, paper": flops_text(system.paper_flops),
        **dict.fromkeys(("FLOPs, paper's method", "FLOPs, counted"), ""),
    }
    if ours is None:
        return record
    return record | {
        "BLEU": with_deviation(ours.bleu, bleu_text(mean_of(ours.bleu))),
        "difference": signed_text(difference(ours.bleu, ours.paper_bleu)),
        "95% interval": interval_text(ours.low, ours.high),
        "sacreBLEU": bleu_text(mean_of(ours.sacrebleu)),
        "FLOPs, paper's method": flops_text(mean_of(ours.paper_method_flops))
        or (NO_CAPACITY if ours.flops else NOT_RUN),
        "FLOPs, counted": flops_text(mean_of(ours.flops)) or NOT_RUN,
    }


def _markdown_record(system: System, ours: System | None) -> dict[str, Cell]:
    cells = _cells(system, ours)
    run = f"[{run_label(ours.pair, ours.row)}]" if ours and ours.row and ours.bleu else ""
    return {**cells, "model": markdown_escape(cells["model"]), "made by": run}


def _latex_record(system: System, ours: System | None) -> dict[str, str]:
    cells = _cells(system, ours)
    method, counted = cells["FLOPs, paper's method"], cells["FLOPs, counted"]
    return {
        "Model": latex_escape(cells["model"]),
        "BLEU (paper)": cells["BLEU, paper"],
        "BLEU": latex_number(cells["BLEU"]),
        "diff.": latex_signed(difference(ours.bleu, ours.paper_bleu) if ours else None),
        r"95\% interval": cells["95% interval"].replace(" to ", "--"),
        "FLOPs (paper)": latex_power(cells["FLOPs, paper"]),
        "FLOPs (its method)": DASH if method in (NOT_RUN, NO_CAPACITY) else latex_power(method),
        "FLOPs (counted)": DASH if counted == NOT_RUN else latex_power(counted),
    }


def _section(results: Results, pair: str) -> str:
    published, ours = table2_systems(results, pair)
    test = results.set_name(pair, 2)
    scores = [run.scores[test] for run in results.of_pair(pair) if test in run.scores]
    where = f"test set `{test}`" if test else "no corpus at this scale"
    segments = f", {scores[0].segments:,} segments" if scores else ""
    table = markdown_table([_markdown_record(*both) for both in _side_by_side(published, ours)])
    return f"## {pair.upper()} ({where}{segments})\n\n{table}\n\n{_convention(results, pair)}"


def _convention(results: Results, pair: str) -> str:
    """What the numbers of a pair's section are."""
    convention = results.published.convention(pair)
    if not results.published.has(pair):
        return (
            f"BLEU of the averaged model, `{convention}`, and its 95% bootstrap interval; the "
            "paper does not have this pair."
        )
    return (
        f"BLEU of the averaged model by the paper's convention for this pair, `{convention}`, its "
        "difference to the paper's and its 95% bootstrap interval. Other systems' numbers are as "
        "their authors published them, on newstest2014."
    )


def _cost(results: Results) -> str:
    unknown = [name for name in results.devices if not results.published.capacity_of(name)]
    lines = [
        "* **FLOPs, paper** and **paper's method**: training time × number of GPUs × sustained "
        "single-precision capacity (Section 6.1), the capacity from config/published.yaml.",
        "* **FLOPs, counted**: multiplications and additions of all matrix products of the "
        "training, from the model's shape and the tokens seen. No device reaches its capacity, so "
        "of a training in single precision the count is the lower of the two; in bf16 a device "
        "may do more than its single-precision capacity, and the count can be the higher one.",
        "* **made by** leads to code, data, machine and hours of the run.",
        "* All BLEU conventions of the same translations: [bleu.md](bleu.md).",
    ]
    if unknown:
        names = ", ".join(map(markdown_escape, unknown))
        lines.append(f"* {NO_CAPACITY}: no capacity is on record for {names}.")
    return "\n".join(["## Training cost and columns", "", *lines])


def write_table2(results: Results, folder: Path) -> None:
    """Write ``table2.{md,csv,tex}`` into ``folder``."""
    records: list[dict[str, Cell]] = []
    latex, pairs = [], pairs_of(results)
    for pair in pairs:
        published, ours = table2_systems(results, pair)
        records += [paper_record(system) for system in published]
        records += [reproduced_record(system) for system in ours]
        caption = (
            f"BLEU and training cost, {pair.upper()}; --: not run or unknown ({results.about})."
        )
        cells = [_latex_record(*both) for both in _side_by_side(published, ours)]
        latex.append(latex_table(cells, caption, f"tab:results-{pair}"))
    write_csv(folder / "table2.csv", records, COLUMNS)
    write_text(folder / "table2.tex", "\n".join(latex))
    write_markdown(
        folder / "table2.md",
        "Table 2: BLEU and training cost",
        results.about,
        results.comparison_note,
        *(_section(results, pair) for pair in pairs),
        _cost(results),
        run_links(results),
    )
