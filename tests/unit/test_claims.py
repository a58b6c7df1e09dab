"""Verdicts on the paper's claims from made-up scores: they come from the tests alone."""

import pytest

from aiayn.common.files import read_json, write_json
from aiayn.config import Run
from aiayn.reporting import load_published, read_results
from aiayn.reporting.claims import claimed_text, write_claims
from aiayn.reporting.published import ClaimTest
from aiayn.reporting.verdicts import holm, judge
from tests.unit.fabricated_results import (
    ROOT,
    fabricate,
    fabricate_run,
    fabricate_significance,
    project_at,
)

REAL = 0.001
NOISE = 0.3
WORSE = ("A1", "A4", "B1", "B2", "C1", "C2", "C4", "C6", "D1", "D3")
BETTER = ("C3", "C5", "C7", "big")
AS_CLAIMED = dict.fromkeys(WORSE, (-2.0, REAL)) | dict.fromkeys(BETTER, (2.0, REAL))
AS_CLAIMED |= {"E": (0.05, NOISE)}
PPL_AS_CLAIMED = {"D1": (0.8, REAL), "D3": (-0.3, REAL)}


def judged(folder, bleu, ppl=None, scale="mini", **overrides):
    """Verdict by number of the claim."""
    project = project_at(scale, pairs="en-de", **overrides)
    fabricate_significance(project, folder, bleu, PPL_AS_CLAIMED if ppl is None else ppl)
    results = read_results(project, load_published(ROOT), folder)
    return {one.number: one for one in judge(results)}


def verdicts(*arguments, **options):
    return {number: one.verdict for number, one in judged(*arguments, **options).items()}


def test_real_differences_in_the_claimed_direction_are_reproduced(tmp_path):
    found = verdicts(tmp_path, AS_CLAIMED)
    assert [found[number] for number in range(2, 8)] == ["reproduced"] * 6


def test_noise_decides_nothing(tmp_path):
    noise = {row: (difference / 10, NOISE) for row, (difference, _) in AS_CLAIMED.items()}
    noise["E"] = (0.3, NOISE)  # from -0.1 to 0.7: neither within 0.5 of base nor beyond
    found = verdicts(tmp_path, noise, {"D1": (0.01, NOISE), "D3": (-0.01, NOISE)})
    assert [found[number] for number in range(2, 8)] == ["not decided at this scale"] * 6


def test_a_reversed_effect_is_not_reproduced(tmp_path):
    reversed_ = {row: (-difference, p) for row, (difference, p) in AS_CLAIMED.items()}
    reversed_["E"] = (-3.0, REAL)
    found = verdicts(tmp_path, reversed_)
    assert [found[number] for number in range(2, 8)] == ["not reproduced"] * 6


def test_one_reversed_row_is_enough_and_one_undecided_row_too(tmp_path):
    assert verdicts(tmp_path, AS_CLAIMED | {"C3": (-2.0, REAL)})[4] == "not reproduced"
    assert verdicts(tmp_path, AS_CLAIMED | {"C3": (-2.0, NOISE)})[4] == "not decided at this scale"


def test_a_lower_perplexity_is_the_better_one(tmp_path):
    found = verdicts(tmp_path, AS_CLAIMED, {"D1": (0.8, REAL), "D3": (0.3, REAL)})
    assert found[6] == "not reproduced"  # smoothing helped perplexity here, against the claim
    assert found[5] == "reproduced"


def test_positions_that_differ_but_little_are_as_good_however_significant(tmp_path):
    assert verdicts(tmp_path, AS_CLAIMED | {"E": (-0.09, REAL)})[7] == "reproduced"
    assert verdicts(tmp_path, AS_CLAIMED | {"E": (-0.2, REAL)})[7] == "not decided at this scale"
    assert verdicts(tmp_path, AS_CLAIMED | {"E": (1.0, REAL)})[7] == "not reproduced"


def test_models_that_have_learned_nothing_are_not_as_good_as_each_other(tmp_path):
    project = project_at("mini", pairs="en-de")
    fabricate_significance(project, tmp_path, {"E": (0.0, 1.0)}, base=0.2)
    claim = judge(read_results(project, load_published(ROOT), tmp_path))[6]
    assert claim.verdict == "not decided at this scale"


def test_many_tests_are_held_to_a_stricter_level(tmp_path):
    # 0.02 for one of two tests is 0.04 by Holm's method, for one of eight it is 0.16.
    assert verdicts(tmp_path, AS_CLAIMED | {"A4": (-1.0, 0.02)})[2] == "reproduced"
    eight = {row: (AS_CLAIMED[row][0], 0.02) for row in (*BETTER, "C1", "C2", "C4", "C6")}
    assert verdicts(tmp_path, AS_CLAIMED | eight)[4] == "not decided at this scale"


def test_holm_adjusts_as_worked_by_hand():
    assert holm([0.01, 0.04, 0.03], 3) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.01, 0.04], 8) == pytest.approx([0.08, 0.28])  # six were not run: they count
    assert holm([0.9, 0.8], 2) == [1.0, 1.0]
    assert holm([], 2) == []


def test_a_missing_row_is_not_run_unless_another_row_contradicts_the_claim(tmp_path):
    without = {row: found for row, found in AS_CLAIMED.items() if row != "A4"}
    assert verdicts(tmp_path, without)[2] == "not run"
    assert verdicts(tmp_path, without | {"A1": (2.0, REAL)})[2] == "not reproduced"


def test_tests_of_rows_or_seeds_not_asked_for_are_not_used(tmp_path):
    assert verdicts(tmp_path, AS_CLAIMED, rows="base,A1")[2] == "not run"
    assert verdicts(tmp_path, AS_CLAIMED, rows="A1,A4")[2] == "not run"
    project = project_at("mini", pairs="en-de")
    fabricate_significance(project, tmp_path, AS_CLAIMED)
    two_seeds = project_at("mini", pairs="en-de", seeds="1,2")
    results = read_results(two_seeds, load_published(ROOT), tmp_path)
    assert results.significance is None


def paper_run(folder, row, bleu, variant="full", **trained):
    """A run at paper scale whose test set is newstest2014; its interval is bleu ± 0.5."""
    project = project_at("paper", pairs="en-de")
    run = fabricate_run(project, folder, Run("en-de", row, 1), bleu=bleu - 1, ppl=5.0)
    path = run / "score.newstest2014.json"
    write_json(path, read_json(path) | {"variant": variant})
    write_json(run / "trained.json", read_json(run / "trained.json") | trained)
    return judge(read_results(project, load_published(ROOT), folder))[0]


def test_published_systems_are_beaten_where_our_whole_interval_lies_above(tmp_path):
    # The best published system has 26.36 BLEU; big must be more than 2.0 above it.
    cheap = {"device": "Tesla P100-SXM2-16GB", "ranks": 8, "seconds": 12 * 3600}
    assert paper_run(tmp_path, "base", 27.3, **cheap).verdict == "not run"
    assert paper_run(tmp_path, "big", 29.0).verdict == "reproduced"
    assert paper_run(tmp_path, "big", 28.4).verdict == "not decided at this scale"
    assert paper_run(tmp_path, "big", 27.5).verdict == "not reproduced"


def test_a_dear_training_is_not_a_fraction_of_the_cost(tmp_path):
    dear = {"device": "Tesla P100-SXM2-16GB", "ranks": 8, "seconds": 36 * 3600}
    paper_run(tmp_path, "big", 29.0)
    claim = paper_run(tmp_path, "base", 27.3, **dear)
    cost = claim.tests[-1]
    assert (round(cost.score / 1e18, 2), cost.other, cost.outcome) == (9.85, 9.6e18, "contradicted")
    assert claim.verdict == "not reproduced"


def test_the_larger_count_of_a_trainings_cost_is_judged(tmp_path):
    """In bf16 a GPU may do more than the single-precision capacity of the paper's method."""
    fast = {"device": "Tesla P100-SXM2-16GB", "ranks": 8, "seconds": 3600, "flops": 2e19}
    paper_run(tmp_path, "big", 29.0)
    cost = paper_run(tmp_path, "base", 27.3, **fast).tests[-1]
    assert (cost.score, cost.outcome) == (2e19, "contradicted")


def test_published_systems_are_not_compared_on_another_test_set(tmp_path):
    paper_run(tmp_path, "base", 27.3, variant="filtered")
    claim = paper_run(tmp_path, "big", 40.0, variant="filtered")
    assert {tested.outcome for tested in claim.tests} == {"not comparable"}
    assert claim.verdict == "not decided at this scale"


def test_the_page_shows_each_test_and_marks_a_scale_whose_numbers_mean_nothing(tmp_path):
    for scale in ("mini", "smoke"):
        project = project_at(scale)
        fabricate(project, tmp_path)
        fabricate_significance(project, tmp_path, AS_CLAIMED, PPL_AS_CLAIMED)
        write_claims(read_results(project, load_published(ROOT), tmp_path), tmp_path / scale)
    mini, smoke = ((tmp_path / name / "claims.md").read_text() for name in ("mini", "smoke"))
    assert mini.count("\n## Claim") == 7
    cells = "18.00 | 20.00 | -2.00 | -2.40 to -1.60 | 0.002 | -0.90 | **holds**"
    assert f"| BLEU of A1 below base | {cells} |" in " ".join(mini.split())
    assert "perplexity of D3 below base | 4.70 | 5.00 | -0.30" in " ".join(mini.split())
    assert "Verdict: **reproduced**\n" in mini
    assert "†" not in mini
    assert "Verdict: **reproduced †**" in smoke
    assert "its verdicts mean nothing" in smoke


def test_a_test_says_in_words_what_it_asks():
    texts = [
        claimed_text(ClaimTest(row="A1", says="worse"), "base"),
        claimed_text(ClaimTest(row="D3", says="better", metric="ppl"), "base"),
        claimed_text(ClaimTest(row="E", says="equal", margin=0.5), "base"),
        claimed_text(ClaimTest(row="big", says="better", than="published", margin=2.0), "MoE"),
        claimed_text(ClaimTest(row="base", says="better", metric="flops"), "MoE"),
    ]
    assert texts == [
        "BLEU of A1 below base",
        "perplexity of D3 below base",
        "BLEU of E within ±0.5 of base",
        "BLEU of big above MoE by more than 2",
        "training cost of base below MoE",
    ]


def test_every_test_names_a_row_of_table_3_that_its_claim_lists():
    published = load_published(ROOT)
    assert len(published.claims) == 7
    for claim in published.claims:
        assert {"base", *(test.row for test in claim.tests)} <= set(claim.rows) | {"base"}
        assert set(claim.rows) <= set(published.table3)
        against_published = {test.row for test in claim.tests if test.than == "published"}
        assert against_published <= {"base", "big"}
