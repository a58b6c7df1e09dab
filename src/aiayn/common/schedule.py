"""The learning-rate schedule (Section 5.3, Equation 3); here, since figures draw it too."""


def learning_rate(step: int, *, d_model: int, warmup: int, factor: float = 1.0) -> float:
    """lrate = d_model^-0.5 * min(step^-0.5, step * warmup^-1.5), times ``factor``.

    Args:
        step: From 1.
        factor: 1 in the paper.
    """
    return factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
