"""Pages as HTML that need no other file."""

import re

from aiayn.common.files import write_json
from aiayn.reporting.html import page_html

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
    assert '<a href="#file-1">base</a>' in page
    assert '<a href="#file-1">again</a>' in page
    assert page.count('id="file-1"') == 1
    assert "&quot;device&quot;: &quot;&lt;CPU&gt;&quot;" in page


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
