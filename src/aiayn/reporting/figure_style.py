"""One look for all figures: readable in grey, the same bytes for the same numbers."""

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from aiayn.common.files import atomic_write

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#7f7f7f")
"""Okabe and Ito's colours, which colour-blind readers tell apart; never the only difference."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h", "p")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)), (0, (3, 3, 1, 3)))
INCHES_OF_NOTE = 0.15
"""Height below the axes for each line of the note, and as much again as a margin."""

# Set once for the process: lines take their defaults when they are made, files when they are saved.
matplotlib.rcParams.update(
    {
        "savefig.dpi": 150,
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.alpha": 0.3,
        "legend.frameon": False,
        "legend.fontsize": 8,
        "legend.handlelength": 3.0,
        "lines.linewidth": 1.4,
        "lines.markersize": 5,
        "svg.hashsalt": "aiayn",
    }
)


def line_style(number: int) -> dict[str, Any]:
    """Colour, dashes and marker of the ``number``-th line, from 0: any one of them tells it."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": LINES[number % len(LINES)],
        "marker": MARKERS[number % len(MARKERS)],
    }


def new_figure(
    rows: int, columns: int, *, width: float, height: float, heights: list[int] | None = None
) -> tuple[Figure, list[list[Axes]]]:
    """A figure and its grid of axes, in inches; ``heights`` are the rows' shares."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, height_ratios=heights)
    return figure, [list(row) for row in axes]


def step_axis(axes: Axes) -> None:
    """A horizontal axis of training steps: 500, 2k, 100k."""
    axes.set_xlabel("step")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))


def note_not_run(axes: Axes, text: str = "not run") -> None:
    """Say in axes why there is little or nothing in them."""
    axes.text(0.5, 0.9, text, transform=axes.transAxes, ha="center", va="center", color="#555555")
    if not any(len(line.get_xdata()) for line in axes.lines):  # type: ignore[arg-type]
        axes.set_yticks([])


def save(figure: Figure, folder: Path, name: str, about: str) -> None:
    """Write ``<name>.png`` and ``<name>.svg`` with a note below the axes: the scale's line."""
    share = INCHES_OF_NOTE * (2 + about.count("\n")) / figure.get_figheight()
    figure.set_layout_engine("constrained", rect=(0, share, 1, 1 - share))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once: it takes most of the time
    figure.text(0.01, 0.01, about, fontsize=7, color="#444444", va="bottom", wrap=True)
    for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
        with atomic_write(folder / f"{name}.{kind}", "wb") as stream:
            figure.savefig(stream, format=kind, metadata=metadata)
