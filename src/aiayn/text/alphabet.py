"""Symbols of BPE as single characters, so that a word is a ``str`` and a merge ``str.replace``."""

END_OF_WORD = "</w>"


class Alphabet:
    """Gives every symbol, be it a character or many, a character of its own.

    A pair of symbols is a ``str`` of two. All operations on words, finding and replacing pairs,
    are then those of ``str``, which are fast and compact.
    """

    def __init__(self) -> None:
        self.symbols: list[str] = []
        self._numbers: dict[str, int] = {}

    def character(self, symbol: str) -> str:
        """The character of a symbol, which need not be new."""
        number = self._numbers.setdefault(symbol, len(self.symbols))
        if number == len(self.symbols):
            self.symbols.append(symbol)
        return chr(number)

    def spell(self, word: str) -> str:
        """A word before any merge; its last symbol holds the end of the word."""
        return "".join(map(self.character, [*word[:-1], word[-1] + END_OF_WORD]))

    def symbol(self, character: str) -> str:
        """The symbol that a character stands for."""
        return self.symbols[ord(character)]
