"""Figure of label smoothing (Section 5.4): the target, and what it makes of over-confidence."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from aiayn.reporting.figure_style import COLOURS, line_style, new_figure, save
from aiayn.reporting.results import Results

VOCABULARY = 37_000
"""About; Section 5.1."""


def target(eps: float, rows: int) -> tuple[float, float]:
    """Probability of the right token and of each other: 1 - eps and eps / (V - 1)."""
    return 1 - eps, eps / (rows - 1)


def smoothed_loss(p: NDArray[np.float64], eps: float, rows: int) -> NDArray[np.float64]:
    """Cross-entropy in nats when the right token has probability p and the others share the rest.

    Lowest at p = 1 - eps: a model that is surer than its target pays for it.
    """
    right, others = target(eps, rows)
    loss: NDArray[np.float64] = -right * np.log(p)
    if eps:
        loss = loss - others * (rows - 1) * np.log((1 - p) / (rows - 1))
    return loss


def _draw_target(axes: Axes, values: list[float]) -> None:
    width = 0.8 / len(values)
    hatches = ("", "///", "...")
    for number, eps in enumerate(values):
        heights = target(eps, VOCABULARY)
        places = [place + (number - (len(values) - 1) / 2) * width for place in (0, 1)]
        axes.bar(
            places,
            heights,
            width,
            label=rf"$\epsilon_{{ls}}$ {eps:g}",
            color=COLOURS[number],
            hatch=hatches[number % len(hatches)],
            edgecolor="white",
        )
        for place, height in zip(places, heights, strict=True):
            text = f"{height:.2g}" if height else "0"
            at = max(height, 1e-6)
            axes.text(place, at * 1.3, text, ha="center", va="bottom", fontsize=7)
    axes.set_yscale("log")
    axes.set_ylim(1e-6, 6)
    axes.set_xticks([0, 1], ["the right token", f"each of the other {VOCABULARY - 1:,}"])
    axes.set_ylabel("target probability")
    axes.set_title("the target")
    axes.legend(loc="upper right")


def _draw_loss(axes: Axes, values: list[float]) -> None:
    p = np.linspace(0.02, 0.9995, 800)
    for number, eps in enumerate(values):
        look = line_style(number) | {"marker": ""}
        axes.plot(p, smoothed_loss(p, eps, VOCABULARY), label=rf"$\epsilon_{{ls}}$ {eps:g}", **look)
        if eps:
            lowest = np.array([1 - eps])
            look = line_style(number) | {"linestyle": "none"}
            axes.plot(lowest, smoothed_loss(lowest, eps, VOCABULARY), **look)
    axes.set_xlabel("model's probability of the right token")
    axes.set_ylabel("loss (nats per token)")
    axes.set_title(r"the loss (markers: lowest, at $1-\epsilon_{ls}$)")
    axes.legend()


def draw_smoothing(results: Results, folder: Path) -> None:
    """Write ``label_smoothing.{png,svg}``, for the values of Table 3."""
    rows = results.published.table3.values()
    values = sorted({row.eps_ls for row in rows if row.eps_ls is not None})
    figure, [[left, right]] = new_figure(1, 2, width=9.4, height=3.8)
    _draw_target(left, values)
    _draw_loss(right, values)
    save(figure, folder, "label_smoothing", results.about)
