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


class _Tokenizer(sacremoses.MosesTokenizer):  # type: ignore[misc]
    """tokenizer.perl, as sacremoses ports it."""

    _LOWER = frozenset(sacremoses.MosesTokenizer.IsLower)
    _ALPHA = frozenset(sacremoses.MosesTokenizer.IsAlpha)

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
        rules = sacremoses.MosesPunctNormalizer(lang).substitutions
        # Compiled once: half of all time went into re's look-up of 47 patterns a line.
        self._normalization = [(re.compile(pattern), text) for pattern, text in rules]
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

    The chain of the paper's time: ``replace-unicode-punctuation.perl``, then ``tokenizer.perl``
    without ``-a`` and with its escapes.
    """
    normalizer, tokenizer = _for_bleu(lang)
    return " ".join(tokenizer.tokenize(normalizer.replace_unicode_punct(line)))
