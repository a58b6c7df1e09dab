"""Training cost by the paper's method: time, number of GPUs and a device's capacity."""

from aiayn.reporting.published import Published
from aiayn.reporting.results import RunResults


def device_hours(run: RunResults) -> float | None:
    """Hours of training times devices; ``None`` when it was not run."""
    if run.trained is None:
        return None
    return sum(piece.seconds * piece.ranks for piece in run.trained.pieces) / 3600


def paper_method_flops(published: Published, run: RunResults) -> float | None:
    """Section 6.1: training time x number of GPUs x sustained single-precision capacity.

    ``None`` when the run is not there or a device's capacity is unknown, as a processor's.
    """
    total = 0.0
    for piece in run.trained.pieces if run.trained else ():
        capacity = published.capacity_of(piece.device)
        if capacity is None:
            return None
        total += piece.seconds * piece.ranks * capacity.tflops * 1e12
    return total or None
