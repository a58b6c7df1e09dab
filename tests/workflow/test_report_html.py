"""report.html, which a run makes once it is through."""

import json
import os
import re
import shutil
import subprocess

import pytest

from aiayn.reporting.figures import FIGURES
from aiayn.reporting.index import PAGES

pytestmark = pytest.mark.slow

HTML = "reports/smoke/report.html"


def shown(checkout):
    """Results in report.html, by path."""
    page = (checkout.folder / HTML).read_text(encoding="utf-8")
    (found,) = re.findall(r"^\s*var results = (\{.*\});?\s*$", page, re.MULTILINE)
    return json.loads(found)


def test_a_run_ends_with_a_report_of_every_table_page_and_figure(finished):
    results = shown(finished)
    for name in FIGURES:
        assert f"reports/smoke/figures/{name}.svg" in results
    for page in PAGES:
        assert f"reports/smoke/html/{page.removesuffix('.md')}.html" in results
    for path, result in results.items():
        assert result["caption"].strip(), path
        assert result["data_uri"].startswith("data:"), path


def test_the_report_needs_no_other_file_and_no_network(finished):
    page = (finished.folder / HTML).read_text(encoding="utf-8")
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=\"(?!data:)", page)


def test_a_cell_of_table_3_leads_to_its_run_within_the_page(finished):
    text = (finished.folder / "reports/smoke/html/table3.html").read_text(encoding="utf-8")
    record = text.split('id="en-de-a1"')[1]
    (anchor,) = re.findall(r'<a href="#([\w-]+)">', record)[:1]
    assert "A1" in text.split('<a href="#en-de-a1">')[1][:10]
    assert "&quot;data_sha256&quot;" in text.split(f'id="{anchor}"')[1]


def test_a_report_that_cannot_be_made_is_one_line_and_a_failure(finished):
    caption = finished.folder / "workflow/report/table3.rst"
    text, dates = caption.read_text(), caption.stat()
    html = finished.folder / HTML
    before = html.read_bytes()
    html.unlink()
    caption.write_text("{% broken")
    try:
        # Touching computes nothing, but leaves every file newer than the report.
        options = ("--touch", "--forcerun", "report")
        done = finished.run("snakemake", "--cores", "2", *options, check=False)
        assert done.returncode != 0
        assert f"aiayn: {HTML} was not made: " in done.stdout
        assert "Traceback" not in done.stdout.partition("aiayn: ")[2]
        assert not html.exists()
    finally:
        caption.write_text(text)
        os.utime(caption, ns=(dates.st_atime_ns, dates.st_mtime_ns))
        html.write_bytes(before)


def test_a_browser_shows_the_menu(finished):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        pytest.skip("no Chromium to open the report with")
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--virtual-time-budget=3000", "--dump-dom",
         (finished.folder / HTML).as_uri()],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    for text in ("Where to look", "1. Tables", "3. Figures", "Statistics"):
        assert text in done.stdout, text
