"""Paired tests between systems that translated the same set: is a difference more than chance?

Differences of BLEU are tested by sacrebleu's approximate randomization: the two systems' outputs
are exchanged at random, segment by segment, and the p-value is the share of exchanges whose
difference is larger than the one observed (Riezler and Maxwell 2005). The 95% interval of a
difference is a paired bootstrap's (Koehn 2004): both systems on the same resampled segments.

Several seeds of a system are tested together, as Clark et al. (2011) do: outputs are exchanged
within a seed, and a resampled segment comes with its translations of all seeds.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest, Result

from aiayn.common.progress import track
from aiayn.scoring.bleu import RESAMPLES

TRIALS = 2_000
"""Exchanges: a p-value of 0.05 is known to within 0.01, and the least one is 0.0005."""
SEED = 12_345
"""sacrebleu's own default."""
_LIMITS = (2.5, 97.5)

System = Sequence[Sequence[str]]
"""Translations of the set, line for line, one list a seed."""
Statistics = npt.NDArray[np.int64]


class Comparison(NamedTuple):
    """A system beside the baseline; ``difference`` is the system's score minus the baseline's."""

    score: float
    difference: float
    low: float
    """Ends of the difference's 95% interval."""
    high: float
    p: float
    """Two-sided p-value of no difference."""


class PairedBleu(NamedTuple):
    """sacreBLEU of a baseline and of each other system."""

    signature: str
    baseline: float
    systems: dict[str, Comparison]

    def as_json(self) -> dict[str, Any]:
        """As a part of ``significance.json``."""
        systems = {name: comparison._asdict() for name, comparison in self.systems.items()}
        return {"signature": self.signature, "baseline": self.baseline, "systems": systems}


def compare_bleu(
    baseline: System, systems: Mapping[str, System], references: Sequence[str]
) -> PairedBleu:
    """Test every system against the baseline by sacreBLEU.

    Args:
        baseline: Translations of the references' sources, one list a seed.
        systems: By name, with as many seeds as the baseline.
        references: Raw text.
    """
    own = _statistics(baseline, references)
    draws = resamples(len(references))
    own_draws = _resampled_bleu(own, draws)
    signature, score, compared = "", _bleu(own.sum((0, 1))), {}
    for name, system in track(systems.items(), "significance", total=len(systems), unit="systems"):
        statistics = _statistics(system, references)
        signature, p = _randomization(baseline, system, references)
        p = max(p, least_p(int((statistics != own).any(-1).sum())))
        found = _bleu(statistics.sum((0, 1)))
        low, high = interval(_resampled_bleu(statistics, draws) - own_draws)
        compared[name] = Comparison(found, found - score, low, high, p)
    return PairedBleu(signature, score, compared)


def resamples(segments: int) -> npt.NDArray[np.int64]:
    """How often each bootstrap sample has each segment: [resamples, segments]."""
    rng = np.random.default_rng(SEED)
    return rng.multinomial(segments, np.full(segments, 1 / segments), size=RESAMPLES)


def interval(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The 95% percentile interval of bootstrap values."""
    low, high = np.percentile(values, _LIMITS)
    return float(low), float(high)


def least_p(differing: int) -> float:
    """The least p-value of a randomization test in which so many segments differ.

    Of the 2^k ways to exchange them, two show the observed difference itself. sacrebleu counts
    only larger ones, which would make a single changed segment, or none, look significant.
    """
    return min(1.0, 2.0 ** (1 - differing))


def _randomization(
    baseline: System, system: System, references: Sequence[str]
) -> tuple[str, float]:
    """sacrebleu's signature and two-sided p-value; seeds one after another."""
    named: list[tuple[str, Sequence[str]]] = [
        (name, [line for seed in lists for line in seed])
        for name, lists in (("baseline", baseline), ("system", system))
    ]
    test = PairedTest(
        named, {"BLEU": BLEU()}, [list(references) * len(baseline)], "ar", n_samples=TRIALS
    )
    signatures, results = test()
    (found,) = results["BLEU"][1:]
    assert isinstance(found, Result)
    assert found.p_value is not None
    return str(signatures["BLEU"]), found.p_value


def _statistics(system: System, references: Sequence[str]) -> Statistics:
    """n-gram matches and totals of orders 1 to 4, lengths: [seeds, segments, 10]."""
    metric = BLEU(effective_order=True)  # changes sentence scores, not counted here, and no count
    rows = [
        [
            [*found.counts, *found.totals, found.sys_len, found.ref_len]
            for found in (
                metric.sentence_score(line, [reference])
                for line, reference in zip(lines, references, strict=True)
            )
        ]
        for lines in system
    ]
    return np.array(rows, dtype=np.int64)


def _bleu(statistics: Statistics) -> float:
    """BLEU of summed statistics, [10], smoothed as sacreBLEU does by default."""
    values = [int(value) for value in statistics]
    return BLEU.compute_bleu(
        correct=values[:4],
        total=values[4:8],
        sys_len=values[8],
        ref_len=values[9],
        smooth_method="exp",
    ).score


def _resampled_bleu(
    statistics: Statistics, draws: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """BLEU of every bootstrap sample: [resamples]."""
    return np.array([_bleu(sums) for sums in draws @ statistics.sum(0)])
