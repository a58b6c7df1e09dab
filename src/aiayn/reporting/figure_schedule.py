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
WARMUP_QUARTERS = (1, 2, 4, 8, 16)
"""Warm-ups drawn, in quarters of the paper's."""
SHOWN_WARMUPS = 2
"""Steps shown, in the longest warm-up drawn."""


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


def _paper_warmup(results: Results) -> int:
    recipe = results.published.recipe
    warmup = next(item.value for item in recipe if item.key == PAPER_WARMUP)
    assert isinstance(warmup, int)
    return warmup


def _warmups(axes: Axes, results: Results) -> None:
    """The peak is (d_model * warmup)^-0.5, at step warmup; from there on the curves are one."""
    base, warmup = results.published.table3["base"], _paper_warmup(results)
    assert base.d_model is not None
    values = [warmup * factor // 4 for factor in WARMUP_QUARTERS]
    for number, one in enumerate(values):
        steps = SHOWN_WARMUPS * max(values)
        _curve(axes, number, f"warm-up {one:,}", steps, d_model=base.d_model, warmup=one)


def _paper(axes: Axes, results: Results) -> None:
    published, warmup = results.published, _paper_warmup(results)
    for number, name in enumerate(("base", "big")):
        row = published.table3[name]
        assert row.d_model is not None
        assert row.steps is not None
        label = rf"{name}: $d_{{model}}$ {row.d_model}, warm-up {warmup:,}"
        _curve(axes, number, label, row.steps, d_model=row.d_model, warmup=warmup)


def draw_schedule(results: Results, folder: Path) -> None:
    """Write ``learning_rate.{png,svg}``: lines are Equation 3, markers are train.csv's rates."""
    figure, [[left, middle, right]] = new_figure(1, 3, width=12.6, height=4.6)
    _ours(left, results)
    _paper(middle, results)
    _warmups(right, results)
    left.set_title("this run (markers: recorded)")
    middle.set_title("the paper")
    right.set_title("the paper's base with other warm-ups")
    for axes in (left, middle, right):
        axes.set_ylabel("learning rate")
        axes.set_ylim(bottom=0)
        axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
        step_axis(axes)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=1)
    save(figure, folder, "learning_rate", results.about)
