"""Extraction: named members only, streamed; what is wrong is named and leaves nothing."""

import io
import json
import shlex
import tarfile

import pytest
from typer.testing import CliRunner

from aiayn.cli.main import app
from aiayn.common.errors import UserError
from aiayn.config import load_catalogue
from aiayn.config.scales import SelectionConfig
from aiayn.corpus.extract import extract
from aiayn.corpus.fetch import fetch
from aiayn.corpus.members import sgml_lines
from tests.unit.corpus_fixtures import gzipped, put, tar_bytes, toy_catalogue

GOOD = {"x.en": b"one\ntwo\nthree\n", "x.de": b"eins\nzwei\ndrei\n"}


def run(folder, archive: bytes, *, part="p", content=None, **sizes):
    """Extract a part of a toy corpus made of one archive."""
    contents = {} if content is None else {part: content}
    catalogue = toy_catalogue("file:///nowhere", {"a": archive}, **contents)
    put(folder / "downloads", "a", archive)
    extract(
        catalogue,
        "toy",
        "en-de",
        part,
        downloads=folder / "downloads",
        output=folder / "raw",
        select=SelectionConfig(**sizes),
    )
    counts = json.loads((folder / "raw" / f"{part}.json").read_text(encoding="utf-8"))
    return [(folder / "raw" / f"{part}.{lang}").read_bytes() for lang in ("en", "de")], counts


def left_behind(folder):
    return [path.name for path in folder.glob("raw/*")]


def test_members_become_parallel_text(tmp_path):
    sides, counts = run(tmp_path, tar_bytes(GOOD))
    assert sides == [GOOD["x.en"], GOOD["x.de"]]
    assert counts == {"read": 3, "kept": 3, "dropped": {}, "official": True}


def test_gzip_inside_plain_tar(tmp_path):
    archive = tar_bytes({"./x.en.gz": gzipped(b"one\n"), "x.de.gz": gzipped(b"eins\n")}, "w")
    content = {"format": "tar", "archive": "a", "source": "x.en.gz", "target": "x.de.gz"}
    assert run(tmp_path, archive, content=content)[0] == [b"one\n", b"eins\n"]


def test_unicode_line_breaks_do_not_shift_pairs(tmp_path):
    """faults A1."""
    odd = "a\u2028b\x85c\x0bd\x1ce\rf\n".encode()
    sides, counts = run(tmp_path, tar_bytes({"x.en": b"1\n" + odd + b"3", "x.de": b"1\n2\n3\n"}))
    assert counts["kept"] == 3
    assert sides[0].split(b"\n")[2] == b"3"


def test_unequal_members_name_both_counts_and_leave_nothing(tmp_path):
    """faults A3."""
    archive = tar_bytes({"x.en": b"1\n2\n3\n", "x.de": b"1\n2\n"})
    with pytest.raises(UserError, match=r"^toy en-de p: .*x\.en has 3 lines but .*x\.de has 2"):
        run(tmp_path, archive)
    assert left_behind(tmp_path) == []


def test_selection_takes_the_first_short_pairs_and_counts_the_rest(tmp_path):
    members = {"x.en": b"a b c\nd\ne\nf\n", "x.de": b"A\nD\nE\nF\n"}
    sides, counts = run(tmp_path, tar_bytes(members), max_words=2, train_pairs=2, dev_pairs=1)
    assert sides == [b"d\ne\n", b"D\nE\n"]
    assert counts["dropped"] == {"beyond train_pairs": 1, "longer than max_words": 1}
    sides, counts = run(tmp_path, tar_bytes(members), part="t", train_pairs=1, test_pairs=3)
    assert counts["dropped"] == {"beyond test_pairs": 1}


def test_own_files_are_read_as_they_are_or_gunzipped(tmp_path):
    source, target = tmp_path / "x.en", tmp_path / "x.de.gz"
    content = {"format": "files", "source": str(source), "target": str(target)}
    with pytest.raises(UserError, match=r"^toy en-de p: .*x\.en: no such file or directory$"):
        run(tmp_path, b"-", content=content)
    source.write_bytes(GOOD["x.en"].removesuffix(b"\n"))
    target.write_bytes(gzipped(GOOD["x.de"]))
    sides, counts = run(tmp_path, b"-", content=content, train_pairs=2)
    assert sides == [b"one\ntwo\n", b"eins\nzwei\n"]
    assert counts["dropped"] == {"beyond train_pairs": 1}


def test_own_files_of_unequal_length_name_both_counts(tmp_path):
    """faults A3."""
    source, target = tmp_path / "x.en", tmp_path / "x.de"
    source.write_bytes(b"1\n2\n")
    target.write_bytes(b"1\n")
    content = {"format": "files", "source": str(source), "target": str(target)}
    with pytest.raises(UserError, match=r"x\.en has 2 lines but .*x\.de has 1$"):
        run(tmp_path, b"-", content=content)
    assert left_behind(tmp_path) == []


def test_a_part_or_set_without_pairs_is_an_error(tmp_path):
    source, target = tmp_path / "x.en", tmp_path / "x.de"
    content = {"format": "files", "source": str(source), "target": str(target)}
    for text, message in (
        (b"", "no pairs: 0 read"),
        (b"a b c\n", "no pairs: 1 read, none of them"),
    ):
        source.write_bytes(text)
        target.write_bytes(text)
        with pytest.raises(UserError, match=f"^toy en-de p: {message}"):
            run(tmp_path, b"-", content=content, max_words=2)
        assert left_behind(tmp_path) == []


def test_missing_member_is_named(tmp_path):
    with pytest.raises(UserError, match=r"a\.tgz: no member 'x.de'"):
        run(tmp_path, tar_bytes({"x.en": b"1\n"}))
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused(tmp_path, kind):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        entry = tarfile.TarInfo("x.en")
        entry.type, entry.linkname = kind, "../../etc/passwd"
        tar.addfile(entry)
    with pytest.raises(UserError, match=r"member 'x\.en' is not a plain file"):
        run(tmp_path, buffer.getvalue())


def test_wrong_archive_is_never_used(tmp_path):
    """faults A3: half a .tgz."""
    archive = tar_bytes(GOOD)
    catalogue = toy_catalogue("file:///nowhere", {"a": archive})
    put(tmp_path, "a", archive[: len(archive) // 2])
    options = {"downloads": tmp_path, "output": tmp_path / "raw", "select": SelectionConfig()}
    with pytest.raises(UserError, match=r"a\.tgz: sha256 is .*, expected .*; run: aiayn fetch "):
        extract(catalogue, "toy", "en-de", "p", **options)
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("mirrored", [False, True])
def test_the_command_that_an_error_advises_puts_things_right(tmp_path, monkeypatch, mirrored):
    """Also for a mirror, whose archives lie in a folder of their own."""
    archive = tar_bytes(GOOD)
    put(tmp_path / "web site", "a", archive)
    base = (tmp_path / "web site").as_uri()
    catalogue = toy_catalogue("file:///nowhere" if mirrored else base, {"a": archive})
    monkeypatch.setattr("aiayn.config.load_catalogue", lambda root: catalogue)
    options = {"downloads": tmp_path / "down loads", "output": tmp_path / "raw"}
    options |= {"select": SelectionConfig(), "corpora_base": base if mirrored else ""}
    with pytest.raises(UserError, match="no such file; run: aiayn ") as error:
        extract(catalogue, "toy", "en-de", "p", **options)
    command = shlex.split(str(error.value).partition("run: aiayn ")[2])
    assert CliRunner().invoke(app, command).exit_code == 0
    assert extract(catalogue, "toy", "en-de", "p", **options).kept == 3


def test_broken_archive_with_the_right_sum_is_named(tmp_path):
    archive = tar_bytes({"x.en": b"1\n" * 100_000, "x.de": b"1\n" * 100_000})
    with pytest.raises(UserError, match=r"a\.tgz: broken archive"):
        run(tmp_path, archive[:-200])
    assert left_behind(tmp_path) == []


def test_count_that_differs_from_the_catalogue_is_an_error_for_official_data(tmp_path):
    content = {"format": "tar", "archive": "a", "source": "x.en", "target": "x.de", "pairs": 4}
    with pytest.raises(UserError, match="toy en-de p: 3 pairs, the catalogue says 4"):
        run(tmp_path, tar_bytes(GOOD), content=content)
    assert left_behind(tmp_path) == []


def test_sgml_segments_are_unescaped_and_only_they(tmp_path):
    members = {
        "t.en": b'<doc id="x">\n<p>\n<seg id="1">AT&amp;T &quot;a&quot; & b</seg>\n'
        b'<seg id="2"> 5 &lt; 6 &#39;x&#x27; &copy y</seg>\n</p>\n</doc>\n',
        "t.de": b'<refset>\n<seg id="1">eins</seg>\n<seg id="2">zwei</seg>\n</refset>\n',
    }
    content = {"format": "tar-sgml", "archive": "a", "source": "t.en", "target": "t.de"}
    sides, _ = run(tmp_path, tar_bytes(members), part="t", content=content)
    assert sides[0] == b"AT&T \"a\" & b\n5 < 6 'x' &copy y\n"
    assert sides[1] == b"eins\nzwei\n"


def test_optional_set_is_extracted_once_its_archive_is_there(tmp_path, request):
    """faults A15: the filtered newstest2014 has 2,737 segments, or is something else."""
    catalogue = load_catalogue(request.config.rootpath)
    segments = b"".join(b'<seg id="%d">x</seg>\n' % number for number in range(2_736))
    sides = ("src.en", "ref.de")
    archive = tar_bytes({f"test/newstest2014-deen-{side}.sgm": segments for side in sides})
    path = tmp_path / "wmt14/test-filtered.tgz"
    names = ("wmt14", "en-de", "newstest2014-filtered")
    options = {"downloads": tmp_path, "output": tmp_path / "raw", "select": SelectionConfig()}
    with pytest.raises(UserError, match="no such file; run: aiayn fetch --archive=wmt-test-filter"):
        extract(catalogue, *names, **options)
    path.parent.mkdir()
    path.write_bytes(archive)
    fetch(catalogue, ["wmt-test-filtered"], tmp_path)  # in place: pinned, not downloaded
    with pytest.raises(UserError, match="filtered: 2,736 pairs, the catalogue says 2,737"):
        extract(catalogue, *names, **options)


def test_unclosed_segment_is_named():
    with pytest.raises(UserError, match=r"t\.sgm, line 2: <seg> without </seg>"):
        list(sgml_lines([b"<p>\n", b'<seg id="1">open\n'], "t.sgm"))


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("lost", "en-de", "verses"), "no corpus 'lost'; there are: bible"),
        (("bible", "en-xx", "verses"), "no pair 'en-xx'; there are: en-de, en-fr"),
        (("bible", "en-de", "lost"), "bible en-de has no part or set 'lost'"),
    ],
)
def test_unknown_names_are_answered_with_the_known(tmp_path, names, says, request):
    catalogue = load_catalogue(request.config.rootpath)
    with pytest.raises(UserError, match=says):
        extract(catalogue, *names, downloads=tmp_path, output=tmp_path, select=SelectionConfig())
