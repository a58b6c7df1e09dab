"""docs/paper-to-code.md names places that exist, and leaves out no part of the paper."""

import ast
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs/paper-to-code.md").read_text(encoding="utf-8")
PLACES = sorted(set(re.findall(r"`([\w/.-]+\.(?:py|smk|yaml)(?:::[\w.]+)?)`", PAGE)))
SECTIONS = [
    *("3", "3.1", "3.2", "3.2.1", "3.2.2", "3.2.3", "3.3", "3.4", "3.5", "4"),
    *("5.1", "5.2", "5.3", "5.4", "6.1", "6.2"),
]
EQUATIONS, TABLES, FIGURES = (1, 2, 3), (1, 2, 3), (1, 2)


def python_names(path: Path) -> set[str]:
    """Top-level classes, functions and constants, and ``Class.method``."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            members = (item for item in node.body if isinstance(item, ast.FunctionDef))
            names |= {f"{node.name}.{item.name}" for item in members}
        if isinstance(node, ast.Assign | ast.AnnAssign):
            names |= {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
    return names


def names_in(path: Path) -> set[str]:
    """What ``file::name`` may name."""
    if path.suffix == ".py":
        return python_names(path)
    pattern = r"^(?:rule|def) (\w+)" if path.suffix == ".smk" else r"^(\w+):"
    return set(re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("place", PLACES)
def test_a_named_place_exists(place):
    file, _, name = place.partition("::")
    paths = [folder / file for folder in (ROOT / "src/aiayn", ROOT) if (folder / file).is_file()]
    assert paths, f"{file} is no file"
    assert not name or any(name in names_in(path) for path in paths), f"{file} has no {name}"


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_has_a_place(section):
    assert re.search(rf"^\| {re.escape(section)}[ ,].*`", PAGE, re.MULTILINE)


# Code that names another of its sections only; an edit of these files reruns trainings, so the
# citation comes with their next change.
UNCITED: set[tuple[str, str]] = set()


def test_code_cites_the_section_it_is_named_for():
    missing = set()
    for section, places in re.findall(r"^\| ([\d.]+)[ ,].*\| (.*) \|$", PAGE, re.MULTILINE):
        for file in re.findall(r"`([\w/]+\.py)", places):
            text = (ROOT / "src/aiayn" / file).read_text(encoding="utf-8")
            if not re.search(rf"\bSections?\b.*\b{re.escape(section)}\b", text):
                missing.add((section, file))
    assert missing == UNCITED


@pytest.mark.parametrize(
    "part",
    [
        *(f"Equation {number}" for number in EQUATIONS),
        *(f"Table {number}" for number in TABLES),
        *(f"Figure {number}" for number in FIGURES),
    ],
)
def test_every_equation_table_and_figure_has_a_place(part):
    assert re.search(rf"^\| {part} \| `", PAGE, re.MULTILINE)


def test_every_command_has_a_rule_and_a_place():
    rules = set(re.findall(r"`workflow/rules/\w+\.smk::(\w+)`", PAGE))
    files = (ROOT / "workflow/rules").glob("*.smk")
    calling = {
        rule
        for file in files
        for rule, body in re.findall(
            r"^rule (\w+):(.*?)(?=^rule |\Z)", file.read_text(), re.DOTALL | re.MULTILINE
        )
        if '"aiayn ' in body
    }
    assert calling <= rules
