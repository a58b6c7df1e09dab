"""BPE merges: byte for byte those of subword-nmt."""

import io
import random

import pytest
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe as reference_learn

from aiayn.text.merges import Words, learn_merges


def reference(counts, limit, min_frequency=2):
    output = io.StringIO()
    lines = (f"{word} {count}\n" for word, count in counts.items())
    reference_learn(lines, output, limit, min_frequency, is_dict=True)
    return [tuple(line.split(" ")) for line in output.getvalue().split("\n")[1:-1]]


def random_counts(seed):
    """Few characters make long runs, equal counts make ties.

    Words that hold ``</w>`` make symbols that several merges yield: only then do counts of pairs
    grow again after subword-nmt set them apart, and it loses some.
    """
    chance = random.Random(seed)
    pieces = chance.choice(
        [
            "ab",
            "abcdefghij",
            ["a", "é", "\U0001d4b3", "\\"],
            ["</w>", "</", "<", "w>", "a</w>", "a"],
        ]
    )
    longest, most = chance.choice([6, 20]), chance.choice([1, 3, 1_000])
    counts = {"ab": 2}
    for _ in range(chance.choice([10, 100, 300])):
        word = "".join(chance.choices(pieces, k=chance.randint(1, longest)))
        counts[word] = chance.randint(1, most)
    return counts


@pytest.mark.parametrize("min_frequency", [1, 2, 5])
@pytest.mark.parametrize("seed", range(24))
def test_merges_are_those_of_subword_nmt(seed, min_frequency):
    counts = random_counts(seed)
    expected = reference(counts, 400, min_frequency)
    assert list(learn_merges(Words(counts), 400, min_frequency)) == expected


@pytest.mark.parametrize("merges", [1, 30, 400])
@pytest.mark.parametrize("seed", range(24))
def test_words_are_left_as_subword_nmt_segments_them(seed, merges):
    counts = {word: count for word, count in random_counts(seed).items() if "</w>" not in word}
    words = Words(counts)
    codes = [f"{first} {second}" for first, second in learn_merges(words, merges, 1)]
    bpe = BPE(io.StringIO("\n".join(["#version: 0.2", *codes])))
    assert list(words.in_subwords("@@")) == [" ".join(bpe.segment_tokens([w])) for w in counts]


def test_ties_go_to_the_greatest_pair_in_code_point_order():
    assert list(learn_merges(Words({"ab": 5, "cd": 5, "c": 9, "ce": 5}), 9)) == [
        ("c", "e</w>"),
        ("c", "d</w>"),
        ("a", "b</w>"),
    ]


def test_the_worked_example_of_sennrich_et_al():
    """Section 3.2: low, lower, newest, widest; there ties go to the pair met first, not here."""
    counts = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    merges = list(learn_merges(Words(counts), 3))
    assert merges == [("s", "t</w>"), ("e", "st</w>"), ("l", "o")]


def test_learning_stops_below_min_frequency():
    counts = {"ab": 3, "cd": 2, "ef": 1}
    assert list(learn_merges(Words(counts), 9)) == [("a", "b</w>"), ("c", "d</w>")]
    assert list(learn_merges(Words(counts), 9, min_frequency=3)) == [("a", "b</w>")]
