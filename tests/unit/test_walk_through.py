"""docs/walk-through.md is what its renderer makes of the scripts and of today's code."""

import importlib

import pytest

from tests.conftest import ROOT


@pytest.fixture
def renderer(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs/walk_through")
    return importlib.import_module("render")


def test_the_page_is_up_to_date(renderer):
    page = renderer.PAGE.read_text(encoding="utf-8")
    assert renderer.page() == page, "run: .venv/bin/python docs/walk_through/render.py"


def test_text_is_prose_and_output_follows_code(renderer, write_lines):
    script = [
        "# %% [markdown]",
        "# # Title",
        "#",
        "# text",
        "# %%",
        "print(1 + 1)",
        "# %%",
        "x = 3",
    ]
    assert renderer.render(write_lines("script.py", script)) == (
        "# Title\n\ntext\n\n```python\nprint(1 + 1)\n```\n\n```text\n2\n```\n\n"
        "```python\nx = 3\n```"
    )


def test_a_cell_that_shows_a_source_becomes_it(renderer, write_lines):
    script = ["# %%", "from render import cells, show", "# %%", "show(cells)"]
    rendered = renderer.render(write_lines("script.py", script))
    assert "```python\n# render\ndef cells(script: str)" in rendered
    assert "show(cells)" not in rendered


def test_an_error_names_the_line_of_the_script(renderer, write_lines):
    path = write_lines("script.py", ["# %% [markdown]", "# text", "# %%", "x = 1", "assert x == 2"])
    with pytest.raises(AssertionError) as caught:
        renderer.render(path)
    assert caught.traceback[-1].lineno + 1 == 5
