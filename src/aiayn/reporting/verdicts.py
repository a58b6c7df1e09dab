"""Whether the paper's claims hold here, decided by tests alone (config/published.yaml).

A test against base is a paired one (approximate randomization, two-sided); p-values are adjusted
within a claim by Holm's method for all of its tests, run or not. A test against the published
systems asks where our 95% interval lies, and one of equality where the difference's interval lies.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from aiayn.config.project import TABLE3_PAIR
from aiayn.reporting.measured import NOT_RUN
from aiayn.reporting.published import Claim, ClaimTest
from aiayn.reporting.results import Comparison, Results
from aiayn.reporting.table2 import System, table2_systems

ALPHA = 0.05
Outcome = Literal["holds", "contradicted", "undecided", "not comparable", "not run"]

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
UNDECIDED = "not decided at this scale"


@dataclass(frozen=True, kw_only=True)
class Tested:
    """One test of a claim and what came of it; ``None`` where it was not run or has no such."""

    test: ClaimTest
    outcome: Outcome
    score: float | None = None
    other: float | None = None
    """What it was compared with: base's score, or the best published system's."""
    other_name: str = "base"
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    """Adjusted by Holm's method within the claim."""
    paper_difference: float | None = None


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A claim and its verdict."""

    number: int
    """From 1, in the paper's order."""
    claim: Claim
    tests: tuple[Tested, ...]

    @property
    def verdict(self) -> str:
        """Reproduced when every test holds; not reproduced when one is significantly reversed."""
        outcomes = [tested.outcome for tested in self.tests]
        if "contradicted" in outcomes:
            return NOT_REPRODUCED
        if "not run" in outcomes:
            return NOT_RUN
        return REPRODUCED if set(outcomes) == {"holds"} else UNDECIDED


def judge(results: Results) -> list[Judged]:
    """A verdict on each of the paper's claims."""
    return [
        Judged(number=number, claim=claim, tests=_tests(results, claim))
        for number, claim in enumerate(results.published.claims, start=1)
    ]


def holm(p_values: Sequence[float], tests: int) -> list[float]:
    """Adjusted p-values (Holm 1979), in the given order.

    Args:
        p_values: Of the tests that were run.
        tests: All tests planned; those not run count too.
    """
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (tests - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def _tests(results: Results, claim: Claim) -> tuple[Tested, ...]:
    paired = [test for test in claim.tests if test.than == "base"]
    found = {test: _comparison(results, test) for test in paired}
    directed = [test for test in paired if test.says != "equal"]
    run = {test: comparison.p for test in directed if (comparison := found[test])}
    adjusted = dict(zip(run, holm(list(run.values()), len(directed)), strict=True))
    return tuple(
        _against_base(results, test, found[test], adjusted.get(test))
        if test in found
        else _against_published(results, test)
        for test in claim.tests
    )


def _comparison(results: Results, test: ClaimTest) -> Comparison | None:
    """The paired test; ``None`` unless base and the row are among the runs asked for."""
    significance = results.significance
    tested = getattr(significance, test.metric) if significance else None
    rows = results.project.rows
    if tested is None or test.row not in rows or "base" not in rows:
        return None
    return tested.systems.get(test.row)  # type: ignore[no-any-return]


def _against_base(
    results: Results, test: ClaimTest, found: Comparison | None, p: float | None
) -> Tested:
    published = results.published.table3
    paper = getattr(published[test.row], test.metric) - getattr(published["base"], test.metric)
    if found is None:
        return Tested(test=test, outcome="not run", paper_difference=paper)
    return Tested(
        test=test,
        outcome=_equal(test, found) if p is None else _directed(test, found.difference, p),
        score=found.score,
        other=found.score - found.difference,
        difference=found.difference,
        low=found.low,
        high=found.high,
        p=p,
        paper_difference=paper,
    )


def _directed(test: ClaimTest, difference: float, p: float) -> Outcome:
    """Significant in the claimed direction, significant in the other, or neither."""
    if p >= ALPHA:
        return "undecided"
    better = (difference < 0) if test.metric == "ppl" else (difference > 0)
    return "holds" if better == (test.says == "better") else "contradicted"


def _equal(test: ClaimTest, found: Comparison) -> Outcome:
    """Equivalent when the whole interval is within the margin, different when all is beyond.

    Two scores below the margin cannot lie further apart: being so close says nothing.
    """
    if max(found.score, found.score - found.difference) <= test.margin:
        return "undecided"
    if -test.margin < found.low and found.high < test.margin:
        return "holds"
    return "contradicted" if found.low > test.margin or found.high < -test.margin else "undecided"


def _against_published(results: Results, test: ClaimTest) -> Tested:
    published, ours = table2_systems(results, TABLE3_PAIR)
    others = [system for system in published if system.row is None]
    own = next(system for system in ours if system.row == test.row)
    tested = _cheaper(test, own, others) if test.metric == "flops" else _above(test, own, others)
    if tested.outcome == "not run" or own.comparable:
        return tested
    return replace(tested, outcome="not comparable")


def _above(test: ClaimTest, own: System, others: list[System]) -> Tested:
    """Our 95% interval against the best published score."""
    scores = {system.model: system.paper_bleu for system in others if system.paper_bleu}
    model, best = max(scores.items(), key=lambda item: item[1])
    paper = own.paper_bleu - best if own.paper_bleu else None
    tested = Tested(
        test=test, outcome="not run", other=best, other_name=model, paper_difference=paper
    )
    if own.bleu is None or own.low is None or own.high is None:
        return tested
    low, high = own.low.mean - best, own.high.mean - best
    outcome: Outcome = "undecided"
    if low > test.margin:
        outcome = "holds"
    elif high < test.margin:
        outcome = "contradicted"
    difference = own.bleu.mean - best
    return replace(
        tested, outcome=outcome, score=own.bleu.mean, difference=difference, low=low, high=high
    )


def _cheaper(test: ClaimTest, own: System, others: list[System]) -> Tested:
    """A cost is no sample: it is lower or it is not; the larger of our two counts, to be fair."""
    costs = {system.model: system.paper_flops for system in others if system.paper_flops}
    model, least = min(costs.items(), key=lambda item: item[1])
    tested = Tested(test=test, outcome="not run", other=least, other_name=model)
    counts = [count.mean for count in (own.paper_method_flops, own.flops) if count]
    if not counts:
        return tested
    outcome: Outcome = "holds" if max(counts) < least else "contradicted"
    return replace(tested, outcome=outcome, score=max(counts))
