"""Figures of Table 3's groups (A) to (E): BLEU and perplexity, this run's beside the paper's.

Each group is drawn against what it varies, base's value included. Ours and the paper's have axes of
their own: at a smaller scale the shapes are comparable, the values are not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes

from aiayn.reporting.figure_style import line_style, new_figure, note_not_run, save
from aiayn.reporting.results import Results
from aiayn.reporting.table3 import Row, table3_rows

GROUPS = {
    "A": "(A) attention heads",
    "B": "(B) key size",
    "C": "(C) model size",
    "D": "(D) regularization",
    "E": "(E) positional encoding",
}
_SYMBOLS = {
    "d_k": "$d_k$",
    "d_model": r"$d_{model}$",
    "d_ff": r"$d_{ff}$",
    "h": "$h$",
    "N": "$N$",
    "p_drop": "$P_{drop}$",
    "eps_ls": r"$\epsilon_{ls}$",
    "positions": "positions",
}

Value = Callable[[Row], float | None]


@dataclass(frozen=True)
class Series:
    """Rows of a group that vary one key, base among them, in the order of its values."""

    key: str
    rows: tuple[Row, ...]


def group_series(results: Results, rows: list[Row], group: str) -> list[Series]:
    """The series of a group: one for each key that its rows change."""
    base = next(row for row in rows if row.name == "base")
    by_key: dict[str, list[Row]] = {}
    for row in rows:
        change = results.project.experiments[row.name].change
        if row.group == group and change:
            by_key.setdefault(next(iter(change)), [base]).append(row)
    return [
        Series(key, tuple(sorted(members, key=partial(_order, key=key))))
        for key, members in by_key.items()
        if key in base.shape
    ]


def _order(row: Row, key: str) -> float:
    # Numbers by size; sinusoidal before learned.
    value = row.shape[key]
    return float(value != "sinusoidal" if isinstance(value, str) else value or 0)


def _draw_series(
    axes: Axes, number: int, points: list[tuple[int, Row, float]], interval: bool
) -> None:
    look = line_style(number)
    axes.plot([x for x, _, _ in points], [y for _, _, y in points], **look)
    for x, row, y in points:
        if row.name == "base":
            axes.plot([x], [y], **look | {"markerfacecolor": "white", "markersize": 8})
        if interval and row.low and row.high:
            axes.vlines(x, row.low.mean, row.high.mean, color=look["color"], linewidth=0.8)


def _draw(axes: Axes, series: list[Series], value: Value, *, ours: bool) -> bool:
    """Draw all series side by side; whether there was anything but base to draw."""
    start, drawn = 0, False
    ticks: dict[int, str] = {}
    for number, one in enumerate(series):
        values = [(start + index, row, value(row)) for index, row in enumerate(one.rows)]
        points = [(x, row, y) for x, row, y in values if y is not None]
        _draw_series(axes, number, points, interval=ours and value is _our_bleu)
        drawn = drawn or any(row.name != "base" for _, row, _ in points)
        middle = start + (len(one.rows) - 1) / 2
        axes.text(
            middle,
            -0.16,
            _SYMBOLS.get(one.key, one.key),
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="top",
        )
        ticks |= {x: _tick(row, one.key, ours) for x, row, _ in values}
        start += len(one.rows) + 1
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.set_xlim(-0.6, start - 1.4)
    return drawn


def _tick(row: Row, key: str, ours: bool) -> str:
    value = row.shape[key] if ours else getattr(row.paper, key, None)
    return "" if value is None else str(value)


def _our_bleu(row: Row) -> float | None:
    return row.bleu.mean if row.bleu else None


def _our_ppl(row: Row) -> float | None:
    return row.ppl.mean if row.ppl else None


def _paper_bleu(row: Row) -> float | None:
    return row.paper_bleu


def _paper_ppl(row: Row) -> float | None:
    return row.paper_ppl


PANELS: tuple[tuple[str, Value, Value], ...] = (
    ("BLEU (dev)", _our_bleu, _paper_bleu),
    ("PPL per\nBPE token (dev)", _our_ppl, _paper_ppl),
)


def _ablation(results: Results, rows: list[Row], group: str, folder: Path) -> None:
    series = group_series(results, rows, group)
    width = 7.5 + 2.0 * (len(series) - 1)
    figure, axes = new_figure(2, 2, width=width, height=5.2)
    for (label, ours, paper), (left, right) in zip(PANELS, axes, strict=True):
        if not _draw(left, series, ours, ours=True):
            note_not_run(left)
        _draw(right, series, paper, ours=False)
        left.set_ylabel(label)
    axes[0][0].set_title(f"{GROUPS[group]}: this run (hollow: base)")
    axes[0][1].set_title("the paper (newstest2013)")
    save(figure, folder, f"ablation_{group}", results.about)


def draw_ablations(results: Results, folder: Path) -> None:
    """Write ``ablation_{A..E}.{png,svg}``."""
    rows = table3_rows(results)
    for group in GROUPS:
        _ablation(results, rows, group, folder)
