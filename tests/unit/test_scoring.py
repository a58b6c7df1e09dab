"""BLEU by worked values, and the mistakes that would make it wrong (faults A15)."""

import json
import math

import pytest
import typer
from typer.testing import CliRunner

from aiayn.cli.score import score as score_command
from aiayn.common.errors import UserError
from aiayn.scoring import compound_split, multi_bleu, sacre_bleu, score_files
from aiayn.scoring.checks import looks_tokenized, set_variant


def test_multi_bleu_equals_a_score_worked_by_hand():
    # Matches 5/6, 4/5, 3/4, 2/3 of orders 1 to 4; six words for seven: brevity exp(1 - 7/6).
    hypothesis, reference = "a b c d e x", "a b c d e f g"
    worked = 100 * math.exp(1 - 7 / 6) * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    assert multi_bleu([hypothesis], [reference]).score == pytest.approx(worked, abs=1e-4)


def test_multi_bleu_does_not_smooth_and_sacrebleu_does():
    assert multi_bleu(["a b c x"], ["a b c d"]).score == 0
    assert sacre_bleu(["a b c x"], ["a b c d"]).score > 0


def test_interval_is_the_same_each_time_and_holds_the_score():
    hypotheses = [f"word {number} and so on it goes" for number in range(30)]
    references = [f"word {number * 2} and so on it goes" for number in range(30)]
    first, second = (multi_bleu(hypotheses, references) for _ in range(2))
    assert first == second
    assert first.low < first.score < first.high
    assert "bs:1000|seed:12345" in first.signature


@pytest.mark.parametrize(
    ("tokenized", "expected"),
    [
        ("T-Shirt", "T ##AT##-##AT## Shirt"),
        ("A-B-C-D", "A ##AT##-##AT## B-C ##AT##-##AT## D"),  # matches do not overlap
        ("Rad-an-Rad", "Rad ##AT##-##AT## an ##AT##-##AT## Rad"),
        ("ä-ö-ü", "ä ##AT##-##AT## ö ##AT##-##AT## ü"),  # perl sees bytes
        ("a - b", "a - b"),
        ("-a b-", "-a b-"),
        ("", ""),
    ],
)
def test_compound_split_equals_perls_substitution(tokenized, expected):
    assert compound_split(tokenized) == expected


def test_unequal_line_counts_are_an_error_with_both_counts(write_lines):
    """faults A15: sacrebleu's API would score 100."""
    hypothesis = write_lines("hyp", ["eins", "zwei"])
    reference = write_lines("ref", ["eins", "zwei", "drei"])
    with pytest.raises(UserError, match=r"hyp has 2 lines but .*ref has 3"):
        score_files(hypothesis, reference, "de")


def test_line_breaks_within_a_line_do_not_shift_rows(write_lines):
    """faults A1"""
    odd = write_lines("odd", ["a\u2028b c d e", "f\x85g h i j", "k\rl m n o\x0b"])
    score = score_files(odd, odd, "de")
    assert (score.segments, round(score.sacrebleu.score)) == (3, 100)


def test_empty_reference_is_an_error(write_lines):
    with pytest.raises(UserError, match="empty: no text"):
        score_files(write_lines("hyp", ["x"]), write_lines("empty", [""]), "de")


def test_empty_hypotheses_score_nothing(write_lines):
    score = score_files(write_lines("hyp", ["", ""]), write_lines("ref", ["a b", "c d"]), "de")
    assert (score.sacrebleu.score, score.tokenized.score, score.tokenized.low) == (0, 0, 0)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["Er kommt , sieht und siegt ."] * 3, True),
        (["Er sagt &quot;ja&quot;"], True),
        (["ein Lese@@ zeichen"], True),
        (["Er kommt, sieht und siegt."] * 3, False),
        (["Wirklich ? Oui !", "Il y a 3 « choses » : ..."], False),  # French spacing is no mark
        (["Ende ."] + ["Ende."] * 19, False),
        ([], False),
    ],
)
def test_text_that_looks_tokenized(lines, expected):
    """faults A15"""
    assert looks_tokenized(lines) is expected


def test_variant_of_the_test_set_is_told_by_its_size():
    """faults A15"""
    found = [set_variant("newstest2014", segments) for segments in (3003, 2737, 3000)]
    assert found == ["full", "filtered", "other"]
    assert set_variant("test", 3003) == ""


def test_command_writes_every_convention_whole_or_nothing(write_lines, tmp_path):
    app = typer.Typer()
    app.command()(score_command)
    text = [f"Das ist ein T-Shirt, und das ist Satz {number}." for number in range(5)]
    same, short = write_lines("same", text), write_lines("short", text[:4])
    files = ["--ref", str(same), "--lang", "de", "--set", "dev"]
    output = tmp_path / "new" / "score.dev.json"
    done = CliRunner().invoke(app, ["--hyp", str(same), *files, "--output", str(output)])
    assert done.exit_code == 0, done.output
    values = json.loads(output.read_text())
    keys = ("sacrebleu", "tokenized", "compound_split")
    assert [round(values[key], 2) for key in keys] == [100.0] * 3
    assert {f"{key}{end}" for key in keys for end in ("_low", "_high")} < values.keys()
    assert (values["set"], values["lang"], values["segments"]) == ("dev", "de", 5)
    assert "tok:13a" in values["sacrebleu_signature"]
    other = tmp_path / "none.json"
    done = CliRunner().invoke(app, ["--hyp", str(short), *files, "--output", str(other)])
    assert isinstance(done.exception, UserError)
    assert not other.exists()
    printed = CliRunner().invoke(app, ["--hyp", str(same), *files])
    assert json.loads(printed.stdout) == values
