"""What the pages say exists: links, files, commands and their options, keys, make targets."""

import csv
import re
import shlex

import pytest
import typer
import yaml

from aiayn.cli.main import app
from aiayn.config import CleaningConfig, ModelConfig, Settings, TextConfig, TrainingConfig
from aiayn.config.catalogue import (
    Archive,
    Corpus,
    CorpusPair,
    GzipLines,
    Host,
    TarMembers,
    TextFiles,
    Verses,
)
from aiayn.config.experiments import Experiment
from aiayn.config.scales import Scale, SelectionConfig
from tests.conftest import ROOT

PAGES = sorted(
    path
    for folder, pattern in (("", "*.md"), ("docs", "**/*.md"), ("config", "*.md"))
    for path in (ROOT / folder).glob(pattern)
)
COMMANDS = typer.main.get_command(app).commands
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def text_of(page):
    return page.read_text(encoding="utf-8")


def code_of(text):
    """Fenced blocks without their continuation marks, and inline code: pieces of code."""
    fenced = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in fenced for line in block.replace("\\\n", " ").split("\n")]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return lines + re.findall(r"`([^`\n]+)`", prose)


def anchors(text):
    """The anchors that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings
    }


def page_parameter(test):
    return pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))(
        test
    )


@page_parameter
def test_links_lead_somewhere(page):
    prose = re.sub(r"^```.*?^```", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"https?:|mailto:", target):
            continue
        file, _, anchor = target.partition("#")
        path = page.parent / file if file else page
        assert path.exists(), target
        assert not anchor or anchor in anchors(text_of(path)), target


@page_parameter
def test_named_files_exist(page):
    if page.name == "paper-to-code.md":
        pytest.skip("has a test of its own")
    for code in code_of(text_of(page)):
        match = re.fullmatch(r"(?:src|tests|docs|config|workflow|benchmarks)/[\w./-]+", code)
        if match and "scales/mine" not in code:
            assert (ROOT / code).exists(), code


@page_parameter
def test_named_commands_and_options_exist(page):
    for code in code_of(text_of(page)):
        for call in re.findall(r"(?:^|\| |-m )aiayn ([a-z][^|<>]*)", code):
            name, *words = shlex.split(call, comments=True)
            assert name in COMMANDS, code
            known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
            options = {word.partition("=")[0] for word in words if word.startswith("--")}
            assert options <= known | {"--help"}, code


@page_parameter
def test_named_make_targets_and_keys_exist(page):
    for code in code_of(text_of(page)):
        for target in re.findall(r"^make ([a-z]\S*)", code):
            assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), code
        if match := re.search(r"--config((?: \w+=\S*)+)", code):
            keys = set(re.findall(r" (\w+)=", match[1]))
            assert keys <= set(Settings.model_fields), code


def test_the_readme_shows_the_numbers_of_reports_mini():
    page = text_of(ROOT / "README.md")
    shown = re.findall(
        r"^\| (\w+) \|[^|]*\| ([\d.]+) \| [\d.]+ \| ([\d.]+) \| [\d.]+ to [\d.]+ \|", page, re.M
    )
    with (ROOT / "reports/mini/table3.csv").open(encoding="utf-8", newline="") as stream:
        made = [
            (row["row"], f"{float(row['ppl']):.2f}", f"{float(row['bleu']):.2f}")
            for row in csv.DictReader(stream)
        ]
    assert shown == made
    claims = text_of(ROOT / "reports/mini/claims.md")
    verdicts = re.findall(r"^\| (\d\. [^|]+?) +\| \*\*([^|]+)\*\* ", claims, re.M)
    assert re.findall(r"^\| (\d\. [^|]+) \| ([^|]+) \|$", page, re.M) == verdicts


SECTIONS = (
    *(Settings, Scale, SelectionConfig, ModelConfig, TrainingConfig, TextConfig, CleaningConfig),
    *(Experiment, Host, Archive, Corpus, CorpusPair, Verses, GzipLines, TarMembers, TextFiles),
)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_every_key_of_the_configuration_is_explained(section):
    page = text_of(ROOT / "config/README.md")
    for key in set(section.model_fields) - {"seed"}:  # taken from `seeds`
        assert f"`{key}`" in page, key


def test_commit_hooks_do_what_make_lint_does():
    recipe = re.search(r"^lint:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    linted = {
        re.sub(r'^PATH="[^"]*" ', "", line.replace("$(BIN)/", ".venv/bin/"))
        for line in recipe[1].replace("\t", "").strip().split("\n")
    }
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (repository,) = config["repos"]
    assert repository["repo"] == "local"  # nothing is downloaded
    hooks = {re.sub(r"^env PATH=\S+ ", "", hook["entry"]) for hook in repository["hooks"]}
    assert hooks == linted
