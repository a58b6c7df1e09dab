"""Cleaning: each reason, in its order; nothing left behind when the sides do not fit."""

import json

import pytest

from aiayn.common.errors import UserError
from aiayn.config import CleaningConfig
from aiayn.corpus.clean import clean, reason_to_drop

LIMITS = CleaningConfig(min_tokens=1, max_tokens=80, max_ratio=9)


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("a b", "c", None),
        ("a", " ".join("b" * 9), None),
        ("a", " ".join("b" * 10), "beyond max_ratio"),
        (" ".join("a" * 80), " ".join("b" * 80), None),
        (" ".join("a" * 81), "b", "more than max_tokens"),
        ("", "b", "empty side"),
        ("a", "   ", "empty side"),
        ("a \ufffd b", "", "undecodable"),
        ("This  IS held", "b c", "source is held out"),
        ("This is hold", "this is held", None),
    ],
)
def test_first_reason_that_applies(source, target, reason):
    assert reason_to_drop(source, target, LIMITS, {"this is held"}) == reason


def test_min_tokens():
    limits = CleaningConfig(min_tokens=2)
    assert reason_to_drop("a b", "c", limits, set()) == "fewer than min_tokens"


def run(folder, source: bytes, target: bytes, held_out: bytes = b""):
    for name, text in (("in.en", source), ("in.de", target), ("dev.en", held_out)):
        (folder / name).write_bytes(text)
    clean(
        folder / "in.en",
        folder / "in.de",
        folder / "out.en",
        folder / "out.de",
        folder / "out.json",
        part="toy",
        config=LIMITS,
        held_out=[folder / "dev.en"],
    )
    counts = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    return (folder / "out.en").read_bytes(), (folder / "out.de").read_bytes(), counts


def test_counts_add_up_and_duplicates_stay(tmp_path):
    source = b"a b\na b\n\nHeld out .\nx\n"
    target = b"A B\nA B\nleer\nY\nz\n"
    kept_source, kept_target, counts = run(tmp_path, source, target, b"held OUT .\n")
    assert (kept_source, kept_target) == (b"a b\na b\nx\n", b"A B\nA B\nz\n")
    assert counts == {
        "part": "toy",
        "pairs_in": 5,
        "kept": 3,
        "dropped": {"empty side": 1, "source is held out": 1},
    }


def test_missing_final_line_feed_is_harmless(tmp_path):
    """faults A3."""
    assert run(tmp_path, b"a\nb", b"A\nB\n")[:2] == (b"a\nb\n", b"A\nB\n")


def test_unequal_line_counts_name_both_and_leave_nothing(tmp_path):
    """faults A3."""
    with pytest.raises(UserError, match=r"in\.en has 3 lines but .*in\.de has 2"):
        run(tmp_path, b"a\nb\nc\n", b"A\nB\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dev.en", "in.de", "in.en"]


def test_bad_utf8_names_file_and_line(tmp_path):
    """faults A2."""
    with pytest.raises(UserError, match=r"in\.de, line 2: not UTF-8"):
        run(tmp_path, b"a\nb\n", b"A\n\xc3\n")


def test_only_line_feeds_end_lines(tmp_path):
    """faults A1."""
    odd = "a \u2028 b \x85 c \x0b d \x1c e \r f"
    kept_source, kept_target, _ = run(
        tmp_path, f"1\n{odd}\n3\n".encode(), b"eins\na b c d e f\ndrei\n"
    )
    assert kept_source.count(b"\n") == kept_target.count(b"\n") == 3
    assert kept_source.split(b"\n")[2] == b"3"
