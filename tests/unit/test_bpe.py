"""BPE: the same merges as subword-nmt's, deterministic, exactly undone."""

import io
import os
import re
import subprocess
import sys

import pytest
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe as reference_learn

from aiayn.common.errors import UserError
from aiayn.text import (
    BytePairEncoder,
    Vocabulary,
    apply_bpe_file,
    join_subwords,
    learn,
    learn_bpe,
    streams,
)

TEXT = "low lower newest widest\nlow low lowest\nnewest newest wider new\n" * 3


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks, so that every worker has some."""
    monkeypatch.setattr(streams, "BPE_BLOCK_BYTES", 30)
    monkeypatch.setattr(learn, "BLOCK_BYTES", 30)


@pytest.fixture
def codes(corpus):
    learn_from(corpus)
    return corpus.with_name("codes")


def learn_from(*sources, merges=10, workers=1):
    folder = sources[0].parent
    learn_bpe(sources, folder / "codes", folder / "vocabulary.txt", merges=merges, workers=workers)
    return (folder / "codes").read_bytes(), (folder / "vocabulary.txt").read_bytes()


def test_merges_are_those_of_subword_nmt(corpus):
    expected = io.StringIO()
    reference_learn(io.StringIO(TEXT), expected, 10)
    assert learn_from(corpus)[0].decode("utf-8") == expected.getvalue()


def test_two_files_are_learned_jointly(tmp_path, corpus):
    both = learn_from(corpus)
    (tmp_path / "a").write_text(TEXT[: len(TEXT) // 2], encoding="utf-8")
    (tmp_path / "b").write_text(TEXT[len(TEXT) // 2 :], encoding="utf-8")
    assert learn_from(tmp_path / "a", tmp_path / "b") == both


def test_vocabulary_counts_the_segmented_corpus(corpus, codes):
    output = corpus.with_name("subwords")
    apply_bpe_file(corpus, output, codes, workers=1)
    subwords = output.read_text(encoding="utf-8").split()
    vocabulary = Vocabulary.load(corpus.with_name("vocabulary.txt"))
    assert sorted(vocabulary.subwords[4:]) == sorted(set(subwords))
    assert 3 not in vocabulary.encode(subwords)
    counts = [subwords.count(subword) for subword in vocabulary.subwords[4:]]
    assert counts == sorted(counts, reverse=True)


def test_output_depends_on_neither_workers_nor_hash_seed(corpus, small_blocks):
    """faults A5: 1 and 4 workers, PYTHONHASHSEED 0 and 1."""
    alone = learn_from(corpus)
    assert learn_from(corpus, workers=4) == alone
    for seed in ("0", "1"):
        command = [sys.executable, "-m", "aiayn", "learn-bpe", "--input", str(corpus)]
        command += ["--merges", "10", "--codes", "c", "--vocabulary", "v"]
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run(command, cwd=corpus.parent, env=environment, check=True)
        made = [(corpus.parent / name).read_bytes() for name in ("c", "v")]
        assert tuple(made) == alone


def test_lines_are_kept_whatever_the_workers(corpus, codes, small_blocks):
    """faults A1: U+2028 and U+0085 separate words, not lines."""
    corpus.write_text("low \u2028 new\n\n  widest   low\x85er\n" * 20 + "end", encoding="utf-8")
    outputs = []
    for workers in (1, 3):
        apply_bpe_file(corpus, corpus.with_name("out"), codes, workers=workers)
        outputs.append(corpus.with_name("out").read_text(encoding="utf-8"))
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") == 61
    assert [join_subwords(line.split()) for line in outputs[0].split("\n")[:3]] == [
        "low new",
        "",
        "widest low er",
    ]


def test_lost_header_is_rejected(codes):
    """faults A5: subword-nmt reads such a file as version 0.1 and segments differently."""
    lines = codes.read_text(encoding="utf-8").split("\n")
    assert lines[0] == "#version: 0.2"
    codes.write_text("\n".join(lines[1:]), encoding="utf-8")
    with pytest.raises(UserError, match=r"codes, line 1: expected '#version: 0.2'"):
        BytePairEncoder(codes)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1"),
        ("#version: 0.2\n", "no merges"),
        ("#version: 0.2\na b\nabc\n", "line 3: expected two symbols, got 'abc'"),
        ("#version: 0.2\na b\n\n", "line 3"),
    ],
)
def test_broken_codes_are_named(tmp_path, text, says):
    (tmp_path / "codes").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=says):
        BytePairEncoder(tmp_path / "codes")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no words at all"),
        ("\n  \n\u2028\n", "no words at all"),
        ("a b c\na b\n", "every word is a single character"),
        ("ab cd\n", "no two characters occur together twice"),
    ],
)
def test_nothing_to_learn_is_one_clear_line(tmp_path, text, says):
    """faults A5: subword-nmt ends with a bare max() of nothing."""
    (tmp_path / "corpus").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=says) as error:
        learn_from(tmp_path / "corpus")
    assert "corpus" in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_blank_lines_and_double_spaces_are_fine(corpus):
    """faults A5."""
    plain = learn_from(corpus)
    corpus.write_text("\n\n" + TEXT.replace(" ", "  ") + "\n \n", encoding="utf-8")
    assert learn_from(corpus) == plain


def test_fewer_merges_than_asked_is_said(corpus, capsys):
    learn_from(corpus, merges=500)
    assert "of 500 merges; no other pair occurs twice" in capsys.readouterr().err


def test_bad_utf8_names_file_and_line(corpus, codes, small_blocks):
    """faults A2: also when another process meets it."""
    corpus.write_bytes(TEXT.encode() + b"\xc3\n")
    for workers in (1, 2):
        with pytest.raises(UserError, match=r"corpus, line 10: not UTF-8"):
            learn_from(corpus, workers=workers)


@pytest.mark.parametrize(
    "text",
    ["foo @@ bar", "x@@ y", "a@@b @@@ @@@@", "low@@ @@low @", "the @-@ @@-@@", "lowest newest"],
)
def test_literal_markers_come_back(codes, text):
    """faults A6: subword-nmt turns ``foo @@ bar`` into ``foo bar``."""
    subwords = BytePairEncoder(codes).segment(text)
    assert join_subwords(subwords) == text
    assert "@@" not in subwords


def test_word_with_literal_marker_50_times_is_learned_and_restored(tmp_path):
    """faults A6."""
    (tmp_path / "corpus").write_text("x@@ y @@ low lower\n" * 50, encoding="utf-8")
    learn_from(tmp_path / "corpus", merges=30)
    encoder = BytePairEncoder(tmp_path / "codes")
    vocabulary = Vocabulary.load(tmp_path / "vocabulary.txt")
    ids = vocabulary.encode(encoder.segment("x@@ y @@ low"))
    assert join_subwords(vocabulary.decode(ids)) == "x@@ y @@ low"


def test_frequent_words_are_written_as_the_encoder_segments_them(tmp_path, monkeypatch):
    monkeypatch.setattr(learn, "MAX_CACHED_WORDS", 6)
    (tmp_path / "corpus").write_text(
        "low low low lower lower x@@ x@@ a</w> a</w> y y z\n" * 9, encoding="utf-8"
    )
    words = tmp_path / "words.txt"
    codes, vocabulary = tmp_path / "codes", tmp_path / "vocabulary.txt"
    learn_bpe([tmp_path / "corpus"], codes, vocabulary, words, merges=30, workers=1)
    lines = [line.split("\t") for line in words.read_text(encoding="utf-8").split("\n")[1:-1]]
    assert [word for word, _ in lines] == ["low", "a</w>", "lower", "x@@", "y", "z"]
    encoder = BytePairEncoder(codes)
    assert [subwords for _, subwords in lines] == [encoder.segment_line(word) for word, _ in lines]


def test_frequent_words_are_taken_from_their_file(corpus, codes):
    known = corpus.with_name("words.txt")
    learn_bpe([corpus], codes, corpus.with_name("v"), known, merges=10, workers=1)
    text = known.read_text(encoding="utf-8")
    assert "\nwider\t" in text
    known.write_text(re.sub("\nwider\t.*", "\nwider\tfrom@@ file", text), encoding="utf-8")
    corpus.write_text("new wider slow\n", encoding="utf-8")
    apply_bpe_file(corpus, corpus.with_name("out"), codes, known, workers=1)
    new, slow = map(BytePairEncoder(codes).segment_line, ("new", "slow"))
    assert corpus.with_name("out").read_text(encoding="utf-8") == f"{new} from@@ file {slow}\n"


def test_words_of_other_codes_are_refused(corpus, codes):
    known = corpus.with_name("words.txt")
    learn_bpe([corpus], codes, corpus.with_name("v"), known, merges=10, workers=1)
    learn_from(corpus, merges=5)
    with pytest.raises(
        UserError, match=r"words.txt, line 1: .* not words in the subwords of .*codes"
    ):
        BytePairEncoder(codes, known)


def test_an_empty_or_missing_file_of_words_is_named(corpus, codes):
    known = corpus.with_name("words.txt")
    with pytest.raises(UserError, match=r"words.txt: no such file"):
        BytePairEncoder(codes, known)
    known.touch()
    with pytest.raises(UserError, match=r"words.txt, line 1"):
        BytePairEncoder(codes, known)


def test_a_broken_line_of_the_words_is_named(corpus, codes):
    known = corpus.with_name("words.txt")
    learn_bpe([corpus], codes, corpus.with_name("v"), known, merges=10, workers=1)
    with known.open("a", encoding="utf-8") as stream:
        stream.write("cut\n")
    with pytest.raises(UserError, match=r"words.txt, line \d+: expected word<TAB>subwords"):
        BytePairEncoder(codes, known)


def test_output_cut_at_a_length_limit_has_no_marker():
    """faults A6."""
    assert join_subwords(["new@@", "est", "wid@@"]) == "newest wid"
    assert join_subwords(["wid@@"]) == "wid"
    assert join_subwords([]) == ""


def test_ordinary_words_are_segmented_as_by_subword_nmt(codes):
    with codes.open(encoding="utf-8") as stream:
        reference = BPE(stream)
    encoder = BytePairEncoder(codes)
    for line in TEXT.split("\n"):
        assert encoder.segment(line) == reference.segment(line).split()
    assert encoder.segment("slow @ a@b") == reference.segment("slow @ a@b").split()
