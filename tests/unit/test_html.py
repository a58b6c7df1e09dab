"""Pages as HTML that need no other file."""

import re

from aiayn.common.files import write_json
from aiayn.reporting.html import page_html, section, slug

PAGE = """# Table & more

> smoke scale: it means nothing

| row | BLEU |
|:----|-----:|
| [base][run] | **1.5** |
| a\\|b \\<i> | [Table 2](table2.md#en-de) |

See [again](../run.json), [gone](gone.json),
[the paper](https://arxiv.org/abs/1706.03762), [top](#x).

[run]: ../run.json
"""


def test_a_link_to_a_json_file_leads_to_its_text_in_the_page(tmp_path):
    write_json(tmp_path / "run.json", {"device": "<CPU>"})
    (tmp_path / "report").mkdir()
    page = page_html(PAGE, tmp_path / "report")
    assert '<a href="#runjson">base</a>' in page
    assert '<a href="#runjson">again</a>' in page
    assert page.count('id="runjson"') == 1
    assert "&quot;device&quot;: &quot;&lt;CPU&gt;&quot;" in page


def test_a_link_to_a_section_leads_to_it_and_on_to_its_file(tmp_path):
    write_json(tmp_path / "run.json", {"seed": 1})
    other = (
        "# Runs\n\n## All\n\n### en-de A1\n\nseed 1: [run](run.json)\n\n### en-de A2\n\nnot this\n"
    )
    (tmp_path / "runs.md").write_text(other)
    page = page_html("# T\n\n[A1](runs.md#en-de-a1), [gone](runs.md#gone)\n", tmp_path)
    order = ('<a href="#en-de-a1">A1</a>', 'id="en-de-a1"', '<a href="#runjson">', 'id="runjson"')
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    assert "not this" not in page
    assert "<em>gone</em>" in page


def test_a_section_ends_with_the_next_of_its_level():
    text = "# T\n\n## a b\n\none\n\n### c\n\ntwo\n\n## d\n\nthree\n"
    assert section(text, "a-b") == "## a b\n\none\n\n### c\n\ntwo\n\n"
    assert section(text, "c") == "### c\n\ntwo\n\n"
    assert section(text, "d").endswith("three\n")
    assert section(text, "e") == ""
    assert slug("EN-DE, test (Table 2)") == "en-de-test-table-2"


def test_no_link_leads_out_of_the_page_but_to_the_web(tmp_path):
    page = page_html(PAGE, tmp_path)
    assert set(re.findall(r'href="([^"]*)"', page)) == {"https://arxiv.org/abs/1706.03762", "#x"}
    assert "<em>Table 2</em>" in page
    assert "<em>gone</em>" in page
    assert not re.search(r'\b(src|href)="(?!https://arxiv|#)', page)


def test_tables_and_title_are_html(tmp_path):
    page = page_html(PAGE, tmp_path)
    assert "<title>Table &amp; more</title>" in page
    assert "<strong>1.5</strong>" in page
    assert "a|b &lt;i&gt;" in page
