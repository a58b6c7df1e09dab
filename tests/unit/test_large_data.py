"""Binarized data of 36 million pairs (WMT14 EN-FR): opened at once, read in bounded memory.

The files are sparse: the first 35 million pairs are empty, the last million has text. So they take
some 15 MB of disk where a real corpus takes 5 GB, but have its offsets in number and order.
"""

import time
import tracemalloc
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from aiayn.batches import ParallelData, training_steps
from aiayn.common.files import write_json

PAIRS = 36_000_000
WRITTEN = 1_000_000
"""Pairs at the end that are not empty."""
WORDS = 25
MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as ``aiayn binarize`` writes it."""
    folder = tmp_path_factory.mktemp("large")
    tokens = WRITTEN * WORDS
    for side in ("source", "target"):
        offsets = np.lib.format.open_memmap(
            folder / f"{side}.offsets.npy", mode="w+", dtype=np.int64, shape=(PAIRS + 1,)
        )
        offsets[-WRITTEN:] = np.arange(1, WRITTEN + 1) * WORDS
        np.lib.format.open_memmap(
            folder / f"{side}.ids.npy", mode="w+", dtype=np.uint16, shape=(tokens,)
        )[-1] = 7
    sizes = {"pairs": PAIRS, "source_tokens": tokens, "target_tokens": tokens}
    write_json(folder / "index.json", sizes | {"vocabulary": 40_000})
    assert sum(path.stat().st_size for path in folder.iterdir()) > 2 * 8 * PAIRS
    return folder


class Cost(NamedTuple):
    """What a call took."""

    result: object
    seconds: float
    megabytes: float
    """Most memory that Python and numpy held at a time; pages of mapped files are not theirs."""


def cost_of(call: Callable[[], object]) -> Cost:
    tracemalloc.start()
    started = time.perf_counter()
    try:
        result = call()
        seconds, (_, peak) = time.perf_counter() - started, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return Cost(result, seconds, peak / MEGABYTE)


def first_steps(data: ParallelData, count: int) -> list:
    options = {"tokens_per_step": 25_000, "micro_batches": 8, "max_length": 256}
    steps = training_steps(data, seed=1, **options)
    return [next(steps) for _ in range(count)]


def test_opening_takes_no_time_and_no_memory(folder):
    opening = cost_of(lambda: ParallelData(folder))
    data = opening.result
    assert len(data) == PAIRS
    assert data.sentence("target", PAIRS - 1)[-1] == 7
    assert opening.seconds < 1
    assert opening.megabytes < 1


def test_first_steps_take_memory_of_a_pool_not_of_the_corpus(folder):
    """A permutation of all pairs alone would be 275 MB."""
    data = ParallelData(folder)
    taking = cost_of(lambda: first_steps(data, 3))
    assert taking.megabytes < 50
    assert taking.seconds < 20  # about one, most of it page faults
    lengths = set()
    for step in taking.result:
        for side in ("source", "target"):
            tokens = [data.lengths(side, pairs) for pairs in step.micro_batches]
            assert 0 < sum(map(np.sum, tokens)) <= 25_000
            lengths |= set(np.concatenate(tokens).tolist())
    assert lengths <= {1, WORDS + 1}


def test_steps_draw_from_the_whole_corpus(folder):
    pairs = np.concatenate(
        [p for s in first_steps(ParallelData(folder), 3) for p in s.micro_batches]
    )
    tenths = np.bincount(pairs // (PAIRS // 10), minlength=10)
    assert (tenths > 0.05 * len(pairs)).all()
    assert (pairs >= PAIRS - WRITTEN).any()


def test_files_are_sparse(folder):
    """Or the test itself would need a gigabyte."""
    on_disk = sum(path.stat().st_blocks * 512 for path in folder.iterdir())
    assert on_disk < 100 * MEGABYTE
