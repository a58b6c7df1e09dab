"""Against the Perl tools of mosesdecoder: what they made of 1,250 lines of real text."""

from pathlib import Path

import pytest
import sacremoses

from aiayn.text.moses import MosesTokenizer, tokenize_for_bleu

GOLDEN = Path(__file__).parents[2].parent / "shared" / "data" / "moses-golden"

pytestmark = pytest.mark.skipif(
    not GOLDEN.exists(), reason="needs ../shared/data/moses-golden, the Perl tools' outputs"
)

KNOWN_DIFFERENCES: dict[str, int] = {"en": 0, "de": 0, "fr": 0}
"""Lines that differ from the Perl tools', blanks at their ends aside.

None are left: the three lines in which sacremoses 0.2.0 differs have a period after their last
word that could be an abbreviation or an address (``S. 33-51.``, ``www.sejm.gov.pl.``); like
tokenizer.perl, our tokenizer always splits it off.
"""


def read(name: str) -> list[str]:
    text = (GOLDEN / name).read_bytes().decode("utf-8")
    return [line.strip(" ") for line in text.removesuffix("\n").split("\n")]


def escaped(tokenized: str) -> str:
    """As the Perl tools write it; our own files hold no escapes."""
    return sacremoses.MosesTokenizer().escape_xml(tokenized)


def differing(got: list[str], expected: list[str]) -> list[tuple[str, str]]:
    assert len(got) == len(expected) >= 250
    return [pair for pair in zip(got, expected, strict=True) if pair[0] != pair[1]]


@pytest.mark.parametrize("lang", ["en", "de", "fr"])
@pytest.mark.parametrize("stage", ["raw", "normalized"])
def test_tokens_are_those_of_perl(lang, stage):
    tokenizer = MosesTokenizer(lang, aggressive_hyphens=True)
    got = [escaped(tokenizer.tokenize(line)) for line in read(f"{stage}.{lang}")]
    assert len(differing(got, read(f"tokenized.{lang}"))) == KNOWN_DIFFERENCES[lang]


@pytest.mark.parametrize("lang", ["en", "de", "fr"])
def test_detokenized_text_is_that_of_perl(lang):
    tokenizer = MosesTokenizer(lang, aggressive_hyphens=True)
    unescape = sacremoses.MosesDetokenizer().unescape_xml
    got = [tokenizer.detokenize(unescape(line)) for line in read(f"tokenized.{lang}")]
    assert differing(got, read(f"detokenized.{lang}")) == []


@pytest.mark.parametrize("side", ["hyp", "ref"])
def test_tokens_for_bleu_are_those_of_perl(side):
    got = [tokenize_for_bleu(line, "de") for line in read(f"bleu.{side}.detok.de")]
    assert differing(got, read(f"bleu.{side}.tok.de")) == []


def test_the_final_period_is_where_sacremoses_differs():
    """The one kind of difference that the wrapper mends."""
    sentence = "im vorliegenden Heft, S. 33."
    assert sacremoses.MosesTokenizer("de").tokenize(sentence)[-1] == "33."
    assert MosesTokenizer("de").tokenize(sentence).split()[-2:] == ["33", "."]
