"""The mirror's Common Crawl part through extract, tokenize and clean: no pair is shifted.

How the part was made: clean pairs in their order, 4,000 for EN-FR (rows 12,000 to 15,999 of
Multi30k's train) and 10,000 for EN-DE (real web and parliament text), with 190 pairs put in
between them at random places. ``INSERTED`` says what these hold.
"""

import gzip
import html
import re
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from aiayn.common.files import read_json, read_lines
from aiayn.config import CleaningConfig, load_catalogue
from aiayn.config.scales import SelectionConfig
from aiayn.corpus.clean import clean
from aiayn.corpus.extract import extract
from aiayn.corpus.fetch import fetch
from aiayn.text import tokenize_file

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
MIRROR = DATA / "wmt14-mirror"

pytestmark = pytest.mark.skipif(
    not MIRROR.exists(), reason="needs ../shared/data/wmt14-mirror, small archives in WMT14's shape"
)

INSERTED = {
    # What stays, for it does no harm.
    "an exact copy of another pair": 30,
    "U+2028 in the target": 20,
    "U+0085 in the source": 10,
    "FF in the source, VT in the target": 5,
    "tab in the target": 5,
    "NUL in the target": 5,
    "CR before the line feed, both sides": 10,
    "HTML entities": 10,
    "@@, @-@ and | as text": 5,
    # What goes.
    "source empty": 25,
    "target empty": 25,
    "both empty": 10,
    "no-break space against blanks": 10,
    "both sides 60 times over": 10,
    "the source 12 times over, a wild length ratio": 10,
}
STAYS = list(INSERTED.values())[:9]

DROPPED = {
    "en-fr": {
        "empty side": 25 + 25 + 10 + 10,
        # 12 times a sentence of 7 words or more is over 80 tokens, which is asked before the ratio.
        "more than max_tokens": 10 + 10,
    },
    "en-de": {
        "empty side": 25 + 25 + 10 + 10 + 1,  # one source was empty on the web already
        "more than max_tokens": 10 + 10,
        "undecodable": 34,  # pairs of the web that lost letters to U+FFFD before they were crawled
    },
}
CLEAN_PAIRS = {"en-fr": 4_000, "en-de": 10_000}

# U+2028 and the rest, as str.splitlines and the re module's \s know them.
LINE_ENDS_ELSEWHERE = re.compile("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
MARKERS = (" & quot ; & amp ; amp ; & # 124 ;", " a @ @ b | c ￭", " @ @ a @ - @ b @ @ @")
"""What the noise appends, as tokens."""


class Prepared(NamedTuple):
    """The part on its way, as pairs."""

    raw: list[tuple[str, str]]
    tokenized: list[tuple[str, str]]
    kept: list[tuple[str, str]]
    counts: dict


def letters(text: str) -> str:
    """What tokenization leaves alone: letters and digits, in their order."""
    return "".join(filter(str.isalnum, text))


def fingerprints(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(letters(source), letters(target)) for source, target in pairs]


def pairs_of(folder: Path, lang: str) -> list[tuple[str, str]]:
    sides = [list(read_lines(folder / f"commoncrawl.{side}")) for side in ("en", lang)]
    return list(zip(*sides, strict=True))


def raw_pairs(lang: str) -> list[tuple[str, str]]:
    """The archive's members, read without the code under test."""
    sides = []
    with tarfile.open(MIRROR / "wmt13/training-parallel-commoncrawl.tgz") as tar:
        for side in ("en", lang):
            content = tar.extractfile(f"commoncrawl.{lang}-en.{side}").read()
            sides.append(content.decode("utf-8").removesuffix("\n").split("\n"))
    return list(zip(*sides, strict=True))


@pytest.fixture(scope="module", params=["en-fr", "en-de"])
def pair(request):
    """Source and target language."""
    return request.param


@pytest.fixture(scope="module")
def prepared(pair, tmp_path_factory):
    folder = tmp_path_factory.mktemp(pair)
    lang = pair.removeprefix("en-")
    catalogue = load_catalogue(ROOT)
    archives = ("commoncrawl", "wmt-dev", "wmt-test-full")
    fetch(catalogue, archives, folder / "downloads", MIRROR.as_uri())
    sets = ("newstest2013", "newstest2014")
    for name in ("commoncrawl", *sets):
        directories = {"downloads": folder / "downloads", "output": folder / "raw"}
        extract(catalogue, "wmt14", pair, name, select=SelectionConfig(), **directories)
        for side in ("en",) if name in sets else ("en", lang):
            files = [folder / stage / f"{name}.{side}" for stage in ("raw", "tokenized")]
            tokenize_file(*files, side, aggressive_hyphens=False, workers=1)
    clean(
        *(folder / "tokenized" / f"commoncrawl.{side}" for side in ("en", lang)),
        *(folder / "clean" / f"commoncrawl.{side}" for side in ("en", lang)),
        folder / "clean.json",
        part="commoncrawl",
        config=CleaningConfig(min_tokens=1, max_tokens=80, max_ratio=9),
        held_out=[folder / "tokenized" / f"{name}.en" for name in sets],
    )
    stages = [pairs_of(folder / stage, lang) for stage in ("raw", "tokenized", "clean")]
    return Prepared(*stages, read_json(folder / "clean.json"))


def test_inserted_noise_is_what_the_table_says(pair):
    """The table that explains the counts, checked against the archive itself."""
    pairs = raw_pairs(pair.removeprefix("en-"))
    assert len(pairs) == CLEAN_PAIRS[pair] + sum(INSERTED.values())
    found = {
        "U+2028 in the target": sum("\u2028" in target for _, target in pairs),
        "U+0085 in the source": sum("\x85" in source for source, _ in pairs),
        "FF in the source, VT in the target": sum("\x0c" in s and "\x0b" in t for s, t in pairs),
        "tab in the target": sum("\t" in target for _, target in pairs),
        "NUL in the target": sum("\0" in target for _, target in pairs),
        "CR before the line feed, both sides": sum(
            source.endswith("\r") and target.endswith("\r") for source, target in pairs
        ),
        "HTML entities": sum("&quot; &amp;amp; &#124;" in source for source, _ in pairs),
        "@@, @-@ and | as text": sum("a@@ b | c" in s and "@@ a@-@b @@@" in t for s, t in pairs),
        "target empty": sum(bool(source.strip()) and not target for source, target in pairs),
        "both empty": pairs.count(("", "")),
        "no-break space against blanks": pairs.count(("\u00a0", "   ")),
    }
    assert found == {kind: INSERTED[kind] for kind in found}


def test_counts_by_reason_are_exact(pair, prepared):
    dropped = DROPPED[pair]
    assert prepared.counts == {
        "part": "commoncrawl",
        "pairs_in": CLEAN_PAIRS[pair] + 190,
        "kept": CLEAN_PAIRS[pair] + 190 - sum(dropped.values()),
        "dropped": dropped,
    }


def test_each_dropped_pair_goes_for_the_reason_it_was_made_for(prepared):
    """The reasons found again in the raw text, without the code under test."""
    reasons = {"undecodable": 0, "empty side": 0, "more than max_tokens": 0}
    for source, target in prepared.raw:
        words = max(len(source.split()), len(target.split()))
        if "\ufffd" in source + target:
            reasons["undecodable"] += 1
        elif not source.strip() or not target.strip():
            reasons["empty side"] += 1
        elif words > 80:  # the next longest has 48
            reasons["more than max_tokens"] += 1
    assert {name: n for name, n in reasons.items() if n} == prepared.counts["dropped"]


def test_extracted_lines_are_the_archives(pair, prepared):
    """faults A1: cut at line feeds alone; bytes otherwise as they are."""
    assert prepared.raw == raw_pairs(pair.removeprefix("en-"))


def test_no_line_end_but_the_line_feed_survives(prepared):
    """faults A1, A2: nor a NUL, a byte order mark or a zero-width space."""
    assert any(LINE_ENDS_ELSEWHERE.search(target) for _, target in prepared.raw)
    for source, target in prepared.tokenized:
        assert not LINE_ENDS_ELSEWHERE.search(source + target)
        assert (source + target).replace("\ufffd", "").isprintable()


def test_tokens_stand_in_the_row_of_their_text(prepared):
    """faults A1: row by row, the same letters on both sides."""
    assert fingerprints(prepared.tokenized) == fingerprints(prepared.raw)


@pytest.mark.parametrize("pair", ["en-fr"], indirect=True)
def test_kept_pairs_are_those_of_the_clean_source(prepared):
    """faults A1: every kept pair is a clean one, and all clean ones are there, in their order."""
    sides = []
    for lang in ("en", "fr"):
        content = gzip.decompress((DATA / "multi30k" / f"train.{lang}.gz").read_bytes())
        sides.append(content.decode("utf-8").split("\n")[12_000:16_000])
    clean_pairs = fingerprints(zip(*sides, strict=True))
    kept = fingerprints(map(without_markers, prepared.kept))
    assert set(kept) == set(clean_pairs)
    assert len(kept) == len(clean_pairs) + sum(STAYS)
    remaining = iter(kept)
    assert all(clean_pair in remaining for clean_pair in clean_pairs)


def without_markers(pair: tuple[str, str]) -> tuple[str, str]:
    """A kept pair without the text that the noise put in."""
    source, target = pair
    for marker in MARKERS:
        source, target = source.removesuffix(marker), target.removesuffix(marker)
    # Among the pairs with HTML entities, apostrophes of the target became some, too.
    return source, html.unescape(re.sub(r"& # x27 ;", "&#x27;", target))


@pytest.mark.parametrize("pair", ["en-de"], indirect=True)
def test_numbers_of_the_source_stand_in_its_target(prepared):
    """faults A1: and would not, were pairs shifted by one; this part's clean source is not here."""
    aligned, shifted = agreeing_numbers(prepared.kept, 0), agreeing_numbers(prepared.kept, 1)
    assert aligned > 0.7
    assert shifted < 0.1
    halves = [prepared.kept[:5_000], prepared.kept[5_000:]]
    assert all(agreeing_numbers(half, 0) > 0.7 for half in halves)


def agreeing_numbers(pairs: list[tuple[str, str]], shift: int) -> float:
    """Share of sources with a number of two digits or more whose target has the same."""
    numbers = [[set(re.findall(r"\d{2,}", side)) for side in pair] for pair in pairs]
    rows = range(len(pairs) - shift)
    found = [bool(numbers[row][0] & numbers[row + shift][1]) for row in rows if numbers[row][0]]
    return sum(found) / len(found)
