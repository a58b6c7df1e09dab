"""DVC on top of the finished smoke DAG (faults A19)."""

import json
import re
import subprocess

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def repository(finished):
    """The finished checkout as a Git and DVC repository."""
    (finished.folder / ".gitignore").write_text("/.venv\n/results\n/reports\n/.snakemake\n")
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "start"]):
        subprocess.run(["git", *command], cwd=finished.folder, check=True)
    finished.run("dvc", "init", "-q")
    return finished


def models(checkout):
    return {
        path: path.stat().st_mtime_ns
        for path in checkout.folder.glob("results/smoke/en-de/*/seed1/**/*.safetensors")
        if "release" not in path.parts
    }


def test_repro_after_snakemake_retrains_and_deletes_nothing(repository):
    before = models(repository)
    assert before
    output = repository.run("dvc", "repro").stdout
    assert models(repository) == before
    assert not re.search(r"^(train|translate) +\d", output, re.MULTILINE)
    assert (repository.folder / "results/smoke/release/en-de/base/seed1/model.json").exists()


def test_a_second_repro_does_nothing(repository):
    repository.run("dvc", "repro")
    output = repository.run("dvc", "repro").stdout
    assert "didn't change, skipping" in output
    assert "snakemake" not in output


def test_metrics_and_plots_show(repository):
    repository.run("dvc", "repro")
    shown = json.loads(repository.run("dvc", "metrics", "show", "--json").stdout)
    metrics = shown[""]["data"]["reports/smoke/metrics.json"]["data"]
    assert json.dumps(metrics).count("ppl") >= 2
    output = repository.run("dvc", "plots", "show", "-o", "plots").stdout
    assert "index.html" in output
    page = (repository.folder / "plots/index.html").read_text()
    assert "Dev perplexity of base" in page
    assert "Table 3" in page


def test_a_missing_key_fails_before_anything_runs(repository):
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
