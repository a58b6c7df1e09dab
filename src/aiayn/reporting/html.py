"""The pages as HTML, each whole in itself, for the Snakemake report that shows them.

In report.html a page stands in a frame from which nothing else can be reached. So what a page links
to, a section of another page or a JSON file, stands at its end and the link leads there; a link to
a whole page is mere text.
"""

import html
import re
from pathlib import Path

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
{body}</body>
</html>
"""
_SECTION = re.compile(r"^(#{2,}) (.+)$", re.MULTILINE)


def slug(heading: str) -> str:
    """The name that forges give a heading to link to: lower case, hyphens for blanks."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def section(markdown: str, name: str) -> str:
    """The section whose heading has a slug, without those after it; empty when there is none."""
    headings = list(_SECTION.finditer(markdown))
    for number, heading in enumerate(headings):
        if slug(heading[2]) == name:
            level = len(heading[1])
            ends = (one.start() for one in headings[number + 1 :] if len(one[1]) <= level)
            return markdown[heading.start() : next(ends, len(markdown))]
    return ""


class _Page:
    """A page and, as its links ask for them, what is put at its end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parser = MarkdownIt("commonmark").enable("table")
        self.anchors: dict[str, str] = {}
        """Where each link leads in this page."""
        self.appended: list[str] = []

    def render(self, markdown: str) -> str:
        """Markdown as HTML, its links led into this page."""
        tokens = self.parser.parse(markdown)
        for number, token in enumerate(tokens):
            if token.type == "heading_open":
                token.attrSet("id", slug(tokens[number + 1].content))
            self._redirect(token.children or [])
        return str(self.parser.renderer.render(tokens, self.parser.options, {}))

    def _redirect(self, tokens: list[Token]) -> None:
        closing: list[str] = []
        for token in tokens:
            if token.type == "link_open":
                anchor = self._anchor(str(token.attrGet("href")))
                if anchor:
                    token.attrSet("href", anchor)
                else:
                    token.tag, token.attrs = "em", {}
                closing.append(token.tag)
            elif token.type == "link_close":
                token.tag = closing.pop()

    def _anchor(self, href: str) -> str | None:
        """Where a link may lead: within this page or to the web."""
        if href.startswith(("#", "http://", "https://")):
            return href
        if href not in self.anchors:
            file, _, name = href.partition("#")
            path = self.folder / file
            if path.suffix == ".json" and path.is_file():
                self._append_file(href, file)
            elif name and path.suffix == ".md" and path.is_file():
                self._append_section(href, path, name)
        return self.anchors.get(href)

    def _append_file(self, href: str, file: str) -> None:
        text = html.escape((self.folder / file).read_text(encoding="utf-8"))
        self.appended.append(f'<h3 id="{slug(file)}">{html.escape(file)}</h3>\n<pre>{text}</pre>\n')
        self.anchors[href] = f"#{slug(file)}"

    def _append_section(self, href: str, path: Path, name: str) -> None:
        text = section(path.read_text(encoding="utf-8"), name)
        if text:
            self.anchors[href] = f"#{name}"  # first: the section may link to itself
            place = len(self.appended)  # before the files that the section refers to
            self.appended.insert(place, self.render(text))


def page_html(markdown: str, folder: Path) -> str:
    """A page of Markdown as an HTML document that needs no other file.

    Args:
        markdown: The page; its first line is its title.
        folder: Where its links start from.
    """
    page = _Page(folder)
    body = page.render(markdown)
    if page.appended:
        body += "<hr>\n<h2>What this page refers to</h2>\n" + "".join(page.appended)
    title = markdown.partition("\n")[0].lstrip("# ")
    return _PAGE.format(title=html.escape(title), style=STYLE, body=body)


def write_html(folder: Path) -> None:
    """Write ``html/<page>.html`` for each page of ``folder``, ``<page>.md``."""
    for page in PAGES:
        text = (folder / page).read_text(encoding="utf-8")
        write_text(folder / "html" / f"{Path(page).stem}.html", page_html(text, folder))
