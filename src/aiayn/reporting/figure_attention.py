"""Figures of attention weights, as the paper's Figures 3 to 5: each head of a layer is a map.

Three heads a sentence, chosen by a fixed rule: the one whose weights are the most concentrated, the
middling one and the most even one, by mean entropy.
"""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from aiayn.common.files import read_json
from aiayn.config.project import TABLE3_PAIR
from aiayn.config.yaml_files import Section, validate
from aiayn.reporting.figure_style import new_figure, note_not_run, save
from aiayn.reporting.results import Results

KINDS = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "attention of the decoder over the encoder",
}
HEADS = 3
FEWEST = 12
"""Tokens that a map has room for, at least: an untrained model's translation may be empty."""
INCHES_OF_TOKEN = 0.095
INCHES_OF_LABELS = 0.75
NAMES_OF_HEADS = ("sharpest", "middling", "broadest")

Heads = list[list[list[float]]]


class SentenceMaps(Section):
    """A sentence of ``attention.json``; weights are [heads][queries][positions]."""

    origin: str
    source: str
    unknown: tuple[str, ...] = ()
    """Subwords that the vocabulary lacks; then there is nothing else."""
    source_tokens: tuple[str, ...] = ()
    target_tokens: tuple[str, ...] = ()
    encoder: Heads = []
    decoder: Heads = []
    cross: Heads = []

    def heads(self, kind: str) -> NDArray[np.float64]:
        """[heads, queries, positions]"""
        return np.array(getattr(self, kind))

    def tokens(self, kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What looks, and what it looks at."""
        if kind == "encoder":
            return self.source_tokens, self.source_tokens
        return self.target_tokens, self.target_tokens if kind == "decoder" else self.source_tokens


class AttentionMaps(Section):
    """``attention.json``."""

    layer: int
    layers: int
    sentences: tuple[SentenceMaps, ...]


def read_maps(results: Results) -> AttentionMaps | None:
    """The maps of base, English to German; ``None`` before they are made.

    Raises:
        UserError: the file is not JSON or lacks a key; the message names both.
    """
    path = results.folder / TABLE3_PAIR / "attention.json"
    return validate(AttentionMaps, read_json(path), str(path)) if path.exists() else None


def mean_entropy(heads: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entropy of each head's weights in nats, mean over queries: [heads]."""
    logarithms = np.log(heads, where=heads > 0, out=np.zeros_like(heads))
    mean: NDArray[np.float64] = -(heads * logarithms).sum(-1).mean(-1)
    return mean


def shown_heads(heads: NDArray[np.float64]) -> list[int]:
    """Indices of the sharpest, the middling and the broadest head; all of fewer heads."""
    order = np.argsort(mean_entropy(heads), kind="stable")
    places = np.linspace(0, len(order) - 1, min(HEADS, len(order))).astype(int)
    return [int(order[place]) for place in places]


def _label(token: str) -> str:
    return token.replace("$", r"\$")  # or it would begin mathematics


def _draw_head(
    axes: Axes, weights: NDArray[np.float64], queries: tuple[str, ...], keys: tuple[str, ...]
) -> None:
    axes.imshow(weights, cmap="Greys", vmin=0, vmax=1, aspect="auto", interpolation="none")
    axes.grid(visible=False)
    axes.set_xticks(range(len(keys)), [_label(token) for token in keys], rotation=90, fontsize=6)
    axes.set_yticks(range(len(queries)), [_label(token) for token in queries], fontsize=6)
    axes.tick_params(length=0, pad=1)


def _draw_sentence(row: list[Axes], sentence: SentenceMaps, kind: str) -> None:
    heads = sentence.heads(kind)
    queries, keys = sentence.tokens(kind)
    shown = shown_heads(heads)
    for axes, name, index in zip(row, NAMES_OF_HEADS, shown, strict=False):
        _draw_head(axes, heads[index], queries, keys)
        axes.set_title(f"head {index + 1} of {len(heads)}, {name}", fontsize=8)
        if axes is not row[0]:
            axes.set_yticks([])
    for axes in row[len(shown) :]:
        axes.set_axis_off()
    row[0].set_ylabel(sentence.origin, fontsize=8)


def _notes(sentences: tuple[SentenceMaps, ...]) -> str:
    """Which sentences are not drawn, and why."""
    return "".join(
        f"\nLeft out, for its vocabulary has no {' '.join(one.unknown)}: {one.source[:60]} …"
        for one in sentences
        if one.unknown
    )


def _figure(maps: AttentionMaps, kind: str, folder: Path, about: str) -> None:
    drawn = [sentence for sentence in maps.sentences if not sentence.unknown]
    sizes = [[max(FEWEST, len(tokens)) for tokens in one.tokens(kind)] for one in drawn]
    height = sum(queries * INCHES_OF_TOKEN + INCHES_OF_LABELS for queries, _ in sizes)
    width = HEADS * max((keys for _, keys in sizes), default=30) * INCHES_OF_TOKEN
    figure, grid = new_figure(
        max(1, len(drawn)), HEADS, width=width + 1.6, height=(height or 2.0) + 0.9,
        heights=[queries for queries, _ in sizes] or None,
    )  # fmt: skip
    figure.suptitle(
        f"{KINDS[kind]}, layer {maps.layer} of {maps.layers}: a row is what looks, a column what "
        "it looks at; weight 0 white, 1 black",
        fontsize=10,
    )
    for row, sentence in zip(grid, drawn, strict=False):
        _draw_sentence(row, sentence, kind)
    if not drawn:
        note_not_run(grid[0][0], "no sentence that this vocabulary can spell")
    save(figure, folder, f"attention_{kind}", about + _notes(maps.sentences))


def draw_attention(results: Results, folder: Path) -> None:
    """Write ``attention_{encoder,decoder,cross}``, each as PNG and SVG."""
    maps = read_maps(results)
    for kind in KINDS:
        if maps:
            _figure(maps, kind, folder, results.about)
            continue
        figure, [[axes]] = new_figure(1, 1, width=6.0, height=2.4)
        axes.set_title(KINDS[kind])
        note_not_run(axes)
        axes.set_xticks([])
        save(figure, folder, f"attention_{kind}", results.about)
