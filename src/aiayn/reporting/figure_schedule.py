"""Figure of the learning rate: Equation 3 for this run and for the paper, with recorded rates."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from aiayn.common.formulas import learning_rate
from aiayn.config import Run
from aiayn.config.project import TABLE3_PAIR
from aiayn.reporting.curves import training_curve
from aiayn.reporting.figure_style import line_style, new_figure, save, step_axis
from aiayn.reporting.results import Results
from aiayn.reporting.table3 import resolved_shape

PAPER_WARMUP = "training.warmup"
RECORDED_POINTS = 12


def _curve(axes: Axes, number: int, label: str, steps: int, **schedule: Any) -> None:
    grid = np.unique(np.linspace(1, steps, 400).astype(int))
    rates = [learning_rate(int(step), **schedule) for step in grid]
    axes.plot(grid, rates, label=label, **line_style(number) | {"marker": ""})


def _ours(axes: Axes, results: Results) -> None:
    """One curve for each width and schedule among this scale's rows."""
    seen: dict[tuple[int, int, int, float], int] = {}
    for name in results.project.rows:
        if not any(resolved_shape(results, name).values()):
            continue
        model, training = results.project.resolve(Run(TABLE3_PAIR, name, 1))
        key = (model.d_model, training.steps, training.warmup, training.lr_factor)
        if key in seen:
            continue
        number = seen[key] = len(seen)
        _curve(
            axes,
            number,
            rf"{name}: $d_{{model}}$ {model.d_model}, warm-up {training.warmup:,}",
            training.steps,
            d_model=model.d_model,
            warmup=training.warmup,
            factor=training.lr_factor,
        )
        for run in results.of(TABLE3_PAIR, name)[:1]:
            recorded = training_curve(run)
            chosen = recorded.iloc[:: max(1, len(recorded) // RECORDED_POINTS)]
            look = line_style(number) | {"linestyle": "none", "markerfacecolor": "white"}
            axes.plot(chosen["step"], chosen["lr"], **look)


def _paper(axes: Axes, results: Results) -> None:
    published = results.published
    warmup = next(item.value for item in published.recipe if item.key == PAPER_WARMUP)
    assert isinstance(warmup, int)
    for number, name in enumerate(("base", "big")):
        row = published.table3[name]
        assert row.d_model is not None
        assert row.steps is not None
        label = rf"{name}: $d_{{model}}$ {row.d_model}, warm-up {warmup:,}"
        _curve(axes, number, label, row.steps, d_model=row.d_model, warmup=warmup)


def draw_schedule(results: Results, folder: Path) -> None:
    """Write ``learning_rate.{png,svg}``: lines are Equation 3, markers are train.csv's rates."""
    figure, [[left, right]] = new_figure(1, 2, width=9.4, height=4.4)
    _ours(left, results)
    _paper(right, results)
    left.set_title("this run (markers: recorded)")
    right.set_title("the paper")
    for axes in (left, right):
        axes.set_ylabel("learning rate")
        axes.set_ylim(bottom=0)
        axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
        step_axis(axes)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=1)
    save(figure, folder, "learning_rate", results.about)
