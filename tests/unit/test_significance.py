"""Paired tests: made-up differences are found, noise is not; against the sacrebleu command."""

import json
import random
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from aiayn.cli.significance import significance as significance_command
from aiayn.common.errors import UserError
from aiayn.common.named_files import parse_named
from aiayn.scoring.compare import compare_files
from aiayn.scoring.significance import compare_bleu, least_p

SEGMENTS = 120


def references():
    words = [f"word{number}" for number in range(50)]
    return [" ".join(random.Random(line).sample(words, 9)) for line in range(SEGMENTS)]


def translations(right: float, seed: int) -> list[str]:
    """The references with this share of the words kept and the others changed."""
    rng = random.Random(seed)
    return [
        " ".join(word if rng.random() < right else "wrong" for word in line.split())
        for line in references()
    ]


def compare(baseline, system):
    found = compare_bleu([baseline], {"system": [system]}, references())
    return found.systems["system"]


def test_a_real_difference_is_found_in_either_direction():
    good, bad = translations(0.95, 1), translations(0.8, 2)
    worse, better = compare(good, bad), compare(bad, good)
    assert worse.p < 0.01
    assert better.p < 0.01
    assert worse.low < worse.difference < worse.high < 0
    assert 0 < better.low < better.difference < better.high
    assert worse.difference == pytest.approx(-better.difference)


def test_noise_is_not_a_difference():
    found = [
        compare(translations(0.85, seed), translations(0.85, 100 + seed)) for seed in (1, 2, 3)
    ]
    assert all(one.p > 0.05 for one in found)
    assert all(one.low < 0 < one.high for one in found)


def test_systems_that_hardly_differ_are_not_significantly_different():
    """sacrebleu counts only exchanges that are larger than the observed difference."""
    base = translations(0.9, 1)
    changed = ["all of it is wrong", *base[1:]]
    same, one = compare(base, list(base)), compare(base, changed)
    assert (same.difference, same.low, same.high, same.p) == (0, 0, 0, 1)
    assert one.difference < 0
    assert one.p == 1
    assert [least_p(differing) for differing in (0, 1, 2, 6)] == [1, 1, 0.5, 1 / 32]


def test_interval_is_the_difference_where_all_segments_are_alike():
    lines = ["a b c d e f g h"] * 40
    found = compare_bleu([lines], {"half": [["a b c d e f x y"] * 40]}, lines)
    # Matches 6/8, 5/7, 4/6, 3/5 of orders 1 to 4.
    worked = 100 * (6 / 8 * 5 / 7 * 4 / 6 * 3 / 5) ** 0.25 - 100
    half = found.systems["half"]
    assert found.baseline == pytest.approx(100)
    assert [half.difference, half.low, half.high] == pytest.approx([worked] * 3)


def test_scores_and_p_value_are_those_of_the_sacrebleu_command(write_lines):
    files = [
        str(write_lines(name, lines))
        for name, lines in (
            ("ref", references()),
            ("base", translations(0.9, 1)),
            ("other", translations(0.88, 2)),
        )
    ]
    ref, base, other = files
    command = [sys.executable, "-m", "sacrebleu", ref, "-i", base, other, "-m", "bleu"]
    options = ["--paired-ar", "--paired-ar-n", "2000", "--format", "json"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    theirs = [system["BLEU"] for system in json.loads(done.stdout)]
    ours = compare_files([f"base={base}", f"other={other}"], ref)["bleu"]
    assert ours["baseline"] == pytest.approx(theirs[0]["score"])
    assert ours["systems"]["other"]["score"] == pytest.approx(theirs[1]["score"])
    assert ours["systems"]["other"]["p"] == theirs[1]["p_value"]
    assert 0.0005 < ours["systems"]["other"]["p"] < 1


def test_several_seeds_are_one_test():
    base, other = translations(0.9, 1), translations(0.85, 2)
    one = compare(base, other)
    both = compare_bleu([base] * 2, {"system": [other] * 2}, references()).systems["system"]
    assert both[:4] == pytest.approx(one[:4])  # the same sentences twice: no narrower an interval


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["base"], "'base': expected NAME=PATH"),
        (["base="], "expected NAME=PATH"),
        (["base=a", "base=b", "A1=c"], "A1 has 1 seeds but base has 2"),
    ],
)
def test_malformed_arguments_are_an_error(arguments, message):
    with pytest.raises(UserError, match=message):
        parse_named(arguments)


def test_command_writes_whole_json_and_refuses_unequal_files(write_lines, tmp_path):
    app = typer.Typer()
    app.command()(significance_command)
    ref, base = (str(write_lines(name, references()[:20])) for name in ("ref", "base"))
    other = str(write_lines("other", [*references()[:19], "something else"]))
    output = tmp_path / "new" / "significance.dev.json"
    systems = [f"base={base}", f"A1={other}"]
    options = ["--ref", ref, "--set", "dev", "--output", str(output)]
    done = CliRunner().invoke(app, [*systems, *options])
    assert done.exit_code == 0, done.output
    values = json.loads(output.read_text())
    assert {key: values[key] for key in ("set", "segments", "seeds", "baseline")} == {
        "set": "dev",
        "segments": 20,
        "seeds": 1,
        "baseline": "base",
    }
    assert values["bleu"]["systems"]["A1"]["p"] == 1
    assert "ar:2000|seed:12345" in values["bleu"]["signature"]
    output.unlink()
    short = str(write_lines("short", references()[:19]))
    done = CliRunner().invoke(app, [f"base={base}", f"A1={short}", *options])
    assert isinstance(done.exception, UserError)
    assert not output.exists()
