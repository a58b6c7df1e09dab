"""``aiayn plan``: worked costs, measured speeds, proposals within a budget."""

import csv
import io
import json
import subprocess
import sys

import pytest

from aiayn.cli.main import main
from aiayn.common.files import write_json
from aiayn.config import ModelConfig, Run, load_project
from aiayn.config.budget import propose
from aiayn.config.cost import parameters
from aiayn.config.devices import find_device, load_devices, scaling, speed_up
from aiayn.config.plan import (
    data_bytes,
    make_plan,
    paper_flops,
    planned_flops,
    run_bytes,
    training_hours,
)
from aiayn.reporting.plan import plan_csv, plan_json, plan_markdown, plan_terminal
from tests.conftest import ROOT

BASE, BIG = Run("en-de", "base", 1), Run("en-de", "big", 1)


@pytest.fixture(scope="module")
def paper():
    return load_project({"scale": "paper"}, ROOT)


@pytest.fixture
def plan(paper, tmp_path):
    return make_plan(paper, device_name="A100", gpus=8, results=tmp_path)


@pytest.fixture
def aiayn(monkeypatch, capsys):
    """A function that runs ``aiayn plan`` and returns its exit code and its last words."""

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["aiayn", "plan", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code, capsys.readouterr().err

    return run


def test_by_the_papers_method_base_is_3_3e18_and_big_2_3e19():
    assert f"{paper_flops('base'):.1e}" == "3.3e+18"
    assert f"{paper_flops('big'):.1e}" == "2.3e+19"


def test_operations_of_base_equal_a_count_by_hand(paper):
    """Weights that tokens pass, one layer: 4 d^2 + 2 d d_ff in the encoder, 4 d^2 more in the
    decoder, where keys and values of the second attention are of source tokens."""
    d, d_ff = 512, 2048
    source = 6 * (4 * d**2 + 2 * d * d_ff + 2 * d**2)
    target = 6 * (4 * d**2 + 2 * d * d_ff + 2 * d**2) + 40_960 * d
    scores = 6 * 3 * 30 * 2 * d  # three attentions a layer over 30 tokens; QK^T and AV
    tokens = 100_000 * 25_000
    assert planned_flops(paper, BASE) == 6 * tokens * (source + target + scores)


@pytest.mark.parametrize(("row", "hours"), [("base", 12.0), ("big", 84.0)])
def test_the_papers_machine_takes_the_papers_time(paper, row, hours):
    """0.4 s and 1.0 s a step (Section 5.2) are 11.1 and 83.3 hours, a little under the totals."""
    estimate = training_hours(paper, Run("en-de", row, 1), find_device(ROOT, "P100"), 8)
    assert 0.9 * hours < estimate < hours


def test_assumed_shares_follow_from_public_speeds(paper):
    devices, step_tokens = load_devices(ROOT), 50_000
    flops_a_step = {
        run.row: planned_flops(paper, run) / paper.resolve(run)[1].steps for run in (BASE, BIG)
    }
    p100, a100 = devices["P100"], devices["A100"]
    for row, seconds, share in (("base", 0.4, p100.share_base), ("big", 1.0, p100.share_big)):
        alone = flops_a_step[row] / seconds / 8 / scaling(8)
        assert share == pytest.approx(alone / (p100.peak_tflops * 1e12), abs=0.006)
    big = flops_a_step["big"] / step_tokens * 82_000 / (a100.peak_tflops * 1e12)
    assert a100.share_big == pytest.approx(big, abs=0.006)
    as_on_p100 = big * p100.share_base / p100.share_big
    assert a100.share_base == pytest.approx(as_on_p100, abs=0.006)


def test_eight_devices_keep_the_speed_that_was_seen():
    assert scaling(1) == 1
    assert speed_up(8, micro_batches=8) == pytest.approx(552 / 82, rel=0.01)
    assert speed_up(3, micro_batches=8) == pytest.approx(scaling(3) * 8 / 3)  # 3 + 3 + 2


def test_small_models_are_bound_by_starting_kernels(paper):
    mini = load_project({"scale": "mini"}, ROOT)
    layers = mini.scale.model.N * mini.scale.training.steps
    hours = training_hours(mini, BASE, find_device(ROOT, "H200"), 1)
    assert hours == pytest.approx(layers * 0.002 / 3600)


def finished(results, device, *, row="base", flops, seconds, ranks=1, processor="some CPU"):
    folder = results / "paper/en-de" / row / "seed1"
    write_json(
        folder / "trained.json",
        {"flops": flops, "seconds": seconds, "device": device, "ranks": ranks, "steps": 5},
    )
    write_json(folder / "run.json", {"host": {"processor": processor}, "device": device})


def speeds(paper, results, device="A100", gpus=1):
    plan = make_plan(paper, device_name=device, gpus=gpus, results=results)
    return {each.run.row: each.speed for each in plan.trainings if each.run.pair == "en-de"}


def test_a_measured_speed_replaces_the_assumption(paper, tmp_path):
    assert speeds(paper, tmp_path)["base"].basis.startswith("assumed: 13%")
    finished(tmp_path, "NVIDIA A100-SXM4-40GB", flops=3e16, seconds=1000)
    found = speeds(paper, tmp_path)
    assert found["base"].tflops == pytest.approx(30)
    assert found["base"].basis == "measured: this row on NVIDIA A100-SXM4-40GB"
    assert found["A1"].tflops == pytest.approx(30)
    assert found["A1"].basis == "measured: median of 1 other trainings"


def test_a_speed_of_eight_gpus_predicts_the_hours_that_it_was_measured_in(paper, tmp_path):
    flops = planned_flops(paper, BASE)
    finished(tmp_path, "NVIDIA A100-SXM4-40GB", flops=flops, seconds=7200, ranks=8)
    plan = make_plan(paper, device_name="A100", gpus=8, results=tmp_path)
    assert plan.trainings[0].hours == pytest.approx(2.0)
    assert plan.trainings[0].gpu_hours == pytest.approx(16.0)


def test_only_runs_on_the_device_count(paper, tmp_path):
    finished(tmp_path, "NVIDIA A100X", flops=3e16, seconds=1000)
    finished(tmp_path, "some CPU", row="A1", flops=1e12, seconds=10)
    assert speeds(paper, tmp_path)["base"].basis.startswith("assumed")
    on_cpu = speeds(paper, tmp_path, "cpu")
    assert on_cpu["A1"].tflops == pytest.approx(0.1)


def test_a_given_speed_wins(paper, tmp_path):
    finished(tmp_path, "NVIDIA A100-SXM4-40GB", flops=3e16, seconds=1000)
    plan = make_plan(paper, device_name="A100", gpus=1, tflops=100, results=tmp_path)
    assert {each.speed.tflops for each in plan.trainings} == {100}


def test_disk_is_what_a_finished_run_holds(tmp_path):
    """The kept checkpoints, and room for one more while it is written."""
    from aiayn.training import train
    from tests.unit.training_fixtures import TRAINING, make_job, write_corpus

    model = ModelConfig(N=1, d_model=128, d_ff=512, h=2)
    job = make_job(write_corpus(tmp_path / "text"), tmp_path / "run", model)
    train(job)
    files = list(job.output.rglob("*.safetensors"))
    weights = parameters(model, 24)
    planned = run_bytes(weights, TRAINING, averaged=False) - 3 * 4 * weights
    assert sum(path.stat().st_size for path in files) == pytest.approx(planned, rel=0.02)


def test_data_of_the_paper_scale_grow_with_the_language_pairs():
    both = load_project({"scale": "paper"}, ROOT)
    german = load_project({"scale": "paper", "pairs": "en-de"}, ROOT)
    assert 7e9 < data_bytes(german) < 12e9 < 50e9 < data_bytes(both) < 100e9


@pytest.mark.parametrize("budget", [0, 7, 8.5, 40, 100, 200, 282, 283, 10_000])
def test_a_proposal_stays_within_its_budget(plan, budget):
    proposal = propose(plan, budget)
    spent = [each.gpu_hours for each in plan.trainings if each not in proposal.left_out]
    assert sum(spent) == pytest.approx(proposal.gpu_hours)
    assert proposal.gpu_hours <= budget
    assert ("base" in proposal.rows) == (budget >= plan.trainings[0].gpu_hours)
    rest = budget - proposal.gpu_hours
    if proposal.rows:  # nothing of Table 3 that is left out could still be paid for
        left = [each for each in proposal.left_out if not paid_with_another_pair(plan, each)]
        assert all(each.gpu_hours > rest for each in left)


def paid_with_another_pair(plan, estimate):
    """Rows of Table 2 are trained in every pair, and must be paid for in all of them."""
    return plan.project.experiments[estimate.run.row].table2


def test_a_proposal_takes_one_row_of_each_group_first(plan):
    rows = propose(plan, 50).rows
    assert rows[0] == "base"
    assert {plan.project.experiments[row].group for row in rows} == {"base", *"ABCDE"}


@pytest.mark.parametrize("seeds", ["1", "1,2", "5"])
def test_a_pasted_proposal_is_the_plan_that_it_announced(tmp_path, seeds):
    project = load_project({"scale": "paper", "seeds": seeds}, ROOT)
    plan = make_plan(project, device_name="A100", gpus=8, results=tmp_path)
    proposal = propose(plan, 150)
    page = plan_markdown(plan, proposal)
    (line,) = [line for line in page.split("\n") if line.startswith("--config ")]
    pasted = load_project(dict(item.split("=") for item in line.split()[1:]), ROOT)
    again = make_plan(pasted, device_name="A100", gpus=8, results=tmp_path)
    assert again.gpu_hours == pytest.approx(proposal.gpu_hours)
    assert len(again.trainings) + len(proposal.left_out) == len(plan.trainings)


def test_every_format_has_the_same_trainings(plan):
    proposal = propose(plan, 150)
    records = list(csv.DictReader(io.StringIO(plan_csv(plan))))
    value = json.loads(plan_json(plan, proposal))
    assert [row["row"] for row in records] == [each["row"] for each in value["trainings"]]
    assert len(records) == 22
    assert value["paper_flops"] == {"base": paper_flops("base"), "big": paper_flops("big")}
    for text in (plan_markdown(plan, proposal), plan_terminal(plan, proposal)):
        assert "3.3e18" in text
        assert "2.3e19" in text
        assert f"rows={','.join(proposal.rows)} pairs=en-de,en-fr" in text


def test_an_unknown_device_is_one_line_that_lists_those_known(aiayn):
    code, errors = aiayn("--scale", "paper", "--device", "K80")
    assert code == 2
    assert errors == (
        "aiayn: --device: config/devices.yaml has no 'K80'; "
        "there are: P100, V100, A100, H100, H200, cpu\n"
    )


def test_rows_of_table_3_for_french_alone_are_nothing_to_train(aiayn):
    code, errors = aiayn("--rows", "A1,E", "--pairs", "en-fr")
    assert code == 2
    assert errors == "aiayn: rows: A1, E are trained for en-de alone, pairs: en-fr\n"


def test_more_gpus_than_micro_batches_are_an_error(aiayn):
    code, errors = aiayn("--scale", "paper", "--gpus", "16")
    assert code == 2
    assert "--gpus: 16 is more than the micro_batches: 8 of a step of" in errors


def test_an_unknown_key_of_a_device_names_file_device_and_key(tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config/devices.yaml").write_text("K80: {peak_flops: 2.8}\n")
    with pytest.raises(ValueError, match=r"config/devices\.yaml: K80: .*: (unknown|Field)"):
        load_devices(tmp_path)


def test_a_plan_never_loads_torch():
    code = (
        "import sys; from aiayn.cli.plan import plan; plan(scale='paper'); "
        "sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
