"""A measured number: over several seeds a mean and a deviation; and how numbers are printed."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

NOT_RUN = "not run"


@dataclass(frozen=True)
class Measured:
    """The mean over runs with different seeds."""

    mean: float
    deviation: float = 0.0
    """Sample standard deviation; 0 with one seed."""
    seeds: int = 1

    @classmethod
    def of(cls, values: Iterable[float | None]) -> "Measured | None":
        """The mean of those that are there; ``None`` when none is."""
        present = [float(value) for value in values if value is not None]
        if not present:
            return None
        deviation = statistics.stdev(present) if len(present) > 1 else 0.0
        return cls(statistics.fmean(present), deviation, len(present))


def mean_of(measured: Measured | None) -> float | None:
    """The mean, where there is one."""
    return measured.mean if measured else None


def difference(measured: Measured | None, paper: float | None) -> float | None:
    """Ours minus the paper's, where there are both."""
    return None if measured is None or paper is None else measured.mean - paper


def deviation_of(measured: Measured | None) -> float | None:
    """The deviation over seeds, for a CSV file; ``None`` with one seed, which has none."""
    return round(measured.deviation, 4) if measured and measured.seeds > 1 else None


def rounded(measured: Measured | None, digits: int = 4) -> float | None:
    """The mean for a CSV file."""
    return None if measured is None else round(measured.mean, digits)


def bleu_text(value: float | None) -> str:
    """BLEU with two decimals."""
    return "" if value is None else f"{value:.2f}"


def paper_bleu_text(value: float | None) -> str:
    """BLEU with the digits that the paper prints: 26.36, 27.3."""
    return "" if value is None else f"{value:.2f}".removesuffix("0")


def ppl_text(value: float | None) -> str:
    """Perplexity: two decimals, none from 100 on."""
    if value is None:
        return ""
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def millions_text(value: float | None) -> str:
    """Millions of parameters: one decimal, three below one million."""
    if value is None:
        return ""
    return f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def flops_text(value: float | None) -> str:
    """Floating-point operations with two digits: 3.3e18."""
    if value is None:
        return ""
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def with_deviation(measured: Measured | None, text: str) -> str:
    """A formatted mean, with its deviation and the number of seeds when there are several."""
    if measured is None:
        return NOT_RUN
    if measured.seeds == 1:
        return text
    return f"{text} ± {measured.deviation:.2f} ({measured.seeds} seeds)"


def signed_text(value: float | None) -> str:
    """A difference, with its sign."""
    return "" if value is None else f"{value:+.2f}"


def ends_text(low: float | None, high: float | None) -> str:
    """A 95% interval."""
    return "" if low is None or high is None else f"{low:.2f} to {high:.2f}"


def interval_text(low: Measured | None, high: Measured | None) -> str:
    """A score's 95% interval; of several seeds the mean of their ends."""
    return ends_text(mean_of(low), mean_of(high))
