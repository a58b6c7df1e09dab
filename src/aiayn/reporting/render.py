"""Tables as Markdown, CSV and LaTeX with booktabs; every Markdown file opens with its scale."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from aiayn.common.files import write_text

Cell = str | int | float | None
DASH = "--"

_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
    | {"±": r"$\pm$", "–": "--", "ε": r"$\epsilon$"}
)


def latex_escape(text: str) -> str:
    """Make text mean itself in LaTeX."""
    return text.translate(_LATEX)


def latex_power(text: str) -> str:
    """``3.3e18`` as a power of ten in LaTeX's mathematics; empty stays empty."""
    mantissa, _, exponent = text.partition("e")
    return rf"${mantissa}\cdot10^{{{exponent}}}$" if exponent else text


def markdown_escape(text: str) -> str:
    """Make text mean itself in a cell of a Markdown table."""
    for character in "\\|*_`<[":
        text = text.replace(character, f"\\{character}")
    return text.replace("\n", " ")


def markdown_table(records: Sequence[Mapping[str, Cell]]) -> str:
    """A pipe table of ready-made cells; the first record's keys are the header."""
    frame = pd.DataFrame(records, dtype=object).fillna("")
    return frame.to_markdown(index=False, disable_numparse=True)


def latex_table(records: Sequence[Mapping[str, str]], caption: str, label: str) -> str:
    """A table environment with booktabs rules.

    Args:
        records: Cells and, as keys, headers in LaTeX; an empty cell stays empty.
        caption: Plain text.
        label: For ``\\ref``.
    """
    frame = pd.DataFrame(records, dtype=object)
    columns = "l" + "r" * (len(frame.columns) - 1)
    tabular = frame.to_latex(index=False, escape=False, column_format=columns)
    return (
        "% \\usepackage{booktabs}\n"
        "\\begin{table}\n\\centering\\footnotesize\\setlength{\\tabcolsep}{3pt}\n"
        f"\\caption{{{latex_escape(caption)}}}\n\\label{{{label}}}\n{tabular}\\end{{table}}\n"
    )


def write_csv(path: Path, records: Sequence[Mapping[str, Cell]], columns: Sequence[str]) -> None:
    """Write records as CSV; ``None`` is an empty field."""
    frame = pd.DataFrame(records, columns=list(columns), dtype=object)
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))


def write_markdown(path: Path, title: str, about: str, *sections: str) -> None:
    """Write a page: title, the scale's line, sections."""
    body = "\n\n".join(section.strip() for section in sections if section.strip())
    write_text(path, f"# {title}\n\n> {about}\n\n{body}\n")
