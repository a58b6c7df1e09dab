"""Moses tokenization by sacremoses, mended where the Perl tools do better.

What a round trip (:meth:`MosesTokenizer.tokenize`, then ``detokenize``) does not give back:

* what ``normalize-punctuation.perl`` changes: typographic quotes, dashes, ellipses and spaces
  become ASCII ones;
* which side of a blank a straight quote or apostrophe stood on, where Moses guesses: ``8' x 10'``
  becomes ``8 'x 10'``, and German ``geht's`` becomes ``geht 's``;
* missing blanks around ``|``, ``<``, ``>``, ``&``, ``@``, ``/`` and the like: ``a|b`` becomes
  ``a | b``, ``AT&T`` becomes ``AT & T``, a literal ``&apos;`` becomes ``& apos;``, a literal
  ``@@`` becomes ``@ @``.

Therefore references are always scored raw. Moses's escapes (``&apos;``, ``&#124;`` ...) serve its
own decoder alone; they are neither written nor undone here, so none can be left in a translation.
"""

import re
from functools import lru_cache

import sacremoses

from aiayn.text.characters import clean_characters

_APART = "\ue000"
"""A private-use character: ``clean_characters`` keeps it out of all tokenized text."""


class _Pattern:
    """A compiled pattern that is not even tried on text without what it must find.

    Moses's rules are some sixty patterns, of which few find anything in a line.
    """

    def __init__(self, needed: str, pattern: re.Pattern[str]) -> None:
        self._needed, self._pattern = needed, pattern

    def sub(self, replacement: str, text: str) -> str:
        return self._pattern.sub(replacement, text) if self._needed in text else text


class _Blanks:
    """``\\s+``, where what begins or ends a text does not count."""

    def sub(self, blank: str, text: str) -> str:
        return blank.join(text.split())


_Rule = tuple[_Pattern, str]


def _with(needed: str, *rules: tuple[re.Pattern[str], str]) -> list[_Rule]:
    return [(_Pattern(needed, pattern), replacement) for pattern, replacement in rules]


def _normalization(lang: str) -> list[_Rule]:
    """The rules of normalize-punctuation.perl, as sacremoses ports it."""
    rules = sacremoses.MosesPunctNormalizer(lang).substitutions
    return [(_Pattern(_literal(rule), re.compile(rule)), text) for rule, text in rules]


def _literal(rule: str) -> str:
    """Text without which a rule of normalization changes nothing."""
    if rule == " +":  # becomes a single blank
        return "  "
    if rule == r"\r":
        return "\r"
    around_groups = re.split(r"(?<!\\)\(.*?(?<!\\)\)", rule)
    return re.sub(r"\\(.)", r"\1", max(around_groups, key=len))


class _Tokenizer(sacremoses.MosesTokenizer):  # type: ignore[misc]
    """tokenizer.perl, as sacremoses ports it."""

    _LOWER = frozenset(sacremoses.MosesTokenizer.IsLower)
    _ALPHA = frozenset(sacremoses.MosesTokenizer.IsAlpha)

    DEDUPLICATE_SPACE = _Blanks(), " "
    (AGGRESSIVE_HYPHEN_SPLIT,) = _with("-", sacremoses.MosesTokenizer.AGGRESSIVE_HYPHEN_SPLIT)
    COMMA_SEPARATE_1, COMMA_SEPARATE_2, COMMA_SEPARATE_3 = _with(
        ",",
        sacremoses.MosesTokenizer.COMMA_SEPARATE_1,
        sacremoses.MosesTokenizer.COMMA_SEPARATE_2,
        sacremoses.MosesTokenizer.COMMA_SEPARATE_3,
    )
    ENGLISH_SPECIFIC_APOSTROPHE = _with("'", *sacremoses.MosesTokenizer.ENGLISH_SPECIFIC_APOSTROPHE)
    FR_IT_SPECIFIC_APOSTROPHE = _with("'", *sacremoses.MosesTokenizer.FR_IT_SPECIFIC_APOSTROPHE)

    def __init__(self, lang: str) -> None:
        super().__init__(lang)
        # Looked up for each word that ends in a period.
        self.NONBREAKING_PREFIXES: frozenset[str] = frozenset(self.NONBREAKING_PREFIXES)

    def islower(self, text: str) -> bool:
        # The original builds a set of all lower-case characters at each call.
        return self._LOWER.issuperset(text)

    def isanyalpha(self, text: str) -> bool:
        return not self._ALPHA.isdisjoint(text)

    def handles_nonbreaking_prefixes(self, text: str) -> str:
        """Split the period off a line's last word, as tokenizer.perl always does.

        sacremoses treats the last word as any other and keeps ``S. 33.`` or ``www.gov.pl.``
        """
        words = text.split()
        # The original searches every word; few lines have a period in their midst.
        if any(word.endswith(".") for word in words[:-1]):
            words = super().handles_nonbreaking_prefixes(text).split()
        if words and words[-1].endswith(".") and words[-1] != ".":
            words[-1] = f"{words[-1][:-1]} ."
        return " ".join(words)


class _Detokenizer(sacremoses.MosesDetokenizer):  # type: ignore[misc]
    """detokenizer.perl, as sacremoses ports it, with a closing quote that it does not know."""

    IS_PUNCT = re.compile(r"^[\,\.\?\!\:\;\\\%\}\]\)”]+$")


class MosesTokenizer:
    """Raw text to tokens and back, for one language.

    Args:
        lang: ISO 639-1 code; it decides on apostrophes, abbreviations and quotes.
        aggressive_hyphens: Split hyphens between letters as ``@-@`` (``tokenizer.perl -a``).
    """

    def __init__(self, lang: str, *, aggressive_hyphens: bool = False) -> None:
        self.lang, self.aggressive_hyphens = lang, aggressive_hyphens
        self._normalization = _normalization(lang)
        self._tokenizer = _Tokenizer(lang)
        self._detokenizer = _Detokenizer(lang)

    def tokenize(self, raw: str) -> str:
        """Clean, normalize and tokenize a line; tokens are joined by single blanks."""
        text = clean_characters(raw)
        for pattern, replacement in self._normalization:
            text = pattern.sub(replacement, text)
        tokens = self._tokenizer.tokenize(
            text, aggressive_dash_splits=self.aggressive_hyphens, escape=False
        )
        return " ".join(tokens)

    def detokenize(self, tokenized: str) -> str:
        """Join tokens to text as people write it."""
        tokens = tokenized.split()
        # Moses glues every currency symbol to what follows: right for "$ 5", wrong for "3 € et".
        for position in range(1, len(tokens)):
            if tokens[position - 1][-1].isdecimal() and _is_currency(tokens[position]):
                tokens[position] += _APART
        text = self._detokenizer.detokenize(tokens, unescape=False)
        return text.replace(_APART, "")


def _is_currency(token: str) -> bool:
    return len(token) == 1 and token in sacremoses.MosesDetokenizer.IsSc


@lru_cache(maxsize=8)
def _for_bleu(lang: str) -> tuple[sacremoses.MosesPunctNormalizer, _Tokenizer]:
    return sacremoses.MosesPunctNormalizer(lang), _Tokenizer(lang)


def tokenize_for_bleu(line: str, lang: str) -> str:
    """Tokens of a detokenized line as BLEU on tokenized text counts them.

    The chain of the paper's time (Section 6.1): ``replace-unicode-punctuation.perl``, then
    ``tokenizer.perl`` without ``-a`` and with its escapes.
    """
    normalizer, tokenizer = _for_bleu(lang)
    return " ".join(tokenizer.tokenize(normalizer.replace_unicode_punct(line)))
