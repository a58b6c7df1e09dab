"""Binarized data, the order of an epoch, token buckets and padded batches."""

import errno
import os

import numpy as np
import pytest
import torch

from aiayn.batches import (
    ParallelData,
    Position,
    binarize,
    training_steps,
    validation_batches,
)
from aiayn.batches import buckets as buckets_module
from aiayn.batches.buckets import count_too_long
from aiayn.batches.permutation import Permutation
from aiayn.batches.tensors import make_batch
from aiayn.text import BOS, EOS, PAD

WORDS = [f"w{number}" for number in range(30)]


@pytest.fixture
def vocabulary(write_lines):
    specials = ["<pad>", "<s>", "</s>", "<unk>"]
    return write_lines("vocabulary.txt", [f"{word}\t0" for word in specials + WORDS])


@pytest.fixture
def make_data(write_lines, vocabulary, tmp_path):
    def make(pairs: list[tuple[str, str]]) -> ParallelData:
        source = write_lines("text.src", [pair[0] for pair in pairs])
        target = write_lines("text.tgt", [pair[1] for pair in pairs])
        binarize([source], [target], vocabulary, tmp_path / "data")
        return ParallelData(tmp_path / "data")

    return make


@pytest.fixture
def many(make_data):
    random = np.random.default_rng(0)
    sentences = [
        tuple(" ".join(random.choice(WORDS, size=random.integers(1, 20))) for _ in range(2))
        for _ in range(500)
    ]
    return make_data(sentences)


def steps_of(data, count, start=Position(), **changes):
    options = {"seed": 1, "tokens_per_step": 200, "micro_batches": 2, "max_length": 50} | changes
    iterator = training_steps(data, start=start, **options)
    return [next(iterator) for _ in range(count)]


def test_ids_come_back_as_written(make_data):
    data = make_data([("w0 w1", "w2"), ("", "w3 w4 w5"), ("w29 nowhere", "w0")])
    sentences = [
        [data.sentence(side, pair).tolist() for side in ("source", "target")] for pair in range(3)
    ]
    assert sentences == [[[4, 5], [6]], [[], [7, 8, 9]], [[33, 3], [4]]]
    assert data.lengths("source", np.arange(3)).tolist() == [3, 1, 3]
    assert data._ids["source"].dtype == np.uint16
    assert isinstance(data._ids["source"], np.memmap)


def test_parts_follow_each_other(write_lines, vocabulary, tmp_path):
    files = [write_lines(f"{n}.{side}", [f"w{n}"] * (n + 1)) for n in (0, 1) for side in "st"]
    binarize(files[0::2], files[1::2], vocabulary, tmp_path / "out")
    data = ParallelData(tmp_path / "out")
    assert [int(data.sentence("target", pair)[0]) for pair in range(len(data))] == [4, 5, 5]


def test_unequal_sides_are_an_error_that_gives_both_counts(write_lines, vocabulary, tmp_path):
    source, target = write_lines("a", ["w0"] * 3), write_lines("b", ["w0"] * 2)
    with pytest.raises(ValueError, match=r"a has 3 lines but .*b has 2"):
        binarize([source], [target], vocabulary, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".*tmp"))


def test_a_line_that_is_not_utf8_is_named(write_lines, vocabulary, tmp_path):
    source, target = write_lines("a", ["w0"] * 2), tmp_path / "b"
    target.write_bytes(b"w0\nw\xc3\n")
    with pytest.raises(ValueError, match="b, line 2: not UTF-8"):
        binarize([source], [target], vocabulary, tmp_path / "out")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EOPNOTSUPP, errno.EINVAL])
def test_bytes_are_reserved_where_the_file_system_can(
    write_lines, vocabulary, tmp_path, monkeypatch, number
):
    def refuse(descriptor, offset, length):
        assert length == os.fstat(descriptor).st_size
        raise OSError(number, os.strerror(number))

    source, output = write_lines("a", ["w0 w1"] * 2), tmp_path / "out"
    monkeypatch.setattr(os, "posix_fallocate", refuse)
    if number == errno.ENOSPC:
        with pytest.raises(OSError, match="No space left") as caught:
            binarize([source], [source], vocabulary, output)
        assert caught.value.filename == str(output)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "vocabulary.txt"]
    else:
        binarize([source], [source], vocabulary, output)
        assert ParallelData(output).sentence("source", 1).tolist() == [4, 5]


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1000, 4097])
def test_permutation_is_one(n):
    order = Permutation(n, seed=5)(np.arange(n))
    assert sorted(order.tolist()) == list(range(n))


def test_permutation_depends_on_seed_and_shuffles():
    first, second = (Permutation(10_000, seed)(np.arange(10_000)) for seed in (1, 2))
    assert (first != second).mean() > 0.99
    # Neighbours end up a third of the range apart on average, as in a random order.
    assert abs(np.abs(np.diff(first)).mean() / 10_000 - 1 / 3) < 0.02


def test_an_epoch_holds_every_pair_once(many):
    epoch = [step for step in steps_of(many, 100) if step.position.epoch == 0]
    pairs = np.concatenate([pairs for step in epoch for pairs in step.micro_batches])
    assert sorted(pairs.tolist()) == list(range(500))


def test_steps_keep_to_the_token_budget_and_pad_little(many):
    tokens = padded = 0
    for step in steps_of(many, 40):
        assert len(step.micro_batches) <= 2
        for pairs in step.micro_batches:
            for side in ("source", "target"):
                lengths = many.lengths(side, pairs)
                assert lengths.sum() <= 100
                tokens += lengths.sum()
                padded += len(pairs) * lengths.max()
    assert tokens / padded > 0.75  # 500 random pairs; a real corpus pads far less


def test_order_is_a_function_of_seed_and_epoch(many):
    def ids(steps):
        return [pairs.tolist() for step in steps for pairs in step.micro_batches]

    assert ids(steps_of(many, 60)) == ids(steps_of(many, 60))
    assert ids(steps_of(many, 60)) != ids(steps_of(many, 60, seed=2))
    later = [step for step in steps_of(many, 60) if step.position.epoch == 1]
    assert ids(later)[:5] != ids(steps_of(many, 5))[:5]


def test_going_on_from_any_position_gives_the_same_steps(many, monkeypatch):
    monkeypatch.setattr(buckets_module, "POOL_PAIRS", 128)
    unbroken = steps_of(many, 120)
    assert {step.position.pool for step in unbroken} == {0, 1, 2, 3}
    for cut in (1, 17, 50, 99):
        resumed = steps_of(many, 120 - cut, start=unbroken[cut - 1].following)
        for one, other in zip(unbroken[cut:], resumed, strict=True):
            assert one.position == other.position
            assert all(map(np.array_equal, one.micro_batches, other.micro_batches))


def test_overlong_pairs_are_skipped_and_counted_alike_in_train_and_dev(make_data):
    """Faults A7: a pair over the limit, in train and in dev."""
    data = make_data([("w0 " * 300, "w0"), ("w1", "w1 " * 300), ("w2 w3", "w4")])
    assert count_too_long(data, 200) == 2
    trained = {
        int(p) for s in steps_of(data, 3, max_length=200) for m in s.micro_batches for p in m
    }
    validated = [int(p) for m in validation_batches(data, tokens=100, max_length=200) for p in m]
    assert trained == set(validated) == {2}


def test_a_pair_over_the_token_budget_alone_is_a_batch_of_its_own(make_data):
    """Faults A7: longer than the budget but not than the limit."""
    data = make_data([("w0 " * 300, "w0 " * 300), ("w1", "w1"), ("w2", "w2")])
    step = steps_of(data, 2, tokens_per_step=20, micro_batches=1, max_length=400)
    assert sorted(sorted(map(int, s.micro_batches[0])) for s in step) == [[0], [1, 2]]


def test_nothing_short_enough_is_an_error_not_an_endless_loop(make_data):
    data = make_data([("w0 " * 30, "w0")])
    with pytest.raises(ValueError, match="every pair is longer than max_length=10"):
        steps_of(data, 1, max_length=10)


def test_batch_shifts_targets_right_and_leaves_padding_out_of_the_labels(make_data):
    data = make_data([("w0 w1", "w2"), ("w3", "w4 w5")])
    batch = make_batch(data, np.array([0, 1]))
    assert batch.source.tolist() == [[4, 5, EOS], [7, EOS, PAD]]
    assert batch.target_input.tolist() == [[BOS, 6, PAD], [BOS, 8, 9]]
    assert batch.labels.tolist() == [6, EOS, 8, 9, EOS]
    assert batch.label_positions.tolist() == [0, 1, 3, 4, 5]
    assert torch.equal(
        batch.target_input.flatten()[batch.label_positions],
        torch.tensor([BOS, 6, BOS, 8, 9]),
    )
