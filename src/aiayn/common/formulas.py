"""The paper's two closed formulas, which training and the figures of the report both need."""

import numpy as np
from numpy.typing import NDArray


def learning_rate(step: int, *, d_model: int, warmup: int, factor: float = 1.0) -> float:
    """lrate = d_model^-0.5 * min(step^-0.5, step * warmup^-1.5), times ``factor``.

    Section 5.3, Equation 3.

    Args:
        step: From 1.
        factor: 1 in the paper.
    """
    return factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def sinusoids(positions: int, d_model: int) -> NDArray[np.float64]:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(same) (Section 3.5).

    Sines and cosines alternate, as in the paper; the original code puts all sines first, which is
    the same up to the order of dimensions.

    Returns:
        [positions, d_model]
    """
    angles = np.arange(positions)[:, None] / 10_000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(positions, d_model)
