"""Render the scripts beside this one, with what they print, as docs/walk-through.md.

Example:
    .venv/bin/python docs/walk_through/render.py

The scripts are in the percent format that Jupytext, VS Code, PyCharm and Spyder open as a notebook:
``# %% [markdown]`` opens a cell of text, ``# %%`` a cell of code. A cell that only shows sources
becomes the code it shows, any other is followed by its output.
"""

import contextlib
import inspect
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
SCRIPTS = [FOLDER / "model.py", FOLDER / "learning_and_search.py"]
PAGE = ROOT / "docs/walk-through.md"
NOTE = "<!-- Made by docs/walk_through/render.py from the scripts beside it: edit those. -->"


def show(*objects: Any) -> None:
    """Print the project's source of each object, less the notes for the type checker."""
    sources = (f"# {one.__module__}\n{inspect.getsource(one)}" for one in objects)
    print(re.sub(r"  # type: ignore\[.*", "", "\n\n".join(sources)))


def cells(script: str) -> Iterator[tuple[int, str]]:
    """Cells of a script: 0 for text or else the line where its code begins, and its text."""
    for match in re.finditer(r"^# %%(.*)\n((?:(?!# %%).*\n)*)", script, flags=re.MULTILINE):
        if "[markdown]" in match[1]:
            yield 0, re.sub(r"^# ?", "", match[2].strip(), flags=re.MULTILINE)
        else:
            yield script.count("\n", 0, match.start(2)), match[2].rstrip()


def run(code: str, path: Path, line: int, names: dict[str, Any]) -> str:
    """What a cell of code prints; a traceback names the line of the script."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile("\n" * line + code, str(path), "exec"), names)
    return output.getvalue().strip("\n")


def render(path: Path) -> str:
    """A script as a page: prose as it is, code with its output."""
    names: dict[str, Any] = {"__name__": path.stem}
    parts = []
    for line, text in cells(path.read_text(encoding="utf-8")):
        if not line:
            parts.append(text)
            continue
        output = run(text, path, line, names)
        if text.startswith("show("):
            parts.append(f"```python\n{output}\n```")
            continue
        parts.append(f"```python\n{text}\n```")
        if output:
            parts.append(f"```text\n{output}\n```")
    return "\n\n".join(parts)


def page() -> str:
    """The whole page."""
    return "\n\n".join([NOTE, *map(render, SCRIPTS)]) + "\n"


if __name__ == "__main__":
    from aiayn.common.files import write_text

    write_text(PAGE, page())
