"""BPE merges (Sennrich et al., 2016): the very ones of subword-nmt, sooner and in less memory.

subword-nmt looks at all pairs for the most frequent one, so it sets rare pairs apart, under a
threshold, until they are needed. Counts of pairs only fall, so that this changes nothing, but for
one case: a word that itself holds ``</w>``. Then two merges can make the same symbol, counts grow
again, and those set apart get lost. We keep its books to the letter, so that the output is the
same in that case as well, and are faster where that does not show:

* a heap holds the pairs at or over the threshold, the only ones that are ever chosen; an entry
  whose count has fallen is put right when it comes up;
* the occurrences of a pair are an array of word numbers, which is read once, when it is merged.
"""

import heapq
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from aiayn.text.alphabet import END_OF_WORD, Alphabet

_PRUNED_EVERY = 100
"""Merges between two prunings, as in subword-nmt."""

Pair = str
"""Two symbols, as characters of the alphabet."""


class Words:
    """All different words in symbols, and where each pair occurs.

    Args:
        counts: Words with their counts; one at least has two characters.
    """

    def __init__(self, counts: Mapping[str, int]) -> None:
        self.alphabet = Alphabet()
        self.counts = array("q", counts.values())
        self._texts = list(map(self.alphabet.spell, counts))
        # Word numbers, one for each occurrence; ~number takes one back.
        self._occurrences: defaultdict[Pair, array[int]] = defaultdict(lambda: array("i"))

    def in_subwords(self, continues: str) -> Iterator[str]:
        """Each word as the merges so far leave it, its subwords joined by blanks.

        Args:
            continues: Mark at the end of a subword whose word goes on.

        A word that itself holds ``</w>`` or the mark is not told apart from what these stand for.
        """
        subwords = [
            symbol.removesuffix(END_OF_WORD)
            if symbol.endswith(END_OF_WORD)
            else f"{symbol}{continues} "
            for symbol in self.alphabet.symbols
        ]
        return (text.translate(subwords) for text in self._texts)

    def pair_counts(self) -> dict[Pair, int]:
        """Occurrences of all pairs in the text."""
        totals: defaultdict[Pair, int] = defaultdict(int)
        for number, (text, count) in enumerate(zip(self._texts, self.counts, strict=True)):
            for pair in map("".join, pairwise(text)):
                totals[pair] += count
                self._occurrences[pair].append(number)
        return totals

    def merge(self, pair: Pair, merged: str) -> dict[Pair, int]:
        """Replace a pair everywhere by the symbol ``merged``.

        Returns:
            By how much the counts of other pairs change.
        """
        changes: defaultdict[Pair, int] = defaultdict(int)
        occurrences = self._occurrences
        for number in _still_there(occurrences.pop(pair, ())):
            old, count = self._texts[number], self.counts[number]
            new = self._texts[number] = old.replace(pair, merged)
            for lost in _pairs_around(old, pair):
                changes[lost] -= count
                occurrences[lost].append(~number)
            for gained in _pairs_with(new, merged):
                changes[gained] += count
                occurrences[gained].append(number)
        return changes


def _still_there(occurrences: Iterable[int]) -> list[int]:
    """Numbers that were entered more often than taken back."""
    entries: defaultdict[int, int] = defaultdict(int)
    for number in occurrences:
        if number >= 0:
            entries[number] += 1
        else:
            entries[~number] -= 1
    return [number for number, times in entries.items() if times > 0]


def _pairs_around(text: str, pair: Pair) -> Iterator[Pair]:
    """Pairs that share a symbol with an occurrence of ``pair``; they go when it is merged."""
    start = text.find(pair)
    while start >= 0:
        end = start + 2
        if start:
            yield text[start - 1 : start + 1]
        # In A B A B, the B A between is the second A B's to give.
        if end < len(text) and not text.startswith(pair, end):
            yield text[end - 1 : end + 1]
        start = text.find(pair, end)


def _pairs_with(text: str, merged: str) -> Iterator[Pair]:
    """Pairs that hold ``merged``, older ones of the same symbol included."""
    start = text.find(merged)
    while start >= 0:
        end = start + 1
        if start:
            yield text[start - 1 : end]
        if end < len(text) and text[end] != merged:
            yield text[start : end + 1]
        start = text.find(merged, end)


class _FallingOrder:
    """Falling code point order of pairs, by which ``max`` in subword-nmt breaks ties."""

    def __init__(self, alphabet: Alphabet) -> None:
        self._alphabet = alphabet
        self._keys: dict[str, tuple[int, ...]] = {}

    def key(self, pair: Pair) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What to sort a pair by."""
        return self._of_symbol(pair[0]), self._of_symbol(pair[1])

    def _of_symbol(self, character: str) -> tuple[int, ...]:
        if character not in self._keys:
            symbol = self._alphabet.symbol(character)
            self._keys[character] = (*(-ord(each) for each in symbol), 1)  # prefixes come last
        return self._keys[character]


class _PairCounts:
    """Counts of all pairs: the frequent ones at hand, the rare ones set apart."""

    def __init__(self, totals: dict[Pair, int], alphabet: Alphabet) -> None:
        self._falling = _FallingOrder(alphabet)
        self._pruned = totals
        self._active = dict(totals)
        self._threshold = max(totals.values()) / 10
        self._order_active()

    def most_frequent(self, merges: int) -> tuple[Pair, int]:
        """The pair to merge next, when ``merges`` are done, and its count."""
        if not self._settle_top():
            self.prune()
            self._active = dict(self._pruned)
            top = max(self._active.values())
            self._threshold = top * merges / (merges + 10000.0)
            self.prune()
            self._order_active()
        negative, _, pair = self._heap[0]
        return pair, -negative

    def update(self, changes: dict[Pair, int]) -> None:
        """Add changes to the counts."""
        for pair, change in changes.items():
            count = self._active[pair] = self._active.get(pair, 0) + change
            if change > 0 and count >= self._threshold:
                self._push(pair, count)

    def reset(self, pair: Pair) -> None:
        """Set the count of a pair that is merged to nothing."""
        self._active[pair] = 0

    def prune(self) -> None:
        """Set rare pairs apart, with the count that they have, or lose."""
        for pair, count in list(self._active.items()):
            if count < self._threshold:
                del self._active[pair]
                self._pruned[pair] = count if count >= 0 else self._pruned.get(pair, 0) + count

    def _order_active(self) -> None:
        self._heap = [
            (-count, self._falling.key(pair), pair)
            for pair, count in self._active.items()
            if count >= self._threshold
        ]
        heapq.heapify(self._heap)

    def _push(self, pair: Pair, count: int) -> None:
        heapq.heappush(self._heap, (-count, self._falling.key(pair), pair))

    def _settle_top(self) -> bool:
        """Put the heap's first entry right; False when no pair is at or over the threshold."""
        while self._heap:
            negative, _, pair = self._heap[0]
            count = self._active.get(pair, 0)
            if count == -negative:
                return True
            heapq.heappop(self._heap)
            if count >= self._threshold:
                self._push(pair, count)
        return False


def learn_merges(words: Words, limit: int, min_frequency: int = 2) -> Iterator[tuple[str, str]]:
    """Yield merges, the most frequent pair of symbols first, and carry them out.

    Args:
        words: Words before any merge; when all merges are taken, as these leave them.
        limit: Merges at most.
        min_frequency: Stop when no pair is as frequent; at least 1.
    """
    alphabet = words.alphabet
    pairs = _PairCounts(words.pair_counts(), alphabet)
    for merges in range(limit):
        pair, frequency = pairs.most_frequent(merges)
        if frequency < min_frequency:
            return
        first, second = map(alphabet.symbol, pair)
        yield first, second
        pairs.update(words.merge(pair, alphabet.character(first + second)))
        pairs.reset(pair)
        if merges % _PRUNED_EVERY == 0:
            pairs.prune()
