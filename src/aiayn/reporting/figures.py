"""All figures of a report, in order, and what draws each."""

from collections.abc import Callable
from pathlib import Path

from aiayn.reporting.figure_ablations import draw_ablations
from aiayn.reporting.figure_attention import draw_attention
from aiayn.reporting.figure_cost import draw_cost
from aiayn.reporting.figure_curves import draw_curves
from aiayn.reporting.figure_layers import draw_layers
from aiayn.reporting.figure_positions import draw_positions
from aiayn.reporting.figure_schedule import draw_schedule
from aiayn.reporting.figure_smoothing import draw_smoothing
from aiayn.reporting.results import Results

FIGURES = {
    "ablation_A": "(A) attention heads",
    "ablation_B": "(B) key size",
    "ablation_C": "(C) model size",
    "ablation_D": "(D) regularization",
    "ablation_E": "(E) positional encoding",
    "bleu_against_cost": "BLEU against training cost",
    "learning_loss": "Training loss",
    "learning_ppl": "Perplexity on the dev set",
    "attention_encoder": "Encoder self-attention",
    "attention_decoder": "Decoder self-attention",
    "attention_cross": "Attention of the decoder over the encoder",
    "layer_times": "Time of a layer against sequence length (Table 1, measured)",
    "learning_rate": "Learning rate",
    "label_smoothing": "Label smoothing",
    "positional_encoding": "Positional encoding",
    "positional_dot_products": "Positional encoding: similarity against offset",
}
"""Title by name; each is written as PNG and SVG."""

DRAWINGS: tuple[Callable[[Results, Path], None], ...] = (
    draw_ablations,
    draw_cost,
    draw_curves,
    draw_attention,
    draw_layers,
    draw_schedule,
    draw_smoothing,
    draw_positions,
)
"""Each draws one or several of ``FIGURES`` into a folder."""
