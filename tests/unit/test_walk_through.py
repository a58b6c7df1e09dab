"""docs/walk-through.md is what docs/render.py makes of the script and of today's code."""

import runpy

from tests.conftest import ROOT

RENDERER = runpy.run_path(str(ROOT / "docs/render.py"))


def test_the_page_is_up_to_date():
    page = RENDERER["PAGE"].read_text(encoding="utf-8")
    fresh = RENDERER["render"](RENDERER["SCRIPT"].read_text(encoding="utf-8"))
    assert fresh == page, "run: .venv/bin/python docs/render.py"


def test_sources_become_code_and_output_follows_code():
    script = "# %% [markdown]\n# # Title\n#\n# text\n# %%\nprint(1 + 1)\n# %%\nx = 3\n"
    page = RENDERER["render"](script)
    assert page.endswith(
        "# Title\n\ntext\n\n```python\nprint(1 + 1)\n```\n\n```text\n2\n```\n\n"
        "```python\nx = 3\n```\n"
    )
