"""Stub commands for tests of ``aiayn doctor``."""

from collections.abc import Iterable

import pytest

from aiayn.doctor import Finding


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """A function that puts a stub command on PATH, which holds nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def stub(name, *lines, code=0):
        script = folder / name
        printed = "".join(f"echo '{line}'\n" for line in lines)
        script.write_text(f"#!/bin/sh\n{printed}exit {code}\n", encoding="utf-8")
        script.chmod(0o755)

    return stub


def line(findings: Iterable[Finding], start: str) -> Finding:
    """The one finding about something."""
    (found,) = [each for each in findings if each.what.startswith(start)]
    return found
