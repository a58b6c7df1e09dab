"""Characters that must not reach a tokenizer: they hide line breaks or are no text at all."""

import unicodedata

_NO_TEXT = {"Cc", "Cf", "Cn", "Co"}
"""Unicode categories: controls, invisible format characters, unassigned, private use."""


def decode_line(line: bytes) -> str:
    """Decode a line; bytes that are not UTF-8 become U+FFFD."""
    return line.decode("utf-8", errors="replace")


def clean_characters(text: str) -> str:
    """Replace or remove characters that are no text.

    * Tabs, CR, VT, FF, FS to US, U+0085, U+2028 and U+2029, which other programs take for line
      ends, become blanks.
    * Other control characters (NUL among them), byte order marks, zero-width and directional
      marks, soft hyphens, private-use and unassigned characters vanish.
    * No-break and other wide or narrow spaces stay: normalization of punctuation knows them.

    What is lost: joiners between the parts of an emoji, and the two zero-width joiners that some
    scripts (Persian, Devanagari) spell with.
    """
    if text.isprintable():
        return text
    return "".join(map(_clean_character, text)).strip(" ")


def _clean_character(character: str) -> str:
    if character.isspace():
        return character if unicodedata.category(character) == "Zs" else " "
    return "" if unicodedata.category(character) in _NO_TEXT else character
