"""The pages as HTML, each whole in itself, for the Snakemake report that shows them.

In report.html a page stands in a frame from which no file can be reached. So a link to a JSON file
leads to the file's text at the end of the page, and a link to another page is mere text.
"""

import html
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from aiayn.common.files import write_text
from aiayn.reporting.index import PAGES

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; margin: 1.5rem; }
blockquote { margin: 0; padding: .3rem 1rem; border-left: 4px solid #d55e00; background: #fdf3ec; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; } h3 { font-size: 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; }
table { font-variant-numeric: tabular-nums; }
th { text-align: left; border-bottom: 2px solid #222; vertical-align: bottom; }
td { border-bottom: 1px solid #ddd; vertical-align: top; }
th, td { padding: .25rem .5rem; }
tbody tr:hover { background: #f2f6fa; }
code { background: #f4f4f4; padding: 0 .2rem; overflow-wrap: anywhere; }
pre { background: #f4f4f4; padding: .8rem; overflow: auto; max-height: 30rem; font-size: 12px; }
a { color: #0072b2; }
:target { outline: 2px solid #0072b2; }
"""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title><style>{style}</style></head>
<body>
{body}
{files}</body>
</html>
"""


class _Files:
    """JSON files that a page links to, each with a name to jump to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.anchors: dict[str, str] = {}

    def anchor(self, href: str) -> str | None:
        """Where in the page the file will stand; ``None`` for what is no JSON file on disk."""
        if not href.endswith(".json") or not (self.folder / unquote(href)).is_file():
            return None
        return self.anchors.setdefault(href, f"file-{len(self.anchors) + 1}")

    def text(self) -> str:
        """The files, one after another."""
        parts = [
            f'<h3 id="{anchor}">{html.escape(unquote(href).replace("../", ""))}</h3>\n'
            f"<pre>{html.escape((self.folder / unquote(href)).read_text(encoding='utf-8'))}</pre>\n"
            for href, anchor in self.anchors.items()
        ]
        return "<h2>Files that this page refers to</h2>\n" + "".join(parts) if parts else ""


def _is_elsewhere(href: str) -> bool:
    """Not in this page and not on the web."""
    return not href.startswith(("#", "http://", "https://"))


def _redirect(tokens: list[Token], files: _Files) -> None:
    """Lead links to files into the page; take other pages' links away."""
    closing: list[str] = []
    for token in tokens:
        if token.type == "link_open":
            href = str(token.attrGet("href"))
            anchor = files.anchor(href)
            if anchor:
                token.attrSet("href", f"#{anchor}")
            elif _is_elsewhere(href):
                token.tag, token.attrs = "em", {}
            closing.append(token.tag)
        elif token.type == "link_close":
            token.tag = closing.pop()


def page_html(markdown: str, folder: Path) -> str:
    """A page of Markdown as an HTML document that needs no other file.

    Args:
        markdown: The page; its first line is its title.
        folder: Where its links start from.
    """
    parser = MarkdownIt("commonmark").enable("table")
    tokens, files = parser.parse(markdown), _Files(folder)
    for token in tokens:
        _redirect(token.children or [], files)
    body = parser.renderer.render(tokens, parser.options, {})
    title = markdown.partition("\n")[0].lstrip("# ")
    return _PAGE.format(title=html.escape(title), style=STYLE, body=body, files=files.text())


def write_html(folder: Path) -> None:
    """Write ``html/<page>.html`` for each page of ``folder``, ``<page>.md``."""
    for page in PAGES:
        text = (folder / page).read_text(encoding="utf-8")
        write_text(folder / "html" / f"{Path(page).stem}.html", page_html(text, folder))
