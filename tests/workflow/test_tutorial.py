"""docs/tutorial.md: every edit is made and every command run as printed, at scale smoke."""

import re
import shutil

import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.workflow.conftest import Checkout

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
STEP = re.compile(
    r"(?:In `(?P<file>[^`\n]+)`, (?:add at the end:|put before the first line `(?P<line>[^`]+)`)"
    r"|New file `(?P<new>[^`\n]+)`:)?"
    r"\n\n```(?P<kind>sh|yaml)\n(?P<text>.*?)```",
    re.DOTALL,
)
SECTIONS = re.split(r"^## (?=\d)", PAGE, flags=re.MULTILINE)[1:]


@pytest.fixture(scope="module")
def checkout(finished, tmp_path_factory):
    """A copy of the finished checkout, in which scale smoke stands where a reader has demo."""
    folder = tmp_path_factory.mktemp("tutorial") / "checkout"
    shutil.copytree(finished.folder, folder, symlinks=True)
    copy = Checkout(folder)
    copy.edit("config/config.yaml", "rows: base,A1", "rows: all")  # as a reader has it
    return copy


def edit(checkout, step):
    text = step["text"]
    if step["new"]:
        (checkout.folder / step["new"]).write_text(text, encoding="utf-8")
        return
    path = checkout.folder / step["file"]
    before = path.read_text(encoding="utf-8")
    if step["line"]:
        head, line, tail = before.partition(f"{step['line']}\n")
        assert line, f"{path} has no line {step['line']!r}"
        path.write_text(f"{head}{text}{line}{tail}", encoding="utf-8")
    else:
        path.write_text(f"{before}{text}", encoding="utf-8")


def follow(checkout, section):
    """Do what a section says; returns what its commands print."""
    output = ""
    for step in STEP.finditer(section):
        if step["kind"] == "sh":
            commands = step["text"].replace("/demo/", "/smoke/")
            output += checkout.shell(commands)
        else:
            assert step["file"] or step["new"], f"where does this belong?\n{step['text']}"
            edit(checkout, step)
    return output


def test_the_page_has_three_sections_with_edits_and_commands():
    assert [section.split()[0] for section in SECTIONS] == ["1.", "2.", "3."]
    fences = re.findall(r"^```(?:sh|yaml)$", PAGE, re.MULTILINE)
    assert len(fences) == sum(len(STEP.findall(section)) for section in SECTIONS)


def test_a_row_of_your_own(checkout):
    before = (checkout.folder / "results/smoke/en-de/base/seed1/last/model.safetensors").stat()
    output = follow(checkout, SECTIONS[0])
    assert re.search(r"^\| \[?wide\b.*\b768\b", output, re.MULTILINE), output[-2000:]
    after = (checkout.folder / "results/smoke/en-de/base/seed1/last/model.safetensors").stat()
    assert after.st_mtime_ns == before.st_mtime_ns, "base was trained again"
    path = checkout.folder / "config/experiments.yaml"
    checkout.edit("config/experiments.yaml", 'd_ff: "*3"', 'd_fff: "*3"')
    refused = checkout.snakemake("--dry-run", check=False)
    checkout.edit(path.relative_to(checkout.folder), "d_fff", "d_ff")
    (said,) = re.findall(r"`(aiayn: [^`]+)`", SECTIONS[0])
    assert said in refused


def test_a_corpus_of_your_own(checkout):
    output = follow(checkout, SECTIONS[1])
    assert "Corpus `mine`: my own text." in output
    assert "None: the text is your own files." in output
    scores = pd.read_csv(checkout.folder / "reports/mine/table2.csv")
    assert scores[scores.source == "reproduced"].bleu.notna().sum() == 1


def test_a_new_language_pair(checkout):
    follow(checkout, SECTIONS[2])
    raw = (checkout.folder / "results/smoke/en-it/raw/test.it").read_text(encoding="utf-8")
    assert " che " in raw
    scores = pd.read_csv(checkout.folder / "reports/smoke/table2.csv")
    ours = scores[(scores.pair == "en-it") & (scores.source == "reproduced")]
    assert ours.bleu.notna().sum() == 1  # base; big is not run
