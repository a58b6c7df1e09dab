"""Verse-aligned Bible: clean verses, and a split that no source text crosses."""

import hashlib
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from aiayn.common.errors import UserError
from aiayn.config.catalogue import Verses
from aiayn.config.scales import SelectionConfig
from aiayn.corpus.pairs import Counts, longer_than

DEFAULT_HELD_OUT = 1_000
"""Verses of dev and of test when the selection does not say."""

_PSALMS = 19
_VERSE_NUMBER = re.compile(r"\(\d+:\d+[ab]?\)?")
_HEADING = re.compile(r"^\([^()]*\)\s*(?=\S)")


class Verse(NamedTuple):
    """One verse in two editions."""

    source: str
    target: str


def clean_verse(text: str, *, opens_psalm: bool = False) -> str:
    """Strip what an edition prints around its text.

    * Verse numbers of the edition's own counting, such as ``(7:26)``.
    * Headings of psalms, which the King James text leaves out: in brackets in the Elberfelder,
      before the second verse number in the Louis Segond.
    * Square brackets, but not the words in them: they mark readings that some manuscripts lack,
      and the King James, which follows the others, has nearly all of them.
    * Dashes and asterisks at either end, which mark paragraphs.
    """
    if opens_psalm:
        text = _HEADING.sub("", _VERSE_NUMBER.split(text)[-1].strip())
    text = re.sub(r"[\[\]*]", "", _VERSE_NUMBER.sub(" ", text)).replace("()", "")
    return " ".join(text.split()).strip("- ")


def source_key(text: str) -> str:
    """What two verses share when their source texts are the same to a reader."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def read_verses(database: Path, content: Verses, counts: Counts) -> Iterator[Verse]:
    """Pairs of verses in the order of the source edition.

    Raises:
        UserError: the database cannot be read, or has no such edition.
    """
    # Opened by its path alone, the file would be made when absent.
    connection = sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    query = """
        SELECT s.bNumber, s.vNumber, s.vText, t.vText FROM bible AS s
        LEFT JOIN bible AS t ON t.bbName = ? AND t.bNumber = s.bNumber
            AND t.cNumber = s.cNumber AND t.vNumber = s.vNumber
        WHERE s.bbName = ? ORDER BY s.bNumber, s.cNumber, s.vNumber
    """
    try:
        for book, verse, source, target in connection.execute(
            query, (content.target, content.source)
        ):
            counts.read += 1
            opens_psalm = book == _PSALMS and verse == 1
            pair = Verse(
                clean_verse(source, opens_psalm=opens_psalm),
                clean_verse(target or "", opens_psalm=opens_psalm),
            )
            if target is None:
                counts.drop("no such verse in the target edition")
            elif not all(pair):
                counts.drop("empty side")
            else:
                yield pair
    except sqlite3.Error as error:
        raise UserError(f"{content.archive}: {content.member}: {error}") from None
    finally:
        connection.close()
    if not counts.read:
        raise UserError(f"{content.archive}: {content.member}: no edition {content.source!r}")


def select_verses(
    verses: list[Verse], content: Verses, select: SelectionConfig, counts: Counts
) -> Iterator[Verse]:
    """The verses of one side of the split, in their order.

    Source texts are ranked by a hash of themselves. Test takes the lowest ranks, dev the highest,
    train those between; with ``train_pairs``, the lowest of them, a sample of every book. So a
    smaller selection takes a subset of a larger one's held-out verses, in whatever order the
    verses come, and equal texts never fall on two sides.

    Raises:
        UserError: the selection leaves nothing to train on.
    """
    short = []
    for verse in verses:
        if longer_than(select.max_words, verse.source, verse.target):
            counts.drop("longer than max_words")
        else:
            short.append(verse)
    sides = _assign_sides([_rank(verse.source) for verse in short], select)
    for verse, side in zip(short, sides, strict=True):
        if side == content.split:
            yield verse
        else:
            counts.drop(side if side not in ("train", "dev", "test") else f"belongs to {side}")


def _rank(source: str) -> bytes:
    return hashlib.sha256(source_key(source).encode("utf-8")).digest()


def _assign_sides(ranks: list[bytes], select: SelectionConfig) -> list[str]:
    """For each rank its side, or the reason why it is on none."""
    distinct = sorted(set(ranks))
    test = select.test_pairs or DEFAULT_HELD_OUT
    dev = select.dev_pairs or DEFAULT_HELD_OUT
    if len(distinct) <= test + dev:
        raise UserError(
            f"--select: {test} test and {dev} dev pairs leave nothing to train on; "
            f"there are {len(distinct)} verses with different sources"
        )
    highest_test, lowest_dev = distinct[test - 1], distinct[-dev]
    trained = 0
    seen: set[bytes] = set()
    order = sorted(range(len(ranks)), key=lambda index: (ranks[index], index))
    sides = [""] * len(ranks)
    for index in order:
        rank = ranks[index]
        if highest_test < rank < lowest_dev:
            trained += 1
            beyond = select.train_pairs is not None and trained > select.train_pairs
            sides[index] = "beyond train_pairs" if beyond else "train"
        elif rank in seen:
            sides[index] = "repeats a held-out source"
        else:
            sides[index] = "test" if rank <= highest_test else "dev"
            seen.add(rank)
    return sides
