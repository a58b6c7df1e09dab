"""Files and functions stay small enough to read in one go."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

MOST_FILE_LINES, MOST_FUNCTION_LINES = 400, 60
FOLDERS = ("src", "workflow", "tests", "benchmarks", "docs")
PYTHON = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
RULES = [ROOT / "Snakefile", *sorted((ROOT / "workflow").rglob("*.smk"))]


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in PYTHON}


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_files_are_short():
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in [*PYTHON, *RULES]}
    assert len(lines) > 100
    assert {path: count for path, count in lines.items() if count > MOST_FILE_LINES} == {}


def test_functions_are_short(trees):
    lengths = {
        (path, function.name): function.end_lineno - function.lineno + 1
        for path, tree in trees.items()
        for function in functions(tree)
    }
    assert {name: lines for name, lines in lengths.items() if lines > MOST_FUNCTION_LINES} == {}


def test_modules_open_with_a_docstring(trees):
    ours = {path: tree for path, tree in trees.items() if ROOT / "src" in path.parents}
    assert ours
    assert [path for path, tree in ours.items() if not ast.get_docstring(tree)] == []
