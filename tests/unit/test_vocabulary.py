"""vocabulary.txt and its ids."""

import pytest

from aiayn.common.errors import UserError
from aiayn.text import BOS, EOS, PAD, UNK, Vocabulary
from aiayn.text.vocabulary import write_vocabulary

HEAD = "<pad>\t0\n<s>\t0\n</s>\t0\n<unk>\t0\n"


def test_written_by_falling_count_then_code_point(tmp_path):
    path = tmp_path / "vocabulary.txt"
    size = write_vocabulary(path, {"b": 2, "ä": 2, "a@@": 2, "the": 9})
    assert path.read_text(encoding="utf-8") == f"{HEAD}the\t9\na@@\t2\nb\t2\nä\t2\n"
    assert size == len(Vocabulary.load(path)) == 8


def test_ids_are_line_numbers_and_specials_are_left_out(tmp_path):
    vocabulary = Vocabulary(["the", "a@@"])
    assert (PAD, BOS, EOS, UNK) == (0, 1, 2, 3)
    assert vocabulary.encode(["a@@", "the", "new"]) == [5, 4, UNK]
    assert vocabulary.decode([BOS, 5, 4, UNK, EOS, PAD]) == ["a@@", "the"]


def test_text_that_reads_like_a_special_is_unknown():
    assert Vocabulary(["a"]).encode(["<pad>", "</s>", "<unk>"]) == [UNK, UNK, UNK]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{HEAD}the 9\n", "line 5: expected subword<TAB>count"),
        (f"{HEAD}the\tx\n", "line 5"),
        ("the\t9\n", "the first lines must be <pad>"),
        (f"{HEAD}a\t2\na\t1\n", "occurs twice"),
        ("", "the first lines"),
    ],
)
def test_broken_file_is_named(tmp_path, text, says):
    path = tmp_path / "vocabulary.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=says) as error:
        Vocabulary.load(path)
    assert str(path) in str(error.value)
