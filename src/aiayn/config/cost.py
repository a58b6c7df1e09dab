"""Parameters and floating-point operations, computed from a model's shape alone.

Counted are the multiplications and additions of matrix products, two operations each; a training
step costs three times its forward pass. The quadratic terms of self-attention (Section 4, Table 1)
are among them; embedding look-ups, softmax and normalization are left out. The paper estimates cost
from time instead (Section 6.1).
"""

from dataclasses import astuple, dataclass

from aiayn.config.sections import ModelConfig

TRAINING_PASSES = 3
"""Forward, and backward through activations and through weights."""


@dataclass(frozen=True)
class TokenCounts:
    """Sums over sentence pairs of S source and T target tokens."""

    source: int = 0
    target: int = 0
    source_squared: int = 0
    """Sum of S * S: encoder self-attention."""
    target_squared: int = 0
    """Sum of T * T: decoder self-attention."""
    product: int = 0
    """Sum of S * T: attention of the decoder over the encoder."""

    def __add__(self, other: "TokenCounts") -> "TokenCounts":
        return TokenCounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


def _attention_weights(model: ModelConfig) -> tuple[int, int, int]:
    """Weights of the projections to queries, to keys and values, and of the output."""
    heads = model.h * model.d_model
    return (
        heads * model.query_width,
        heads * (model.query_width + model.value_width),
        heads * model.value_width,
    )


def encoder_layer_parameters(model: ModelConfig) -> int:
    """Parameters of one encoder layer, biases and LayerNorms included."""
    biases = model.h * (2 * model.query_width + model.value_width) + model.d_model
    attention = sum(_attention_weights(model)) + biases
    feed_forward = 2 * model.d_model * model.d_ff + model.d_ff + model.d_model
    return attention + feed_forward + 2 * 2 * model.d_model


def decoder_layer_parameters(model: ModelConfig) -> int:
    """Parameters of one decoder layer: one more attention and one more LayerNorm."""
    biases = model.h * (2 * model.query_width + model.value_width) + model.d_model
    return (
        encoder_layer_parameters(model)
        + sum(_attention_weights(model))
        + biases
        + 2 * model.d_model
    )


def parameters(model: ModelConfig, vocabulary_rows: int) -> int:
    """Parameters of the whole model; the tied embedding counts once."""
    learned = model.max_positions * model.d_model if model.positions == "learned" else 0
    layers = encoder_layer_parameters(model) + decoder_layer_parameters(model)
    return model.N * layers + vocabulary_rows * model.d_model + learned


def training_flops(model: ModelConfig, vocabulary_rows: int, tokens: TokenCounts) -> int:
    """Operations of training on so many tokens."""
    queries, keys_values, output = _attention_weights(model)
    feed_forward = 2 * model.d_model * model.d_ff
    encoder = queries + keys_values + output + feed_forward
    decoder = 2 * (queries + output) + keys_values + feed_forward
    products = model.N * (
        encoder * tokens.source + decoder * tokens.target + keys_values * tokens.source
    )
    heads = model.h * (model.query_width + model.value_width)
    scores = model.N * heads * (tokens.source_squared + tokens.target_squared + tokens.product)
    projection = vocabulary_rows * model.d_model * tokens.target
    return 2 * TRAINING_PASSES * (products + scores + projection)
