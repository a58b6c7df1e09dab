"""Tables as Markdown, CSV and LaTeX with booktabs; every Markdown file opens with its scale."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from aiayn.common.files import write_text
from aiayn.reporting.measured import NOT_RUN, signed_text

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


def latex_number(text: str) -> str:
    """A ready-made number in LaTeX; a dash where it says that a row was not run."""
    return DASH if text == NOT_RUN else latex_escape(text)


def latex_signed(value: float | None) -> str:
    """A difference with its sign, in LaTeX's mathematics; empty stays empty."""
    text = signed_text(value)
    return f"${text}$" if text else ""


def latex_table(records: Sequence[Mapping[str, str]], caption: str, label: str) -> str:
    """A table environment with booktabs rules.

    Args:
        records: Cells and, as keys, headers in LaTeX; an empty cell stays empty.
        caption: Plain text.
        label: For ``\\ref``.
    """
    frame = pd.DataFrame(records, dtype=object)
    columns = "l" + "r" * (len(frame.columns) - 1)
    tabular = frame.to_latex(index=False, escape=False, column_format=columns).strip()
    size = "scriptsize" if len(frame.columns) > 10 else "footnotesize"
    return (
        "% \\usepackage{booktabs}\n"
        f"\\begin{{table}}\n\\centering\\{size}\\setlength{{\\tabcolsep}}{{2.5pt}}\n"
        f"\\caption{{{latex_escape(caption)}}}\n\\label{{{label}}}\n"
        # Centred on the page, even where it is wider than the text.
        f"\\makebox[\\textwidth][c]{{%\n{tabular}}}\n\\end{{table}}\n"
    )


def run_label(pair: str, row: str) -> str:
    """A row's name where tables of several pairs share a page."""
    return f"{pair} {row}"


def link_targets(rows: Mapping[str, tuple[str, str]]) -> str:
    """Where the reference links ``[label]`` of a page lead: sections of provenance.md.

    Such links stay short where a page is read as text.

    Args:
        rows: Pair and row by label.
    """
    return "\n".join(
        f"[{label}]: provenance.md#{run_label(*row).lower().replace(' ', '-')}"
        for label, row in rows.items()
    )


def write_csv(path: Path, records: Sequence[Mapping[str, Cell]], columns: Sequence[str]) -> None:
    """Write records as CSV; ``None`` is an empty field."""
    frame = pd.DataFrame(records, columns=list(columns), dtype=object)
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))


def write_markdown(path: Path, title: str, about: str, *sections: str) -> None:
    """Write a page: title, the scale's line, sections."""
    body = "\n\n".join(section.strip() for section in sections if section.strip())
    write_text(path, f"# {title}\n\n> {about}\n\n{body}\n")
