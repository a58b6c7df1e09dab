"""BPE merges of real text, English and German, against subword-nmt."""

import gzip
import io
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe as reference_learn

from aiayn.text.merges import Words, learn_merges

MULTI30K = Path(__file__).parents[2].parent / "shared" / "data" / "multi30k"
LINES, MERGES = 8_000, 1_500

pytestmark = pytest.mark.skipif(
    not MULTI30K.exists(), reason="needs ../shared/data/multi30k, captions in two languages"
)


def test_merges_and_words_of_real_text_are_those_of_subword_nmt():
    counts: Counter[str] = Counter()
    for lang in ("en", "de"):
        with gzip.open(MULTI30K / f"train.{lang}.gz", "rt", encoding="utf-8") as stream:
            counts.update(word for line in islice(stream, LINES) for word in line.split())
    expected = io.StringIO()
    lines = (f"{word} {count}\n" for word, count in counts.items())
    reference_learn(lines, expected, MERGES, is_dict=True)
    words = Words(counts)
    got = [f"{first} {second}" for first, second in learn_merges(words, MERGES)]
    assert len(got) == MERGES
    assert got == expected.getvalue().split("\n")[1:-1]
    bpe = BPE(io.StringIO(expected.getvalue()))
    assert list(words.in_subwords("@@")) == [" ".join(bpe.segment_tokens([w])) for w in counts]
