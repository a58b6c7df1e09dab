"""Figure of Table 1 measured: time of a layer against sequence length, with crossing points."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from aiayn.common.files import read_json
from aiayn.config.yaml_files import Section, validate
from aiayn.reporting.figure_style import line_style, new_figure, note_not_run, save
from aiayn.reporting.results import Results

SELF_ATTENTION = "self-attention"


class LayerTimes(Section):
    """``layer_times.json``: seconds of a forward pass of one sequence."""

    d_model: int
    h: int
    k: int
    block: int
    threads: int
    device: str
    host: dict[str, str]
    torch: str
    """Its version."""
    lengths: tuple[int, ...]
    seconds: dict[str, tuple[float, ...]]
    """By kind of layer, in the order of ``lengths``."""


def crossing(lengths: Any, one: Any, other: Any) -> float | None:
    """The last length from which ``one`` is the slower, by straight lines between logarithms.

    ``None`` when it is not slower at the greatest length, or is so throughout.
    """
    x, gap = np.log(lengths), np.log(one) - np.log(other)
    faster = np.flatnonzero(gap <= 0)
    if gap[-1] <= 0 or not len(faster):
        return None
    before = int(faster[-1])
    share = -gap[before] / (gap[before + 1] - gap[before])
    return float(np.exp(x[before] + share * (x[before + 1] - x[before])))


def _complexity(text: str) -> str:
    """``O(k n d^2)`` as mathematics."""
    return "$" + text.replace(" ", r"\,") + "$"


def _draw_crossings(axes: Axes, times: LayerTimes) -> None:
    """Number the crossing points; their lengths stand beside the axes, where nothing overlaps."""
    own = times.seconds[SELF_ATTENTION]
    notes: list[str] = []
    for kind, other in times.seconds.items():
        n = crossing(times.lengths, own, other) if kind != SELF_ATTENTION else None
        if n is None:
            continue
        y = float(np.exp(np.interp(np.log(n), np.log(times.lengths), np.log(own)))) * 1e3
        axes.plot([n], [y], marker="o", markersize=13, markerfacecolor="white", color="black")
        number = str(len(notes) + 1)
        axes.annotate(number, (n, y), ha="center", va="center", fontsize=8, zorder=10)
        notes.append(f"{number}: {kind}, n ≈ {n:,.0f}")
    if notes:
        text = "\n".join(["self-attention becomes slower than", *notes])
        axes.text(1.03, 0.5, text, transform=axes.transAxes, fontsize=8, va="top")


def _draw(axes: Axes, times: LayerTimes, complexities: dict[str, str]) -> None:
    for number, (kind, seconds) in enumerate(times.seconds.items()):
        label = f"{kind}, {_complexity(complexities[kind])}" if kind in complexities else kind
        axes.plot(times.lengths, np.array(seconds) * 1e3, label=label, **line_style(number))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(FixedLocator(list(times.lengths)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("sequence length n (positions)")
    axes.set_ylabel("time of a forward pass (ms)")
    threads = "" if times.threads == 1 else "s"
    axes.set_title(
        f"one layer, d = {times.d_model}, h = {times.h}, k = {times.k}, r = {times.block}; "
        f"{times.device}, {times.threads} thread{threads}, fp32",
        fontsize=9,
    )
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def draw_layers(results: Results, folder: Path) -> None:
    """Write ``layer_times.{png,svg}``.

    Raises:
        UserError: layer_times.json is not JSON or lacks a key; the message names both.
    """
    path = results.folder / "layer_times.json"
    figure, [[axes]] = new_figure(1, 1, width=9.0, height=4.4)
    if path.exists():
        times = validate(LayerTimes, read_json(path), str(path))
        published = {row.layer: row.complexity for row in results.published.table1}
        _draw(axes, times, published)
        _draw_crossings(axes, times)
    else:
        note_not_run(axes)
    save(figure, folder, "layer_times", results.about)
