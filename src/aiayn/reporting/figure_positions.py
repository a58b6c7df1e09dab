"""Figures of the sinusoidal positional encoding (Section 3.5)."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aiayn.common.formulas import sinusoids
from aiayn.reporting.figure_style import line_style, new_figure, save
from aiayn.reporting.results import Results

POSITIONS = 100
OFFSETS = 100


def dot_products(d_model: int, offsets: int) -> NDArray[np.float64]:
    """PE(p) . PE(p + k) for k from 0, the same for every p: [offsets]."""
    encoding = sinusoids(offsets, d_model)
    return encoding @ encoding[0]


def _heat_map(results: Results, folder: Path, d_model: int) -> None:
    figure, [[axes]] = new_figure(1, 1, width=7.0, height=4.0)
    image = axes.imshow(sinusoids(POSITIONS, d_model), aspect="auto", cmap="gray", origin="upper")
    axes.grid(visible=False)
    axes.set_title(rf"sinusoidal positional encoding, $d_{{model}}$ {d_model}")
    axes.set_xlabel("dimension (even: sine, odd: cosine)")
    axes.set_ylabel("position (subwords)")
    figure.colorbar(image, ax=axes, label="value")
    save(figure, folder, "positional_encoding", results.about)


def _dot_products(results: Results, folder: Path, widths: list[tuple[str, int]]) -> None:
    figure, [[axes]] = new_figure(1, 1, width=6.0, height=3.4)
    for number, (name, d_model) in enumerate(widths):
        values = dot_products(d_model, OFFSETS) / (d_model / 2)
        label = rf"{name}, $d_{{model}}$ {d_model}"
        axes.plot(values, label=label, **line_style(number) | {"marker": ""})
    axes.set_title("similarity of positions depends on their offset alone")
    axes.set_xlabel("offset k (subwords)")
    axes.set_ylabel(r"$PE(p)\cdot PE(p+k)\,/\,(d_{model}/2)$")
    axes.legend()
    save(figure, folder, "positional_dot_products", results.about)


def draw_positions(results: Results, folder: Path) -> None:
    """Write ``positional_encoding`` and ``positional_dot_products``, each as PNG and SVG."""
    ours = results.project.scale.model.d_model
    paper = results.published.table3["base"].d_model
    assert paper
    _heat_map(results, folder, ours)
    widths = [("this run", ours)] if ours != paper else []
    _dot_products(results, folder, [*widths, ("the paper", paper)])
