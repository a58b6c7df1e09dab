"""Tables 2 and 3 and metrics.json from made-up results, against values worked by hand."""

import csv
import json
import re
import shutil
import subprocess

import pytest

from aiayn.common.errors import UserError
from aiayn.common.files import write_json, write_text
from aiayn.config import Run
from aiayn.reporting import load_published, read_results
from aiayn.reporting.bleu import write_bleu
from aiayn.reporting.metrics import metrics
from aiayn.reporting.render import latex_escape, latex_power, markdown_escape
from aiayn.reporting.table2 import COLUMNS as TABLE2_COLUMNS
from aiayn.reporting.table2 import write_table2
from aiayn.reporting.table3 import COLUMNS as TABLE3_COLUMNS
from aiayn.reporting.table3 import table3_rows, write_table3
from tests.unit.fabricated_results import (
    ROOT,
    SIGNATURE,
    fabricate_run,
    project_at,
    score_json,
)

ORDER = [
    *("base", "A1", "A2", "A3", "A4", "B1", "B2", "C1", "C2", "C3", "C4", "C5", "C6", "C7"),
    *("D1", "D2", "D3", "D4", "E", "big"),
]


def read(project, folder):
    return read_results(project, load_published(ROOT), folder)


def records(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def two_rows(tmp_path):
    """Demo with base (two pairs) and A1 run, the other rows missing."""
    project = project_at("demo")
    for run, bleu, ppl in (
        (Run("en-de", "base", 1), 20.0, 8.25),
        (Run("en-de", "A1", 1), 21.5, 150.4),  # better than base: a reversed effect stays as it is
        (Run("en-fr", "base", 1), 15.0, 9.0),
    ):
        fabricate_run(project, tmp_path, run, bleu=bleu, ppl=ppl)
    return read(project, tmp_path)


def test_table_3_has_every_row_in_the_papers_order_with_empty_fields_where_not_run(
    two_rows, tmp_path
):
    write_table3(two_rows, tmp_path)
    table = {row["row"]: row for row in records(tmp_path / "table3.csv")}
    assert list(table) == ORDER
    assert tuple(table["base"]) == TABLE3_COLUMNS
    assert [table["base"][key] for key in ("bleu", "ppl")] == ["21.0", "8.25"]  # compound-split
    assert [table["A1"][key] for key in ("bleu", "h", "d_k", "group")] == ["22.5", "1", "256", "A"]
    assert [table["C2"][key] for key in ("bleu", "ppl", "params_m", "N")] == ["", "", "", "1"]
    assert [table["C5"][key] for key in ("paper_bleu", "paper_ppl")] == ["26.0", "4.66"]
    assert [table["E"][key] for key in ("positions", "paper_params_m")] == ["learned", ""]


def test_table_3_counts_parameters_of_the_trained_model(two_rows, tmp_path):
    write_table3(two_rows, tmp_path)
    # Encoder 527,104 + decoder 790,784 a layer, 2 layers, 4,096 rows of 256.
    layers = 2 * (527_104 + 790_784)
    base = records(tmp_path / "table3.csv")[0]
    assert float(base["params_m"]) == (layers + 4096 * 256) / 1e6
    assert float(base["params_vocabulary_m"]) == (layers + 4090 * 256) / 1e6


def test_parameters_at_paper_scale_are_the_papers_before_any_training(tmp_path):
    results = read(project_at("paper"), tmp_path)
    write_table3(results, tmp_path)
    rows = {row["row"]: row for row in records(tmp_path / "table3.csv")}
    counted = {name: round(float(row["params_m"]), 1) for name, row in rows.items()}
    assert counted["base"] == 65.1
    named = {"B1": 58.0, "B2": 60.4, "C1": 35.7, "C2": 50.4, "C3": 79.8, "C4": 27.8, "C5": 167.9}
    assert named.items() <= counted.items()
    for name, row in rows.items():
        # All of them the paper's, but for big, which no size of the vocabulary makes 213.
        if row["paper_params_m"] and name != "big":
            assert abs(counted[name] - float(row["paper_params_m"])) < 0.6, name


def test_markdown_of_table_3_is_blank_where_a_row_is_as_base_and_marks_rows_not_run(
    two_rows, tmp_path
):
    write_table3(two_rows, tmp_path)
    lines = (tmp_path / "table3.md").read_text().split("\n")
    assert lines[2] == f"> {two_rows.about}"
    cells = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
        for line in lines[: lines.index("## Shapes and parameters")]
        if line.startswith("|")
    }
    assert cells["[base]"][:3] == ["", "4.92", "8.25"]
    assert cells["[A1]"] == [
        *("h 1, d_k 256, d_v 256", "5.29", "150", "24.9", "22.50", "-2.40", "22.00 to 23.00"),
    ]
    assert cells["D1"] == ["p_drop 0.0", "5.77", "not run", "24.6", "not run", "", ""]
    shapes = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
        for line in lines[lines.index("## Shapes and parameters") :]
        if line.startswith("|")
    }
    assert shapes["A1"] == ["", "", "", "1", "256", "256", "", "", "", "", "", "3.7", "3.7"]
    assert shapes["C5"][-3:] == ["168", "not run", ""]


def test_several_seeds_give_mean_and_deviation(tmp_path):
    project = project_at("demo", seeds="1,2,3", rows="base", pairs="en-de")
    for seed, bleu in ((1, 19.0), (2, 20.0), (3, 21.0)):
        fabricate_run(project, tmp_path, Run("en-de", "base", seed), bleu=bleu, ppl=8.0 + seed)
    results = read(project, tmp_path)
    (base, *_) = table3_rows(results)
    assert (base.bleu.mean, base.bleu.deviation, base.bleu.seeds) == (21.0, 1.0, 3)
    write_table3(results, tmp_path)
    assert "| 21.00 ± 1.00 (3 seeds)" in (tmp_path / "table3.md").read_text()
    assert records(tmp_path / "table3.csv")[0]["ppl"] == "10.0"
    assert [records(tmp_path / "table3.csv")[0][key] for key in ("bleu_sd", "ppl_sd", "seeds")] == [
        *("1.0", "1.0", "3"),
    ]
    write_table2(results, tmp_path)
    assert "| 21.00 ± 1.00 (3 seeds) | -6.30 " in (tmp_path / "table2.md").read_text()
    assert r"21.00 $\pm$ 1.00" in (tmp_path / "table2.tex").read_text()
    ours = next(row for row in records(tmp_path / "table2.csv") if row["source"] == "reproduced")
    assert [ours[key] for key in ("bleu", "bleu_sd", "seeds")] == ["21.0", "1.0", "3"]
    assert metrics(results)["en-de"]["base"]["dev"] == {
        "bleu": 21.0,
        "sacrebleu": 19.0,
        "ppl": 10.0,
    }


def test_table_2_has_the_papers_systems_and_ours_by_its_convention_for_each_pair(
    two_rows, tmp_path
):
    write_table2(two_rows, tmp_path)
    rows = records(tmp_path / "table2.csv")
    assert tuple(rows[0]) == TABLE2_COLUMNS
    paper = [row for row in rows if row["source"] == "paper"]
    assert len({row["model"] for row in paper}) == 10
    assert len(paper) == 17
    assert all(row["bleu"] == row["paper_bleu"] and row["bleu"] for row in paper)
    ours = {(row["pair"], row["model"]): row for row in rows if row["source"] == "reproduced"}
    german, french = (ours[pair, "Transformer (base)"] for pair in ("en-de", "en-fr"))
    keys = ("bleu", "bleu_convention", "bleu_low", "bleu_high", "sacrebleu", "paper_bleu")
    assert [german[key] for key in keys] == [
        "21.0",
        "compound_split",
        "20.5",
        "21.5",
        "19.0",
        "27.3",
    ]
    assert [french[key] for key in keys] == ["15.0", "tokenized", "14.5", "15.5", "14.0", "38.1"]
    assert german["sacrebleu_signature"] == SIGNATURE
    assert float(german["flops"]) == pytest.approx(6 * 3_684_352 * 1400 * 1200)
    assert ours["en-fr", "Transformer (big)"]["bleu"] == ""
    assert float(ours["en-fr", "Transformer (big)"]["paper_flops"]) == 2.3e19


def test_table_2_says_not_run_in_markdown_and_a_dash_in_latex(two_rows, tmp_path):
    write_table2(two_rows, tmp_path)
    markdown, latex = ((tmp_path / f"table2.{kind}").read_text() for kind in ("md", "tex"))
    big = next(line for line in markdown.split("\n") if line.startswith("| Transformer (big)"))
    assert big.count("not run") == 3
    assert r"Transformer (big) & 28.4 & -- &  &  & $2.3\cdot10^{19}$ & -- & -- \\" in latex
    assert latex.count(r"\toprule") == latex.count(r"\end{table}") == 2


@pytest.mark.parametrize(
    ("device", "tflops"),
    [
        ("Tesla P100-SXM2-16GB", 9.5),
        ("NVIDIA A100-SXM4-80GB", 19.5),
        ("NVIDIA H100 PCIe", 51),
        ("NVIDIA H100 80GB HBM3", 67),
        ("AMD EPYC", None),
    ],
)
def test_training_cost_by_the_papers_method_is_time_times_devices_times_capacity(
    tmp_path, device, tflops
):
    project = project_at("demo", rows="base", pairs="en-de")
    folder = fabricate_run(project, tmp_path, Run("en-de", "base", 1), bleu=20.0, ppl=8.0)
    trained = json.loads((folder / "trained.json").read_text())
    trained |= {"device": device, "ranks": 8, "seconds": 12 * 3600}
    write_json(folder / "trained.json", trained)
    write_table2(read(project, tmp_path), tmp_path)
    ours = next(row for row in records(tmp_path / "table2.csv") if row["source"] == "reproduced")
    assert float(ours["device_hours"]) == 96
    markdown = (tmp_path / "table2.md").read_text()
    if tflops is None:
        assert ours["flops_paper_method"] == ""
        assert "no capacity is on record for AMD EPYC" in markdown
    else:
        assert float(ours["flops_paper_method"]) == pytest.approx(96 * 3600 * tflops * 1e12)
        assert "n/a" not in markdown
    assert ("3.3e18 | 3.3e18" in " ".join(markdown.split())) == (tflops == 9.5)  # base, Section 6.1


def test_cost_of_a_training_that_went_on_elsewhere_is_that_of_its_pieces(tmp_path):
    project = project_at("demo", rows="base", pairs="en-de")
    folder = fabricate_run(project, tmp_path, Run("en-de", "base", 1), bleu=20.0, ppl=8.0)
    trained = json.loads((folder / "trained.json").read_text())
    pieces = [("Tesla P100-SXM2-16GB", 8, 3600.0), ("NVIDIA H100 PCIe", 1, 7200.0)]
    keys = ("device", "ranks", "seconds")
    trained |= dict(zip(keys, pieces[-1], strict=True)) | {"seconds": 10_800.0}
    trained["stretches"] = [dict(zip(keys, piece, strict=True)) for piece in pieces]
    write_json(folder / "trained.json", trained)
    write_table2(read(project, tmp_path), tmp_path)
    ours = next(row for row in records(tmp_path / "table2.csv") if row["source"] == "reproduced")
    assert float(ours["device_hours"]) == 8 + 2
    flops = (8 * 3600 * 9.5 + 7200 * 51) * 1e12
    assert float(ours["flops_paper_method"]) == pytest.approx(flops)


def test_a_pair_that_was_not_asked_for_is_not_run(tmp_path):
    project = project_at("demo", pairs="en-de")
    fabricate_run(project, tmp_path, Run("en-de", "base", 1), bleu=20.0, ppl=8.0)
    write_table2(read(project, tmp_path), tmp_path)
    rows = records(tmp_path / "table2.csv")
    french = [row for row in rows if (row["pair"], row["source"]) == ("en-fr", "reproduced")]
    assert [row["bleu"] for row in french] == ["", ""]


def test_only_runs_asked_for_are_read(tmp_path):
    everything = project_at("demo")
    for run in everything.runs:
        fabricate_run(everything, tmp_path, run, bleu=20.0, ppl=8.0)
    some = read(project_at("demo", rows="C1", pairs="en-de"), tmp_path)
    assert {row.name for row in table3_rows(some) if row.bleu} == {"C1"}


def test_metrics_hold_numbers_alone_and_leave_out_what_was_not_run(two_rows):
    found = metrics(two_rows)
    assert list(found) == ["scale", "en-de", "en-fr"]
    assert list(found["en-de"]) == ["base", "A1"]
    assert found["en-de"]["base"]["test"] == {"bleu": 21.0, "sacrebleu": 19.0}
    assert found["en-de"]["A1"]["dev"] == {"bleu": 22.5, "sacrebleu": 20.5, "ppl": 150.4}
    assert "test" not in found["en-de"]["A1"]
    assert found["en-fr"]["base"]["dev"] == {"ppl": 9.0}
    assert json.loads(json.dumps(found)) == found


def test_a_damaged_result_is_an_error_that_names_file_and_key(tmp_path):
    project = project_at("demo", rows="base", pairs="en-de")
    folder = fabricate_run(project, tmp_path, Run("en-de", "base", 1), bleu=20.0, ppl=8.0)
    write_text(folder / "trained.json", '{"steps": 10}\n')
    with pytest.raises(UserError, match=r"seed1/trained\.json: parameters: this key is missing"):
        read(project, tmp_path)
    write_text(folder / "trained.json", '{"steps": ')
    with pytest.raises(UserError, match=r"seed1/trained\.json: not valid JSON"):
        read(project, tmp_path)


def test_text_means_itself_in_latex_and_markdown():
    assert latex_escape(r"50% of a_b & {c} #1 $x ~^\ ± ") == (
        r"50\% of a\_b \& \{c\} \#1 \$x \textasciitilde{}\textasciicircum{}\textbackslash{} $\pm$ "
    )
    assert latex_power("3.3e18") == r"$3.3\cdot10^{18}$"
    assert markdown_escape("a|b *c* _d_ `e` <f> [g]\\") == (r"a\|b \*c\* \_d\_ \`e\` \<f> \[g]\\")


def test_latex_compiles(two_rows, tmp_path):
    latex = shutil.which("pdflatex")
    if latex is None:
        pytest.skip("no pdflatex on this machine")
    write_table2(two_rows, tmp_path)
    write_table3(two_rows, tmp_path)
    write_text(
        tmp_path / "paper.tex",
        "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n"
        "\\input{table2}\\input{table3}\\end{document}\n",
    )
    command = [latex, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_filtered_set_stands_beside_the_other_conventions_and_not_in_table_2(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    project = project_at("paper")
    archive = tmp_path / project.downloads / project.catalogue.archives["wmt-test-filtered"].file
    archive.parent.mkdir(parents=True)
    archive.touch()
    folder = fabricate_run(project, tmp_path, Run("en-de", "base", 1), bleu=26.0, ppl=5.0)
    filtered = score_json("newstest2014-filtered", "de", 24.25)
    write_json(folder / "score.newstest2014-filtered.json", filtered)
    results = read(project, tmp_path)
    write_table2(results, tmp_path)
    assert "filtered" not in (tmp_path / "table2.md").read_text()
    write_bleu(results, tmp_path)
    page = (tmp_path / "bleu.md").read_text()
    assert re.search(r"sacreBLEU, newstest2014-filtered +\|\n", page)
    assert re.search(r"\[en-de base\].* 23.25 \(22.75 to 23.75\) +\|\n", page)
    ours = [row for row in records(tmp_path / "table2.csv") if row["source"] != "paper"]
    assert [row["bleu"] for row in ours if row["bleu"]] == ["27.0"]
