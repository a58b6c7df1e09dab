"""The Bible: clean verses, a split that no source text crosses, the same at every size."""

import random
import sqlite3
from contextlib import closing

import pytest

from aiayn.common.errors import UserError
from aiayn.config.catalogue import Verses
from aiayn.config.scales import SelectionConfig
from aiayn.corpus.bible import Verse, clean_verse, read_verses, select_verses, source_key
from aiayn.corpus.pairs import Counts

VERSES = [Verse(f"source number {n}", f"Ziel {n}") for n in range(60)] + [
    Verse("The same words.", f"Ziel {n}") for n in range(60, 65)
]


def content(split="train") -> Verses:
    return Verses(
        format="verses", archive="a", member="m", source="k", target="e", split=split, pairs=None
    )


def select(split, verses=None, **sizes):
    counts = Counts()
    verses = VERSES if verses is None else verses
    counts.read = len(verses)
    kept = list(select_verses(verses, content(split), SelectionConfig(**sizes), counts))
    assert counts.kept == len(kept)
    return kept, dict(counts.dropped)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("(7:26) L'Éternel dit à Moïse", "L'Éternel dit à Moïse"),
        ("(63:19b) Oh! si tu", "Oh! si tu"),
        ("(5:21 Lorsque quelqu'un", "Lorsque quelqu'un"),
        ("le sel. (9:51) Ayez du sel", "le sel. Ayez du sel"),
        ("Jedaja, [der Sohn des] Jojarib,", "Jedaja, der Sohn des Jojarib,"),
        ("und er starb. -", "und er starb."),
        ("auf ewig. * * *", "auf ewig."),
        ("- keine Hand - denn", "keine Hand - denn"),
        ("(*)", ""),
        ("  Amen.   Ja ", "Amen. Ja"),
        ("(ist sie nicht klein?) damit", "(ist sie nicht klein?) damit"),
    ],
)
def test_verses_are_stripped_of_what_is_no_text(text, clean):
    assert clean_verse(text) == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("(3:1) Psaume de David. (3:2) O Éternel", "O Éternel"),
        ("(Ein Psalm von David.) Jehova! wie viele", "Jehova! wie viele"),
        ("Blessed is the man", "Blessed is the man"),
        ("(1:1) Heureux l'homme", "Heureux l'homme"),
    ],
)
def test_headings_of_psalms_go(text, clean):
    assert clean_verse(text, opens_psalm=True) == clean


def test_same_text_to_a_reader_has_the_same_key():
    assert source_key("The  LORD said, (Go!)") == source_key("the Lord said: go")
    assert source_key("go on") != source_key("goon")


def test_sides_are_disjoint_and_every_verse_is_counted():
    sides = {side: select(side, dev_pairs=7, test_pairs=5)[0] for side in ("train", "dev", "test")}
    keys = {side: {source_key(verse.source) for verse in sides[side]} for side in sides}
    assert len(sides["dev"]) == len(keys["dev"]) == 7
    assert len(sides["test"]) == len(keys["test"]) == 5
    assert not keys["train"] & (keys["dev"] | keys["test"])
    assert not keys["dev"] & keys["test"]


def test_repeated_source_is_held_out_once_and_never_trained_on():
    sizes = {"dev_pairs": 30, "test_pairs": 30}  # all 61 texts but one are held out
    kept = [verse for side in ("train", "dev", "test") for verse in select(side, **sizes)[0]]
    same = [verse for verse in kept if verse.source == "The same words."]
    _, dropped = select("dev", **sizes)
    assert (len(same), dropped.get("repeats a held-out source", 0)) in [(1, 4), (5, 0)]
    assert len({verse.source for verse in kept}) == 61


def test_smaller_selections_are_subsets_whatever_the_order():
    shuffled = random.Random(1).sample(VERSES, len(VERSES))
    for side in ("dev", "test"):
        small = select(side, dev_pairs=3, test_pairs=4)[0]
        large = select(side, dev_pairs=9, test_pairs=11)[0]
        assert set(small) < set(large)
    large = {v.source for v in select("dev", dev_pairs=9, test_pairs=11)[0]}
    assert {v.source for v in select("dev", shuffled, dev_pairs=9, test_pairs=11)[0]} == large


def test_train_pairs_are_exact_and_nested():
    few, dropped = select("train", dev_pairs=2, test_pairs=2, train_pairs=10)
    more, _ = select("train", dev_pairs=2, test_pairs=2, train_pairs=20)
    assert (len(few), len(more)) == (10, 20)
    assert set(few) < set(more)
    everything, _ = select("train", dev_pairs=2, test_pairs=2)
    assert dropped["beyond train_pairs"] == len(everything) - 10
    assert few == [verse for verse in VERSES if verse in few]  # in the order of the book


def test_max_words_drops_before_the_split():
    verses = [*VERSES, Verse("one two three four", "eins")]
    kept, dropped = select("train", verses, max_words=3, dev_pairs=2, test_pairs=2)
    assert dropped["longer than max_words"] == 1
    assert all(len(verse.source.split()) <= 3 for verse in kept)


def test_selection_that_leaves_nothing_is_one_clear_line():
    with pytest.raises(UserError, match="--select: 40 test and 30 dev pairs leave nothing"):
        select("train", dev_pairs=30, test_pairs=40)


def database(folder, rows):
    path = folder / "with blank & ü.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE bible(bbName, bNumber, cNumber, vNumber, vText)")
        connection.executemany("INSERT INTO bible VALUES (?, ?, ?, ?, ?)", rows)
    return path


def test_editions_are_joined_by_book_chapter_and_verse(tmp_path):
    rows = [
        ("e", 1, 1, 1, "Eins"),
        ("e", 1, 1, 2, "(*)"),
        ("e", 19, 3, 1, "(Ein Psalm.) Drei"),
        ("k", 19, 3, 1, "Three"),
        ("k", 1, 1, 1, "One"),
        ("k", 1, 1, 2, "Two"),
        ("k", 1, 1, 3, "Only here"),
    ]
    counts = Counts()
    verses = list(read_verses(database(tmp_path, rows), content(), counts))
    assert verses == [("One", "Eins"), ("Three", "Drei")]
    assert counts.read == 4
    assert counts.dropped == {"empty side": 1, "no such verse in the target edition": 1}


def test_missing_edition_is_named(tmp_path):
    path = database(tmp_path, [("e", 1, 1, 1, "Eins")])
    with pytest.raises(UserError, match="no edition 'k'"):
        list(read_verses(path, content(), Counts()))
