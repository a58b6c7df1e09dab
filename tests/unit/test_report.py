"""The whole report from made-up results: figures, pages, and what they say of gaps."""

import json
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from aiayn.cli.report import report as report_command
from aiayn.common.errors import UserError
from aiayn.common.files import write_json, write_text
from aiayn.config import Run
from aiayn.config.project import TABLE3_PAIR
from aiayn.reporting import load_published, read_results
from aiayn.reporting.bleu import write_bleu
from aiayn.reporting.curves import POINTS, training_curve
from aiayn.reporting.deviations import (
    recipe_deviations,
    row_deviations,
    table2_deviations,
)
from aiayn.reporting.figure_ablations import group_series
from aiayn.reporting.figure_cost import draw_cost
from aiayn.reporting.figure_positions import dot_products, sinusoids
from aiayn.reporting.figure_schedule import draw_schedule
from aiayn.reporting.index import FIGURES, PAGES
from aiayn.reporting.samples import sample_lines
from aiayn.reporting.table2 import write_table2
from aiayn.reporting.table3 import SHAPE, resolved_shape, table3_rows
from tests.unit.fabricated_results import ROOT, fabricate, fabricate_run, project_at


def read(project, folder):
    return read_results(project, load_published(ROOT), folder)


def run_report(*options):
    app = typer.Typer()
    app.command()(report_command)
    done = CliRunner().invoke(app, [str(option) for option in options])
    if done.exception:
        raise done.exception


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The report of a demo in which EN-FR was never run."""
    folder = tmp_path_factory.mktemp("demo")
    project = project_at("demo")
    runs = [run for run in project.runs if run.pair == "en-de"]
    fabricate(project, folder / "results", runs)
    options = ("--results", folder / "results", "--reports", folder / "reports")
    run_report("--scale", "demo", *options)
    return folder / "reports" / "demo"


def test_every_page_and_figure_of_the_index_is_there(demo):
    for page in PAGES:
        assert (demo / page).stat().st_size > 0
    for kind in ("png", "svg"):
        assert {path.stem for path in (demo / "figures").glob(f"*.{kind}")} == set(FIGURES)
    assert len(FIGURES) >= 9


def test_every_page_opens_with_its_scale_and_links_lead_somewhere(demo):
    about = project_at("demo").scale.about
    for page in demo.glob("*.md"):
        lines = page.read_text().split("\n")
        assert lines[0].startswith("# ")
        assert lines[2] == f"> {about}"
    index = (demo / "index.md").read_text()
    for link in (part.split(")")[0] for part in index.split("](")[1:]):
        assert (demo / link).exists(), link
    assert "4 of 5 trainings" in index
    assert "Not run: en-fr base seed1" in index


def test_figures_have_the_same_bytes_each_time(demo, tmp_path):
    results = read(project_at("demo"), demo.parents[1] / "results")
    for draw in (draw_cost, draw_schedule):
        draw(results, tmp_path)
    again = sorted(tmp_path.iterdir())
    assert [path.suffix for path in again] == [".png", ".svg"] * 2
    for path in again:
        assert path.read_bytes() == (demo / "figures" / path.name).read_bytes(), path.name


def test_report_without_any_results_says_not_run(tmp_path):
    run_report("--scale", "demo", "--results", tmp_path, "--reports", tmp_path / "reports")
    demo = tmp_path / "reports" / "demo"
    for page in ("index.md", "table2.md", "table3.md", "claims.md", "samples.md", "data.md"):
        assert "not run" in (demo / page).read_text().lower(), page
    assert len(list((demo / "figures").glob("*.svg"))) == len(FIGURES)


def test_options_replace_keys_of_the_settings(tmp_path, monkeypatch):
    seen = []

    def write_report(project, **folders):
        seen.append((project.name, project.rows, project.settings.pairs))
        return tmp_path

    monkeypatch.setattr("aiayn.reporting.report.write_report", write_report)
    settings = '{"scale": "demo", "rows": ["A1"], "pairs": ["en-de", "en-fr"]}'
    run_report("--settings", settings)
    run_report("--settings", settings, "--scale", "paper", "--rehearsal", "--pairs", "en-fr")
    both = ("en-de", "en-fr")
    assert seen == [("demo", ("A1",), both), ("paper-rehearsal", ("A1",), ("en-fr",))]


def test_settings_that_are_no_mapping_are_an_error(tmp_path):
    with pytest.raises(UserError, match="--settings: expected"):
        run_report("--settings", "smoke", "--reports", tmp_path)


def test_samples_are_chosen_by_position_and_show_each_text(demo):
    assert sample_lines(60, 20) == list(range(2, 61, 3))
    assert sample_lines(3003)[:2] == [76, 226]
    assert sample_lines(2) == [1, 2]
    assert sample_lines(0) == []
    text = (demo / "samples.md").read_text()
    assert "* **base**: *(empty)*" in text
    assert "### Line 2 of 60" in text
    assert r"* **source**: en line 2 a\|b \*c\*" in text
    assert "* **base**: hypothesis 2 of base" in text
    assert "* **big**: not run" in text
    assert "beam 4, length penalty 0.6, seed 1" in text
    french = text[text.index("## EN-FR") :]
    assert "* **base**: not run" in french


def test_data_page_counts_by_reason_and_says_when_data_are_not_official(tmp_path):
    from aiayn.reporting.data import write_data
    from tests.unit.fabricated_results import fabricate_data

    project = project_at("paper", rehearsal="true", pairs="en-de")
    fabricate_data(project, tmp_path, "en-de", official=False)
    write_data(read(project, tmp_path), tmp_path)
    text = (tmp_path / "data.md").read_text()
    assert "not the official ones" in text
    parts = len(project.corpus_pair("en-de").train)
    assert parts == 3
    totals = f"| {1200 * parts:,} | {900 * parts:,} | 75.0% | empty: 300, ratio: 600 |"
    assert totals in " ".join(text.split())


def test_a_row_of_a_table_leads_to_all_that_is_known_of_its_runs(demo):
    table, page = ((demo / name).read_text() for name in ("table3.md", "provenance.md"))
    assert "[A1]: provenance.md#en-de-a1" in table
    section = page.split("### en-de A1\n")[1].split("###")[0]
    (link,) = re.findall(r"\]\((.+?)\)", section)
    record = json.loads((demo / link).read_text())
    assert record["git_commit"].startswith("0123456789abcdef")
    assert record["data_sha256"]
    assert record["host"] == {"name": "somewhere", "system": "Linux"}
    assert (record["trained"]["seconds"], record["decoding"]["beam"]) == (90.0, 4)
    assert f"PPL {record['trained']['dev']['ppl']:.2f}" in section
    assert f"BLEU {record['scores']['dev']['compound_split']:.2f} on dev" in section
    assert "0.1 device-hours" in page  # four trainings of 90 seconds


def test_the_way_in_has_headline_numbers_and_verdicts(demo):
    text = " ".join((demo / "index.md").read_text().split())
    assert "| Transformer (base) | EN-DE | 27.3 | 11.00 | 10.50 to 11.50 | [en-de base] |" in text
    assert "| Transformer (big) | EN-DE | 28.4 | not run |" in text
    assert text.count("**not run**") == 7
    assert "0.1 device-hours on a CPU" in text


def test_one_hypothesis_file_has_every_convention_with_its_signature(demo):
    text = (demo / "bleu.md").read_text()
    section = text.split("## EN-DE, test (Table 2)")[1].split("\n## ")[0]
    assert "is by **compound-split**" in section
    cells = "| 11.00 (10.50 to 11.50) | 10.00 (9.50 to 10.50) | 9.00 (8.50 to 9.50) |"
    assert cells in " ".join(section.split())
    assert section.count("nrefs:1|bs:1000") == 3
    assert "## EN-FR, test (Table 2)\n\nnot run" in text


def test_paper_scale_has_no_deviation_in_recipe_or_rows(tmp_path):
    results = read(project_at("paper"), tmp_path)
    assert recipe_deviations(results) == []
    assert row_deviations(results) == []
    assert table2_deviations(results) == []


def test_paper_scale_resolves_to_the_published_table_3(tmp_path):
    results = read(project_at("paper"), tmp_path)
    published = results.published.table3
    for name, row in published.items():
        shape = resolved_shape(results, name)
        for key in SHAPE:
            expected = getattr(row, key)
            assert expected is None or shape[key] == expected, (name, key)


def test_deviations_name_what_differs_and_nothing_else(tmp_path):
    results = read(project_at("smoke", beam="1"), tmp_path)
    found = {item.key: value for item, value in recipe_deviations(results)}
    assert (found["model.d_model"], found["training.steps"]) == (64, 20)
    assert found["decoding.beam"] == 1
    assert not {"model.h", "model.p_drop", "decoding.alpha", "training.average"} & found.keys()
    assert row_deviations(results) == [
        {"row": "big", "key": "steps", "paper": "3 × base", "here": "1 × base"}
    ]
    checkpoints = [one for one in table2_deviations(results) if one["key"] == "`checkpoint_every`"]
    assert [(one["row"], one["paper"], one["here"]) for one in checkpoints] == [
        ("big, EN-DE", "600", "1"),
        ("big, EN-FR", "600", "1"),
    ]


def test_a_report_without_table_3s_pair_claims_no_row_of_it(tmp_path):
    run_report(
        *("--scale", "demo", "--pairs", "en-fr", "--results", tmp_path, "--reports", tmp_path)
    )
    assert "0 of 1 trainings are in this report: no row of Table 3, which is EN-DE;" in (
        (tmp_path / "demo/index.md").read_text()
    )
    assert "Rows of Table 3 not run: base, A1, A2," in (
        (tmp_path / "demo/deviations.md").read_text()
    )


def test_table_3_shows_the_steps_that_were_trained(tmp_path):
    project = project_at("demo")
    (run,) = (run for run in project.runs if (run.pair, run.row) == ("en-de", "base"))
    trained = fabricate_run(project, tmp_path, run, bleu=20.0, ppl=5.0) / "trained.json"
    write_json(trained, json.loads(trained.read_text()) | {"steps": 1_234})
    rows = {row.name: row.shape["steps"] for row in table3_rows(read(project, tmp_path))}
    assert (rows["base"], rows["A1"]) == (1_234, project.scale.training.steps)


def test_a_pair_that_the_paper_lacks_is_not_measured_against_it(demo, tmp_path):
    results = read(project_at("demo"), demo.parents[1] / "results")
    published = results.published.model_copy(update={"bleu_convention": {"en-fr": "tokenized"}})
    for write, page in ((write_table2, "table2.md"), (write_bleu, "bleu.md")):
        write(replace(results, published=published), tmp_path)
        german = (tmp_path / page).read_text().partition("## EN-DE")[2].partition("\n## ")[0]
        assert "paper does not have this pair" in german
        assert "paper's" not in german.replace("FLOPs, paper's method", "")


def test_ablation_series_put_base_at_its_own_value(tmp_path):
    results = read(project_at("smoke"), tmp_path)
    rows = table3_rows(results)
    names = {
        group: [[row.name for row in series.rows] for series in group_series(results, rows, group)]
        for group in "ABCDE"
    }
    assert names == {
        "A": [["A1", "A2", "base", "A3", "A4"]],
        "B": [["B1", "B2", "base"]],
        "C": [["C1", "C2", "base", "C3"], ["C4", "base", "C5"], ["C6", "base", "C7"]],
        "D": [["D1", "base", "D2"], ["D3", "base", "D4"]],
        "E": [["base", "E"]],
    }


def test_sinusoids_have_the_papers_values_and_dot_products():
    encoding = sinusoids(3, 4)
    worked = [np.sin(2), np.cos(2), np.sin(2 / 100), np.cos(2 / 100)]
    np.testing.assert_allclose(encoding[2], worked)
    products = dot_products(512, 33)[[0, 1, 2, 5, 10, 32]]
    assert [round(value, 1) for value in products] == [256, 249.1, 231.7, 189.6, 173.8, 143.9]


def test_long_learning_curves_are_averaged_down(tmp_path):
    project = project_at("demo", rows="base", pairs="en-de")
    run = Run(TABLE3_PAIR, "base", 1)
    folder = fabricate_run(project, tmp_path, run, bleu=1.0, ppl=2.0)
    rows = [f"{step},1,{step},0,0.1,1,1,1.0,1" for step in range(1, 3 * POINTS)]
    header = (folder / "train.csv").read_text().split("\n")[0]
    write_text(folder / "train.csv", "\n".join([header, *rows, ""]))
    (results,) = read(project, tmp_path).runs
    curve = training_curve(results)
    assert len(curve) == POINTS
    assert list(curve.iloc[0])[:2] == [3, 2.0]  # of steps 1 to 3: the last step, the mean loss
    assert curve["step"].iloc[-1] == 3 * POINTS - 1


def test_a_curve_without_its_columns_is_an_error_that_names_the_file(tmp_path):
    project = project_at("demo", rows="base", pairs="en-de")
    folder = fabricate_run(project, tmp_path, Run(TABLE3_PAIR, "base", 1), bleu=1.0, ppl=2.0)
    write_text(folder / "train.csv", "step,epoch\n1,1\n")
    (results,) = read(project, tmp_path).runs
    with pytest.raises(UserError, match=r"train\.csv: .*'loss'"):
        training_curve(results)


def test_report_imports_no_torch():
    code = (
        "import sys, aiayn.reporting.report, aiayn.scoring, aiayn.cli.report, aiayn.cli.score; "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
