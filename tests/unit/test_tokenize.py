"""From bytes to tokens and back: hostile characters, line ends, what Moses loses."""

import random

import pytest
import sacremoses

from aiayn.common.errors import UserError
from aiayn.text import parallel, tokenize_file
from aiayn.text.characters import clean_characters
from aiayn.text.moses import MosesTokenizer


def tokenize(folder, raw: bytes, lang: str = "en", workers: int = 1) -> list[str]:
    (folder / "raw").write_bytes(raw)
    output = folder / "tokenized"
    tokenize_file(folder / "raw", output, lang, aggressive_hyphens=False, workers=workers)
    text = output.read_bytes().decode("utf-8")
    assert text.endswith("\n")
    return text.removesuffix("\n").split("\n")


def test_unicode_line_breaks_do_not_shift_pairs(tmp_path):
    """faults A1: U+2028, U+0085, VT, FS and a lone CR inside line 2 of 3."""
    raw = b"one\nb\xe2\x80\xa8c\xc2\x85d\x0be\x1cf\rg\nthree\n"
    assert tokenize(tmp_path, raw) == ["one", "b c d e f g", "three"]


def test_hostile_bytes_reach_no_token(tmp_path):
    """faults A2: byte order mark, CRLF, NUL, zero-width space, soft hyphen, a lone C3."""
    raw = b"\xef\xbb\xbfThe\r\nh\x00ouse\r\n\xe2\x80\x8bis co\xc2\xadld\r\nbad \xc3 byte\n\n"
    expected = ["The", "house", "is cold", "bad \ufffd byte", ""]
    assert tokenize(tmp_path, raw) == expected


def test_missing_final_line_feed_is_harmless(tmp_path):
    """faults A3."""
    assert tokenize(tmp_path, b"one\ntwo") == tokenize(tmp_path, b"one\ntwo\n")


def test_characters_that_are_text_stay():
    assert clean_characters("ein\u00a0Wort 😀 ñ") == "ein\u00a0Wort 😀 ñ"
    assert clean_characters("\ue000\u200ea\tb\u2029") == "a b"


@pytest.mark.parametrize("lang", ["en", "de", "fr"])
def test_shortcuts_change_nothing(lang):
    """Rules are skipped on text without what they need; sacremoses itself tries them all."""
    chance = random.Random(5)
    pieces = [*"aB5é３日 \xa0.,;:!?()%'\"`´‘’‚„“”«»–—…-@&<", "  ", "..", ",,", "''", " .", "z.B."]
    pieces += ["S. 33.", "Mr.", "nº\xa0", "\xa0ºC", "\xa0cm", "d'", "it's", " %", "DOTMULTI"]
    normalizer, reference = sacremoses.MosesPunctNormalizer(lang), sacremoses.MosesTokenizer(lang)
    for aggressive in (False, True):
        tokenizer = MosesTokenizer(lang, aggressive_hyphens=aggressive)
        for _ in range(1_500):
            raw = "".join(chance.choices(pieces, k=chance.randint(1, 12))) + " end"
            expected = reference.tokenize(normalizer.normalize(raw), aggressive, escape=False)
            assert tokenizer.tokenize(raw) == " ".join(expected), raw


@pytest.mark.parametrize(
    ("lang", "raw", "tokenized", "back"),
    [
        ("fr", "Aujourd’hui", "Aujourd' hui", "Aujourd'hui"),
        ("de", "“Nein!”", '" Nein ! "', '"Nein!"'),
        ("fr", "3 € et", "3 € et", "3 € et"),
        ("en", "It costs $5.", "It costs $ 5 .", "It costs $5."),
        ("en", "8' x 10'", "8 ' x 10'", "8 'x 10'"),
        ("en", "a|b [x] <y>", "a | b [ x ] < y >", "a | b [x] < y >"),
        ("en", "AT&T &amp;", "AT & T & amp ;", "AT & T & amp;"),
        ("en", "a &apos; b", "a & apos ; b", "a & apos; b"),
        ("en", "foo @@ x@@", "foo @ @ x @ @", "foo @ @ x @ @"),
    ],
)
def test_round_trip_and_its_losses(lang, raw, tokenized, back):
    """faults A4, A6: no Moses escape is ever written; what is lost is what the docs say."""
    tokenizer = MosesTokenizer(lang)
    assert tokenizer.tokenize(raw) == tokenized
    assert tokenizer.detokenize(tokenized) == back


def test_closing_quote_sticks_to_its_word():
    """faults A4: sacremoses leaves it apart."""
    assert MosesTokenizer("de").detokenize("Nein ! ”") == "Nein!”"


def test_aggressive_hyphens_come_back():
    tokenizer = MosesTokenizer("en", aggressive_hyphens=True)
    assert tokenizer.tokenize("well-known") == "well @-@ known"
    assert tokenizer.detokenize("well @-@ known") == "well-known"
    assert MosesTokenizer("en").tokenize("well-known") == "well-known"


def test_output_does_not_depend_on_workers(tmp_path, monkeypatch):
    """faults A5."""
    monkeypatch.setattr(parallel, "BLOCK_BYTES", 200)
    raw = "".join(f"Line {i}: it's “{i * i}”, z.B. {i}%.\n" for i in range(300)).encode()
    alone = tokenize(tmp_path, raw, workers=1)
    assert len(alone) == 300
    assert alone[7] == 'Line 7 : it \'s " 49 , " z.B. 7 % .'
    assert tokenize(tmp_path, raw, workers=3) == alone


def test_missing_file_is_named_and_nothing_is_left(tmp_path):
    with pytest.raises(UserError, match=r"lost\.en: no such file"):
        tokenize_file(
            tmp_path / "lost.en", tmp_path / "out", "en", aggressive_hyphens=False, workers=1
        )
    assert list(tmp_path.iterdir()) == []
