"""The BLEU conventions against multi-bleu.perl and sacreBLEU on the reference files."""

import pytest

from aiayn.common.files import read_lines
from aiayn.scoring import compound_split, multi_bleu, score_files


@pytest.fixture(scope="module")
def golden(shared_data):
    return shared_data / "moses-golden"


def test_three_conventions_give_the_reference_programs_scores(golden):
    score = score_files(golden / "bleu.hyp.detok.de", golden / "bleu.ref.detok.de", "de", "golden")
    found = [round(score.tokenized.score, 2), round(score.compound_split.score, 2)]
    assert [*found, round(score.sacrebleu.score, 2)] == [63.24, 63.61, 63.63]
    assert score.segments == 500


@pytest.mark.parametrize("side", ["hyp", "ref"])
def test_compound_split_equals_perls_on_every_line(golden, side):
    tokenized = list(read_lines(golden / f"bleu.{side}.tok.de"))
    expected = list(read_lines(golden / f"bleu.{side}.tok.atat.de"))
    assert [compound_split(line) for line in tokenized] == expected


@pytest.mark.parametrize(("kind", "score"), [("tok", 63.24), ("tok.atat", 63.61)])
def test_multi_bleu_equals_perls_on_its_own_tokens(golden, kind, score):
    hypotheses = list(read_lines(golden / f"bleu.hyp.{kind}.de"))
    references = list(read_lines(golden / f"bleu.ref.{kind}.de"))
    assert round(multi_bleu(hypotheses, references).score, 2) == score


def test_tokenized_hypotheses_are_warned_of_and_raw_ones_are_not(golden, capsys):
    """faults A15"""
    reference = golden / "bleu.ref.detok.de"
    score_files(golden / "bleu.hyp.detok.de", reference, "de")
    assert "warning" not in capsys.readouterr().err
    score_files(golden / "bleu.hyp.tok.de", reference, "de")
    assert "bleu.hyp.tok.de looks tokenized" in capsys.readouterr().err
