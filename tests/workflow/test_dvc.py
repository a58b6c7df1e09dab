"""DVC on top of the finished smoke DAG (faults A19)."""

import json
import re
import shutil
import subprocess

import pytest

from tests.workflow.conftest import BIN, Checkout

pytestmark = pytest.mark.slow

METRICS = "reports/smoke/metrics.json"
TRAINING = {"sanity", "train", "average"}


def git(checkout, *command):
    """Run Git as somebody; its output."""
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    done = subprocess.run(
        ["git", *identity, *command],
        cwd=checkout.folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def commit(checkout, message):
    """Commit all that .gitignore lets through."""
    git(checkout, "add", "--all")
    git(checkout, "commit", "--quiet", "--message", message)


def rules_run(output):
    """Rules with jobs, in what Snakemake printed."""
    return set(re.findall(r"^(?:local)?rule (\w+):", output, re.MULTILINE)) - {"all"}


def models(checkout):
    """When each model of the run folders was made."""
    found = (checkout.folder / "results/smoke").glob("en-de/*/seed1/**/*.safetensors")
    return {path: path.stat().st_mtime_ns for path in found}


@pytest.fixture(scope="module")
def repository(finished, tmp_path_factory):
    """A copy of the finished checkout, as a Git and DVC repository, before any `dvc repro`."""
    folder = tmp_path_factory.mktemp("dvc") / "a b"
    shutil.copytree(finished.folder, folder, symlinks=True)
    checkout = Checkout(folder)
    git(checkout, "init", "--quiet")
    commit(checkout, "start")
    return checkout


@pytest.fixture(scope="module")
def first_repro(repository):
    """What the first `dvc repro` printed and which models it found; committed."""
    before = models(repository)
    output = repository.run("dvc", "repro").stdout
    commit(repository, "beam 4")
    return before, output


@pytest.fixture(scope="module")
def second_beam(repository, first_repro):
    """What `dvc repro` printed after a change of the beam, and the two commits."""
    first = git(repository, "rev-parse", "HEAD")
    before = models(repository)
    repository.edit("config/config.yaml", "beam: 4", "beam: 1")
    output = repository.run("dvc", "repro").stdout
    assert models(repository) == before
    commit(repository, "beam 1")
    return output, first, git(repository, "rev-parse", "HEAD")


def test_repro_after_snakemake_retrains_and_deletes_nothing(repository, first_repro):
    """Faults A19: DVC deletes outs that dvc.lock does not know before it runs the command."""
    before, output = first_repro
    assert before
    assert models(repository) == before
    assert rules_run(output) <= {"release", "report"}
    for file in ("en-de/base/seed1/model.safetensors", "en-de/attention.json"):
        assert (repository.folder / "results/release/smoke" / file).stat().st_size > 0


def test_git_keeps_the_lock_and_the_metrics_and_no_model(repository, first_repro):
    tracked = git(repository, "ls-files").split("\n")
    assert {"dvc.lock", METRICS} <= set(tracked)
    assert not [file for file in tracked if file.startswith("results/")]


def test_a_second_repro_does_nothing(repository, first_repro):
    output = repository.run("dvc", "repro").stdout
    assert "didn't change, skipping" in output
    assert "snakemake" not in output


def test_metrics_and_plots_show(repository, first_repro):
    shown = json.loads(repository.run("dvc", "metrics", "show", "--json").stdout)
    rows = shown[""]["data"][METRICS]["data"]["en-de"]
    assert {row: set(rows[row]["dev"]) for row in rows} == {
        "base": {"bleu", "sacrebleu", "ppl"},
        "A1": {"bleu", "sacrebleu", "ppl"},
    }
    repository.run("dvc", "plots", "show", "--out", "plots")
    page = (repository.folder / "plots/index.html").read_text()
    titles = ("Table 3: BLEU on dev by row", "Table 3: perplexity per BPE token on dev by row",
              "Training loss of base, EN-DE", "Dev perplexity of base, EN-DE")  # fmt: skip
    for title in titles:
        assert title in page, title
    assert page.count('"step": ') >= 4  # the curves have their data
    shutil.rmtree(repository.folder / "plots")


def test_a_missing_key_fails_before_anything_runs(repository, first_repro):
    """Faults A19: remove a key of params."""
    path = repository.folder / "config/config.yaml"
    text = path.read_text()
    path.write_text(text.replace("beam: 4\n", ""))
    try:
        done = repository.run("dvc", "repro", check=False)
    finally:
        path.write_text(text)
    assert done.returncode != 0
    assert "beam" in done.stdout
    assert "Building DAG" not in done.stdout


def test_a_changed_beam_decodes_again_and_trains_nothing(second_beam):
    output, _, _ = second_beam
    ran = rules_run(output)
    assert {"translate", "score", "attention", "release", "report"} <= ran
    assert not ran & TRAINING


def test_params_and_metrics_of_two_commits_are_compared(repository, second_beam):
    _, first, second = second_beam
    params = json.loads(repository.run("dvc", "params", "diff", first, second, "--json").stdout)
    assert params == {"config/config.yaml": {"beam": {"old": 4, "new": 1, "diff": -3}}}
    diff = repository.run("dvc", "metrics", "diff", first, second, "--all", "--json").stdout
    compared = json.loads(diff)[METRICS]
    assert compared["en-de.base.dev.ppl"]["diff"] == 0  # no model was trained
    assert {"en-de.base.test.bleu", "en-de.A1.dev.sacrebleu"} <= compared.keys()


def test_push_and_pull_bring_a_fresh_clone_up_to_date_without_training(
    repository, second_beam, tmp_path
):
    repository.run("dvc", "remote", "add", "--default", "--local", "store", str(tmp_path / "store"))
    repository.run("dvc", "push")
    folder = tmp_path / "fresh clone"
    git(repository, "clone", "--quiet", str(repository.folder), str(folder))
    clone = Checkout(folder)
    (folder / ".venv").symlink_to(BIN.parent)
    clone.run("dvc", "remote", "add", "--default", "--local", "store", str(tmp_path / "store"))
    clone.run("dvc", "pull")
    assert set(clone.pending()) <= {"report"}
    assert list((folder / "src").rglob("*.pyc"))  # which are no change of the code
    assert "src/aiayn" not in clone.run("dvc", "status").stdout
    clone.snakemake()
    assert (folder / "reports/smoke/report.html").stat().st_size > 1_000_000
    assert clone.pending() == {}
    assert "up to date" in clone.run("dvc", "status").stdout
    assert git(clone, "status", "--porcelain") == ""  # the report's numbers are the same
    assert "didn't change, skipping" in clone.run("dvc", "repro").stdout
