"""Render docs/walk_through.py, with what it prints, as docs/walk-through.md.

Example:
    .venv/bin/python docs/render.py

The script is in the percent format that Jupytext, VS Code, PyCharm and Spyder open as a notebook:
``# %% [markdown]`` opens a cell of text, ``# %%`` a cell of code. A cell that only shows sources
becomes the code it shows, any other is followed by its output.
"""

import contextlib
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SCRIPT, PAGE = ROOT / "docs/walk_through.py", ROOT / "docs/walk-through.md"
NOTE = "<!-- Made by docs/render.py from docs/walk_through.py: edit that, not this. -->\n\n"


def cells(script: str) -> Iterator[tuple[int, str]]:
    """Cells of a script: 0 for text or else the line where its code begins, and its text."""
    for match in re.finditer(r"^# %%(.*)\n((?:(?!# %%).*\n)*)", script, flags=re.MULTILINE):
        if "[markdown]" in match[1]:
            yield 0, re.sub(r"^# ?", "", match[2].strip(), flags=re.MULTILINE)
        else:
            yield script.count("\n", 0, match.start(2)), match[2].rstrip()


def run(code: str, line: int, names: dict[str, Any]) -> str:
    """What a cell of code prints; a traceback names the line of the script."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile("\n" * line + code, str(SCRIPT), "exec"), names)
    return output.getvalue().strip("\n")


def render(script: str) -> str:
    """The page: prose as it is, code with its output."""
    names: dict[str, Any] = {"__name__": "walk_through"}
    parts = []
    for line, text in cells(script):
        if not line:
            parts.append(text)
            continue
        output = run(text, line, names)
        if text.startswith("show("):
            parts.append(f"```python\n{output}\n```")
            continue
        parts.append(f"```python\n{text}\n```")
        if output:
            parts.append(f"```text\n{output}\n```")
    return NOTE + "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    from aiayn.common.files import write_text

    os.chdir(ROOT)  # the configuration is found from the root of the checkout
    write_text(PAGE, render(SCRIPT.read_text(encoding="utf-8")))
