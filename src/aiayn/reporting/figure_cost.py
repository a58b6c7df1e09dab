"""Figure of BLEU against training cost: the published systems and the reproduced ones (Table 2)."""

from pathlib import Path

from matplotlib.axes import Axes

from aiayn.reporting.figure_style import COLOURS, MARKERS, new_figure, note_not_run, save
from aiayn.reporting.results import Results
from aiayn.reporting.table2 import System, pairs_of, table2_systems


def _published(axes: Axes, systems: list[System], markers: dict[str, str]) -> int:
    drawn = 0
    for system in systems:
        if system.paper_bleu is None or system.paper_flops is None:
            continue
        ours = system.row is not None
        axes.plot(
            system.paper_flops,
            system.paper_bleu,
            marker=markers[system.model],
            color=COLOURS[0] if ours else "#777777",
            linestyle="none",
            markersize=8 if ours else 6,
            label=f"{system.model}, published",
        )
        drawn += 1
    return drawn


def _reproduced(axes: Axes, systems: list[System], markers: dict[str, str]) -> int:
    drawn = 0
    for system in systems:
        if not (system.bleu and system.low and system.high and system.flops):
            continue
        x, y = system.flops.mean, system.bleu.mean
        axes.vlines(x, system.low.mean, system.high.mean, color=COLOURS[1], linewidth=1.0)
        axes.plot(
            x,
            y,
            marker=markers[system.model],
            color=COLOURS[1],
            markerfacecolor="white",
            linestyle="none",
            markersize=8,
            label=f"{system.model}, this run",
        )
        drawn += 1
    return drawn


def draw_cost(results: Results, folder: Path) -> None:
    """Write ``bleu_against_cost.{png,svg}``: a panel for each language pair.

    Systems without a published cost are left out. The paper's costs are its estimate, ours are
    counted operations.
    """
    pairs = pairs_of(results)
    figure, grid = new_figure(1, len(pairs), width=3.6 * len(pairs) + 2.4, height=4.2)
    systems = {pair: table2_systems(results, pair) for pair in pairs}
    models = [one.model for both in systems.values() for group in both for one in group]
    names = list(dict.fromkeys(models))
    markers = {name: MARKERS[number % len(MARKERS)] for number, name in enumerate(names)}
    for pair, axes in zip(pairs, grid[0], strict=True):
        published, ours = systems[pair]
        if not _published(axes, published, markers) + _reproduced(axes, ours, markers):
            note_not_run(axes)
            continue
        axes.set_xscale("log")
        axes.set_title(pair.upper())
        axes.set_xlabel("training cost (floating-point operations)")
        axes.set_ylabel("BLEU (test, the paper's convention)")
        axes.margins(x=0.08, y=0.08)
    handles = {
        label: handle
        for axes in grid[0]
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(list(handles.values()), list(handles), loc="outside right upper")
    save(figure, folder, "bleu_against_cost", results.about)
