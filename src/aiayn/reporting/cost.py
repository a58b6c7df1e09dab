"""Training cost by the paper's method: time, number of GPUs and a device's capacity."""

from aiayn.reporting.published import Published
from aiayn.reporting.results import RunResults


def device_hours(run: RunResults) -> float | None:
    """Hours of training times devices; ``None`` when it was not run."""
    return run.trained.seconds * run.trained.ranks / 3600 if run.trained else None


def paper_method_flops(published: Published, run: RunResults) -> float | None:
    """Section 6.1: training time x number of GPUs x sustained single-precision capacity.

    ``None`` when the run is not there or its device's capacity is unknown, as a processor's.
    """
    hours = device_hours(run)
    capacity = published.capacity_of(run.trained.device) if run.trained else None
    return hours * 3600 * capacity.tflops * 1e12 if hours and capacity else None
