"""Shared fixtures: the checkout, the reference data beside it, tiny corpora."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"


@pytest.fixture(autouse=True)
def _in_checkout(monkeypatch):
    """Configuration is found from the root of the checkout."""
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="session")
def shared_data():
    """Reference data that lies beside the checkout on some machines only."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("no reference data beside the checkout")
    return folder


@pytest.fixture
def write_lines(tmp_path):
    """A function that writes lines to a named file and returns its path."""

    def write(name: str, lines: list[str]) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
        return path

    return write


os.environ.setdefault("OMP_NUM_THREADS", "1")
