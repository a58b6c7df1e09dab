"""Which pairs make up which optimizer step (Section 5.1).

"Sentence pairs were batched together by approximate sequence length. Each training batch contained
a set of sentence pairs containing approximately 25000 source tokens and 25000 target tokens."

An epoch is a seeded permutation of the corpus, read a pool at a time. A pool is sorted by length
and cut into micro-batches of pairs of about equal length; the micro-batches are shuffled and taken
``micro_batches`` at a time: one step. All this is a function of (seed, epoch) alone, never of the
number of ranks, and a position in it is three numbers, so training resumes without replaying.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aiayn.batches.parallel_data import ParallelData
from aiayn.batches.permutation import Permutation, derive_seed
from aiayn.common.errors import UserError

POOL_PAIRS = 1 << 17
"""Pairs sorted together: enough for padding under 5%, few enough to hold in memory."""

VALIDATION_TOKENS = 4_000
"""Tokens of a validation batch."""

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Position:
    """Where in the data training stands: the next step to take."""

    epoch: int = 0
    pool: int = 0
    step: int = 0
    """Steps already taken in this pool."""


@dataclass(frozen=True)
class Step:
    """One optimizer step."""

    position: Position
    """Where this step stands."""
    following: Position
    """Where training stands once it is taken."""
    micro_batches: tuple[Ids, ...]
    """Indices of pairs, [n_i] each: pairs of about equal length."""


def epoch_order(pairs: int, seed: int, epoch: int) -> Permutation:
    """The order of the corpus in an epoch."""
    return Permutation(pairs, derive_seed(seed, "order", epoch))


def training_steps(
    data: ParallelData,
    *,
    seed: int,
    tokens_per_step: int,
    micro_batches: int,
    max_length: int,
    start: Position = Position(),
) -> Iterator[Step]:
    """Yield steps without end, from ``start`` on.

    Args:
        data: The training pairs.
        seed: Of the run.
        tokens_per_step: Most source tokens and most target tokens in a step, each.
        micro_batches: Length buckets in a step; each holds at most an equal share of the tokens,
            or a single pair that alone is longer.
        max_length: A pair with a longer side is skipped.
        start: Position of the first step to yield.

    Raises:
        UserError: no pair is short enough.
    """
    budget = max(1, tokens_per_step // micro_batches)
    epoch, pool, step = start.epoch, start.pool, start.step
    pools = -(-len(data) // POOL_PAIRS)
    empty_pools = 0
    while True:
        cuts = _pool_micro_batches(data, seed, epoch, pool, budget, max_length)
        empty_pools = 0 if cuts else empty_pools + 1
        if empty_pools == pools:
            raise UserError(f"{data.folder}: every pair is longer than max_length={max_length}")
        steps = -(-len(cuts) // micro_batches)
        next_pool = (epoch, pool + 1) if pool + 1 < pools else (epoch + 1, 0)
        for number in range(step, steps):
            following = (
                Position(epoch, pool, number + 1) if number + 1 < steps else Position(*next_pool, 0)
            )
            own = cuts[number * micro_batches : (number + 1) * micro_batches]
            yield Step(Position(epoch, pool, number), following, tuple(own))
        (epoch, pool), step = next_pool, 0


def validation_batches(
    data: ParallelData, *, max_length: int, tokens: int = VALIDATION_TOKENS
) -> list[Ids]:
    """All pairs of a dev set in length buckets; longer pairs are left out, as in training."""
    everything = np.arange(len(data))
    short = everything[_longer_side(data, everything) <= max_length]
    return _cut(data, short, tokens)


def count_too_long(data: ParallelData, max_length: int) -> int:
    """Pairs that training and validation skip because a side is over ``max_length``."""
    return sum(
        int(
            (
                _longer_side(data, np.arange(start, min(start + POOL_PAIRS, len(data))))
                > max_length
            ).sum()
        )
        for start in range(0, len(data), POOL_PAIRS)
    )


def _longer_side(data: ParallelData, pairs: Ids) -> Ids:
    return np.maximum(data.lengths("source", pairs), data.lengths("target", pairs))


def _pool_micro_batches(
    data: ParallelData, seed: int, epoch: int, pool: int, budget: int, max_length: int
) -> list[Ids]:
    positions = np.arange(pool * POOL_PAIRS, min((pool + 1) * POOL_PAIRS, len(data)))
    pairs = epoch_order(len(data), seed, epoch)(positions)
    cuts = _cut(data, pairs[_longer_side(data, pairs) <= max_length], budget)
    shuffle = Permutation(len(cuts), derive_seed(seed, "buckets", epoch, pool))
    return [cuts[index] for index in shuffle(np.arange(len(cuts)))]


def _cut(data: ParallelData, pairs: Ids, budget: int) -> list[Ids]:
    """Sort pairs by length and cut them where either side would exceed ``budget`` tokens."""
    source, target = data.lengths("source", pairs), data.lengths("target", pairs)
    # Source lengths rise and fall in turn, so that neighbours across a target length stay close.
    order = np.lexsort((np.where(target % 2, source, -source), target))
    pairs, source, target = pairs[order], source[order], target[order]
    sums = [np.concatenate(([0], np.cumsum(side))) for side in (source, target)]
    cuts, start = [], 0
    while start < len(pairs):
        ends = [int(np.searchsorted(total, total[start] + budget, "right")) - 1 for total in sums]
        end = max(start + 1, min(ends))
        cuts.append(pairs[start:end])
        start = end
    return cuts
