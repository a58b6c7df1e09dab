"""Fetching: resumes, retries, verifies; a wrong archive is set aside and never used."""

import io
import random
import shutil
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner
from urllib3 import Retry

from aiayn.cli.main import app
from aiayn.common.errors import UserError
from aiayn.corpus import transfer
from aiayn.corpus.fetch import check, fetch
from aiayn.corpus.sums import MIRROR_SUMS, PINNED_SUMS, expected_sum, verify
from aiayn.corpus.whole import flaw
from tests.unit.corpus_fixtures import gzipped, put, sha256, tar_bytes, toy_catalogue

CONTENT = bytes(range(256)) * 2_000
OTHER = CONTENT[::-1]
PACKED, OTHER_PACKED = (gzipped(random.Random(seed).randbytes(300_000)) for seed in (1, 2))
"""Archives that can be read through, as those must be whose sum nobody has published."""


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    retry = Retry(total=3, backoff_factor=0, status_forcelist=(500, 503))
    monkeypatch.setattr(transfer, "_RETRY", retry)
    monkeypatch.setattr(transfer.time, "sleep", lambda seconds: None)


@pytest.fixture
def server():
    """A web server with ranges; ``breaks`` and ``errors`` are how often it fails first.

    ``most`` is the longest range that it sends, ``lengths`` whether it says how much is coming.
    """
    state = SimpleNamespace(files={}, sent=[], headers={}, breaks=0, errors=0)
    state.ranges, state.most, state.lengths, state.refuses = True, None, True, False

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if state.errors:
                state.errors -= 1
                self.send_error(503)
                return
            if state.refuses:
                self.send_error(416)
                return
            content = state.files.get(self.path.lstrip("/"))
            if content is None:
                self.send_error(404)
                return
            first = 0
            if state.ranges and "Range" in self.headers:
                first = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
            if first and first >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            piece, whole = content[first:], "*"
            if first and state.most:
                piece, whole = piece[: state.most], len(content)
            self.send_response(206 if first else 200)
            if first:
                last = first + len(piece) - 1
                self.send_header("Content-Range", f"bytes {first}-{last}/{whole}")
            if state.lengths:
                self.send_header("Content-Length", str(len(piece)))
            for header, value in state.headers.items():
                self.send_header(header, value)
            self.end_headers()
            if state.breaks:
                state.breaks -= 1
                piece = piece[: len(piece) // 2]
            state.sent.append((self.path, len(piece)))
            self.wfile.write(piece)

        def log_message(self, *arguments):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True).start()
    state.address = f"http://127.0.0.1:{httpd.server_port}"
    yield state
    httpd.shutdown()
    httpd.server_close()


def names_in(folder):
    return sorted(path.name for path in (folder / "sub").iterdir())


def test_file_address_is_copied_and_verified(tmp_path):
    put(tmp_path / "mirror ü", "a", CONTENT)
    catalogue = toy_catalogue((tmp_path / "mirror ü").as_uri(), {"a": CONTENT})
    fetch(catalogue, ["a"], tmp_path / "d")
    assert (tmp_path / "d/sub/a.tgz").read_bytes() == CONTENT
    assert names_in(tmp_path / "d") == ["a.tgz"]
    assert verify("a", catalogue.archives["a"], tmp_path / "d")


def test_second_fetch_needs_no_network(tmp_path, server):
    server.files["sub/a.tgz"] = CONTENT
    catalogue = toy_catalogue(server.address, {"a": CONTENT})
    fetch(catalogue, ["a"], tmp_path)
    sent = len(server.sent)
    fetch(catalogue, ["a"], tmp_path)
    assert len(server.sent) == sent == 1


def test_broken_transfer_goes_on_where_it_broke(tmp_path, server):
    server.files["sub/a.tgz"], server.breaks = CONTENT, 2
    fetch(toy_catalogue(server.address, {"a": CONTENT}), ["a"], tmp_path)
    assert len(server.sent) == 3
    on_the_wire = sum(size for _, size in server.sent)
    assert on_the_wire < len(CONTENT) + 2 * transfer.PIECE_BYTES
    assert (tmp_path / "sub/a.tgz").read_bytes() == CONTENT


def test_killed_download_goes_on(tmp_path, server):
    server.files["sub/a.tgz"] = CONTENT
    put(tmp_path, "a", CONTENT[:1000]).rename(tmp_path / "sub/a.tgz.part")
    fetch(toy_catalogue(server.address, {"a": CONTENT}), ["a"], tmp_path)
    assert server.sent == [("/sub/a.tgz", len(CONTENT) - 1000)]
    assert names_in(tmp_path) == ["a.tgz"]


@pytest.mark.parametrize("extra", [0, 1])
def test_part_that_is_whole_or_too_long(tmp_path, server, extra):
    server.files["sub/a.tgz"] = CONTENT
    put(tmp_path, "a", CONTENT + b"x" * extra).rename(tmp_path / "sub/a.tgz.part")
    fetch(toy_catalogue(server.address, {"a": CONTENT}), ["a"], tmp_path)
    assert (tmp_path / "sub/a.tgz").read_bytes() == CONTENT
    assert len(server.sent) == extra
    assert names_in(tmp_path) == ["a.tgz"]


def test_server_without_ranges_starts_again(tmp_path, server):
    server.files["sub/a.tgz"], server.breaks, server.ranges = CONTENT, 1, False
    fetch(toy_catalogue(server.address, {"a": CONTENT}), ["a"], tmp_path)
    assert [size for _, size in server.sent] == [len(CONTENT) // 2, len(CONTENT)]
    assert (tmp_path / "sub/a.tgz").read_bytes() == CONTENT


def test_busy_server_is_asked_again(tmp_path, server):
    server.files["sub/a.tgz"], server.errors = CONTENT, 2
    fetch(toy_catalogue(server.address, {"a": CONTENT}), ["a"], tmp_path)
    assert (tmp_path / "sub/a.tgz").read_bytes() == CONTENT


def test_mirrors_are_tried_in_order(tmp_path, server):
    server.files["good/sub/a.tgz"] = CONTENT
    catalogue = toy_catalogue(f"{server.address}/lost", {"a": CONTENT})
    host = catalogue.hosts["h"].model_copy(update={"mirrors": (f"{server.address}/good",)})
    catalogue = catalogue.model_copy(update={"hosts": {"h": host}})
    fetch(catalogue, ["a"], tmp_path)
    assert [path for path, _ in server.sent] == ["/good/sub/a.tgz"]


def test_archive_that_no_address_has_is_one_clear_line(tmp_path, server):
    with pytest.raises(UserError, match=r"^a: could not be downloaded \(http.*HTTP 404\)$"):
        fetch(toy_catalogue(server.address, {"a": CONTENT}), ["a"], tmp_path)
    assert names_in(tmp_path) == []


def test_packing_that_a_server_calls_an_encoding_stays_as_it_is(tmp_path, server):
    """Apache's AddEncoding does that to every .tgz."""
    server.files["sub/a.tgz"], server.headers = PACKED, {"Content-Encoding": "gzip"}
    server.breaks = 1
    fetch(toy_catalogue(server.address, {"a": PACKED}), ["a"], tmp_path)
    assert (tmp_path / "sub/a.tgz").read_bytes() == PACKED
    assert len(server.sent) == 2


def test_transfer_that_breaks_off_every_time_is_one_clear_line(tmp_path, server):
    server.files["sub/a.tgz"], server.breaks = CONTENT, 1_000
    with pytest.raises(UserError, match=r"^a: could not be .* connection broke, 10 tries\)$"):
        fetch(toy_catalogue(server.address, {"a": CONTENT}), ["a"], tmp_path)
    assert names_in(tmp_path) == ["a.tgz.part"]


def test_server_that_never_has_a_range_is_one_clear_line(tmp_path, server):
    server.refuses = True
    with pytest.raises(UserError, match=r"^a: could not be .* nothing after 0 bytes, 10 tries\)$"):
        fetch(toy_catalogue(server.address, {"a": CONTENT}), ["a"], tmp_path)
    assert names_in(tmp_path) == []


def test_range_shorter_than_the_rest_is_not_the_end(tmp_path, server):
    server.files["sub/a.tgz"], server.breaks, server.most = PACKED, 1, 60_000
    fetch(toy_catalogue(server.address, {"a": None}), ["a"], tmp_path)
    assert (tmp_path / "sub/a.tgz").read_bytes() == PACKED
    assert len(server.sent) == 4


def test_known_size_tells_that_a_transfer_without_a_length_broke_off(tmp_path, server):
    server.files["sub/a.tgz"], server.breaks, server.lengths = CONTENT, 1, False
    fetch(toy_catalogue(server.address, {"a": CONTENT}), ["a"], tmp_path)
    assert [size for _, size in server.sent] == [len(CONTENT) // 2] * 2
    assert names_in(tmp_path) == ["a.tgz"]


@pytest.mark.parametrize("found", [CONTENT[: len(CONTENT) // 2], OTHER])
def test_wrong_archive_is_set_aside_and_fetched_again(tmp_path, server, found, capsys):
    """faults A3: halve the .tgz, then rerun."""
    server.files["sub/a.tgz"] = CONTENT
    put(tmp_path, "a", found)
    fetch(toy_catalogue(server.address, {"a": CONTENT}), ["a"], tmp_path)
    assert (tmp_path / "sub/a.tgz").read_bytes() == CONTENT
    assert (tmp_path / "sub/a.tgz.wrong").read_bytes() == found
    assert capsys.readouterr().err.count("set aside") == 1


def test_archive_that_is_wrong_twice_is_an_error_and_not_in_place(tmp_path, server):
    server.files["sub/a.tgz"] = OTHER
    with pytest.raises(
        UserError, match=f"wrong again.*{sha256(OTHER)}, expected {sha256(CONTENT)}"
    ):
        fetch(toy_catalogue(server.address, {"a": CONTENT}), ["a"], tmp_path)
    assert names_in(tmp_path) == ["a.tgz.wrong"]
    assert len(server.sent) == 2


def test_unknown_sum_is_pinned_and_compared_from_then_on(tmp_path, server):
    server.files |= {"sub/a.tgz": PACKED, "sub/b.tgz": OTHER_PACKED}
    catalogue = toy_catalogue(server.address, {"a": None, "b": None})
    fetch(catalogue, ["a", "b"], tmp_path)
    pins = (tmp_path / PINNED_SUMS).read_text(encoding="utf-8")
    assert pins == f"{sha256(PACKED)}  sub/a.tgz\n{sha256(OTHER_PACKED)}  sub/b.tgz\n"
    (tmp_path / "sub/a.tgz").unlink()
    server.files["sub/a.tgz"] = OTHER_PACKED
    with pytest.raises(UserError, match="a: wrong again"):
        fetch(catalogue, ["a"], tmp_path)


def test_part_of_an_earlier_day_is_no_beginning_of_a_file_of_unknown_sum(tmp_path, server):
    server.files["sub/a.tgz"] = PACKED
    put(tmp_path, "a", OTHER_PACKED[:1000]).rename(tmp_path / "sub/a.tgz.part")
    fetch(toy_catalogue(server.address, {"a": None}), ["a"], tmp_path)
    assert (tmp_path / "sub/a.tgz").read_bytes() == PACKED
    assert names_in(tmp_path) == ["a.tgz"]


def test_two_addresses_never_give_a_part_each_of_a_file_of_unknown_sum(tmp_path, server):
    server.files |= {"one/sub/a.tgz": PACKED, "two/sub/a.tgz": OTHER_PACKED}
    server.breaks = transfer.ATTEMPTS
    catalogue = toy_catalogue(f"{server.address}/one", {"a": None})
    host = catalogue.hosts["h"].model_copy(update={"mirrors": (f"{server.address}/two",)})
    fetch(catalogue.model_copy(update={"hosts": {"h": host}}), ["a"], tmp_path)
    assert (tmp_path / "sub/a.tgz").read_bytes() == OTHER_PACKED


def test_half_an_archive_is_never_pinned(tmp_path, server, capsys):
    """A server that gives no length and a connection that ends: nothing else tells."""
    server.files["sub/a.tgz"], server.breaks, server.lengths = PACKED, 1, False
    catalogue = toy_catalogue(server.address, {"a": None})
    fetch(catalogue, ["a"], tmp_path)
    assert "a: the archive is not whole" in capsys.readouterr().err
    assert (tmp_path / "sub/a.tgz").read_bytes() == PACKED
    assert (tmp_path / "sub/a.tgz.wrong").read_bytes() == PACKED[: len(PACKED) // 2]
    (tmp_path / "sub/a.tgz").unlink()
    (tmp_path / PINNED_SUMS).unlink()
    server.breaks = 2
    with pytest.raises(UserError, match=r"a: wrong again .*: the archive is not whole \(.*\)$"):
        fetch(catalogue, ["a"], tmp_path)
    assert not (tmp_path / PINNED_SUMS).exists()


def zip_bytes():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x.en", CONTENT)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tgz", tar_bytes({"x.en": CONTENT})),
        ("a.en.gz", PACKED),
        ("a.tar.xz", tar_bytes({"x.en": CONTENT}, "w:xz")),
        ("a.tar.bz2", tar_bytes({"x.en": CONTENT}, "w:bz2")),
        ("a.tar", tar_bytes({"x.en": CONTENT, "x.de": OTHER}, "w")),
        ("a.whl", zip_bytes()),
        ("a.zip", zip_bytes()),
    ],
)
def test_archive_that_ends_early_has_a_flaw(tmp_path, name, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert flaw(path, name) is None
    for length in (0, 1, 700, len(content) // 2, len(content) - 10_000, len(content) - 1):
        if length < len(content) - (name == "a.tar"):  # whose end is longer than it must be
            path.write_bytes(content[: max(length, 0)])
            assert flaw(path, name), length
    path.write_bytes(b"<html>Please log in</html>\n" * 100)
    assert flaw(path, name)


def test_tar_archive_cut_between_two_members_has_a_flaw(tmp_path):
    """Where no member is broken."""
    path = tmp_path / "file"
    content = tar_bytes({"x.en": b"1" * 1024, "x.de": b"1" * 1024}, "w")
    path.write_bytes(content[: 512 + 1024])
    assert flaw(path, "a.tar") == "the archive is not whole (its end is missing)"


def test_sums_of_a_mirror_stand_in_and_make_the_data_unofficial(tmp_path, capsys):
    mirror = tmp_path / "mirror"
    put(mirror, "a", OTHER)
    (mirror / MIRROR_SUMS).write_text(f"{sha256(OTHER)}  sub/a.tgz\n", encoding="utf-8")
    catalogue = toy_catalogue("http://nowhere.invalid", {"a": CONTENT})
    fetch(catalogue, ["a"], tmp_path / "d", mirror.as_uri())
    assert "not the official data" in capsys.readouterr().err
    assert not verify("a", catalogue.archives["a"], tmp_path / "d")
    assert check(catalogue, ["a"], tmp_path / "d")["a"].note == "not the official data"
    with pytest.raises(UserError, match="holds the archives of a mirror"):
        fetch(catalogue, ["a"], tmp_path / "d")


def test_mirror_without_sums_must_have_the_official_archives(tmp_path):
    mirror = tmp_path / "mirror"
    put(mirror, "a", OTHER)
    catalogue = toy_catalogue("http://nowhere.invalid", {"a": CONTENT})
    with pytest.raises(UserError, match="wrong again"):
        fetch(catalogue, ["a"], tmp_path / "d", mirror.as_uri())
    put(mirror, "a", CONTENT)
    fetch(catalogue, ["a"], tmp_path / "d", mirror.as_uri())
    assert expected_sum(catalogue.archives["a"], tmp_path / "d").official


def test_full_disk_is_one_clear_line_before_the_first_byte(tmp_path, server, monkeypatch):
    server.files["sub/a.tgz"] = CONTENT
    usage = SimpleNamespace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(UserError, match="a needs 512,000 more bytes, 1,000 are free"):
        fetch(toy_catalogue(server.address, {"a": CONTENT}), ["a"], tmp_path)
    assert names_in(tmp_path) == []


def test_wrong_address_is_named(tmp_path):
    with pytest.raises(UserError, match="corpora_base: '/some/folder' is no"):
        fetch(toy_catalogue("file:///x", {"a": CONTENT}), ["a"], tmp_path, "/some/folder")


def test_unknown_archive_is_answered_with_the_known(tmp_path):
    with pytest.raises(UserError, match="no archive 'b'; there are: a"):
        fetch(toy_catalogue("file:///x", {"a": CONTENT}), ["b"], tmp_path)


def test_check_says_what_is_there_and_downloads_nothing(tmp_path):
    put(tmp_path, "a", CONTENT)
    put(tmp_path, "b", OTHER)
    put(tmp_path, "c", OTHER)
    archives = {"a": CONTENT, "b": CONTENT, "c": None, "d": CONTENT}
    catalogue = toy_catalogue("http://nowhere.invalid", archives)
    states = {name: status.state for name, status in check(catalogue, archives, tmp_path).items()}
    assert states == {"a": "present", "b": "wrong", "c": "wrong", "d": "missing"}


def test_command_checks_a_corpus_and_exits_with_1(tmp_path):
    arguments = ["fetch", "--corpus", "multi30k", "--pair", "en-de", "--check"]
    result = CliRunner().invoke(app, [*arguments, "--downloads", str(tmp_path)])
    assert result.exit_code == 1
    assert result.stdout.count("missing ") == 6
    assert list(tmp_path.iterdir()) == []
