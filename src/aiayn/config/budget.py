"""Which rows to train when not all can be paid for."""

from collections import Counter
from dataclasses import dataclass

from aiayn.config.plan import Estimate, Plan
from aiayn.config.project import TABLE3_PAIR

ALWAYS = "base"
"""Every other row is a difference from it."""


@dataclass(frozen=True)
class Proposal:
    """What to train within a budget."""

    budget: float
    """GPU-hours."""
    rows: tuple[str, ...]
    """In the order of config/experiments.yaml; empty when not even base can be paid for."""
    pairs: tuple[str, ...]
    gpu_hours: float
    left_out: tuple[Estimate, ...]
    """Planned trainings that it does not pay for."""


def propose(plan: Plan, budget: float) -> Proposal:
    """Choose rows and language pairs: base first, then the most evidence for a GPU-hour.

    What a training is worth: 1 as a row of Table 2. As a row of Table 3, 1 divided by one more
    than the rows of its group chosen before it: the first row of a group shows the effect that the
    paper claims of it, each further one refines the picture. A language pair is worth the trainings
    that it adds to the rows chosen so far.

    Args:
        budget: GPU-hours on the plan's devices.
    """
    settings = plan.project.settings
    rows: set[str] = set()
    pairs = {settings.pairs[0]}
    items = [ALWAYS] if ALWAYS in plan.project.rows else list(plan.project.rows)
    while options := _affordable(plan, rows, pairs, items, budget):
        best = max(options, key=lambda item: options[item])
        (pairs if best in settings.pairs else rows).add(best)
        items = [*plan.project.rows, *settings.pairs]
    chosen = _trainings(plan, rows, pairs)
    return Proposal(
        budget,
        tuple(row for row in plan.project.rows if row in rows),
        tuple(pair for pair in settings.pairs if pair in pairs) if rows else (),
        _hours(chosen),
        tuple(each for each in plan.trainings if each not in chosen),
    )


def _affordable(
    plan: Plan, rows: set[str], pairs: set[str], items: list[str], budget: float
) -> dict[str, float]:
    """Rows and pairs that can still be paid for, each with its worth for a GPU-hour."""
    chosen = _trainings(plan, rows, pairs)
    left = budget - _hours(chosen)
    found = {}
    for item in items:
        added = [
            each for each in _trainings(plan, rows | {item}, pairs | {item}) if each not in chosen
        ]
        if added and _hours(added) <= left:
            found[item] = _worth(plan, rows, added) / _hours(added)
    return found


def _trainings(plan: Plan, rows: set[str], pairs: set[str]) -> list[Estimate]:
    return [each for each in plan.trainings if each.run.row in rows and each.run.pair in pairs]


def _hours(trainings: list[Estimate]) -> float:
    return sum(each.gpu_hours for each in trainings)


def _worth(plan: Plan, rows: set[str], added: list[Estimate]) -> float:
    """Of the trainings that an item adds; further seeds are worth no more."""
    experiments = plan.project.experiments
    groups = Counter(experiments[row].group for row in rows)
    worth = 0.0
    for pair, row in {(each.run.pair, each.run.row) for each in added}:
        worth += experiments[row].table2
        if pair == TABLE3_PAIR:
            worth += 1 / (1 + groups[experiments[row].group])
    return worth
