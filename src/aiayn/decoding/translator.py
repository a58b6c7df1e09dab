"""Raw text to raw text: tokenize, segment, search, join, detokenize."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import torch

from aiayn.batches.tensors import pad_sources
from aiayn.common.progress import Meter, log
from aiayn.config import DecodingConfig
from aiayn.decoding.beam import beam_search
from aiayn.model.weights import CODES, VOCABULARY, load_model
from aiayn.text import BytePairEncoder, MosesTokenizer, Vocabulary, join_subwords

WINDOW_LINES = 10_000
"""Lines sorted by length together; memory does not grow beyond them."""


class Translator:
    """A model folder, loaded.

    Raises:
        UserError: a file of the folder is missing or broken; the message names it.
    """

    def __init__(self, folder: Path, device: torch.device) -> None:
        model, description = load_model(folder)
        self.model, self.device = model.to(device), device
        hyphens = description.text.aggressive_hyphens
        self.source_text = MosesTokenizer(description.source_language, aggressive_hyphens=hyphens)
        self.target_text = MosesTokenizer(description.target_language, aggressive_hyphens=hyphens)
        self.segmenter = BytePairEncoder(folder / CODES)
        self.vocabulary = Vocabulary.load(folder / VOCABULARY)

    def translate(self, lines: Iterable[str], config: DecodingConfig) -> Iterator[str]:
        """One translation for each line, in order; an empty line stays empty."""
        lines, first = iter(lines), 1
        with Meter("translate", unit="lines") as meter:
            while window := list(islice(lines, WINDOW_LINES)):
                yield from self._translate_window(window, first, config, meter)
                first += len(window)

    def _translate_window(
        self, lines: list[str], first: int, config: DecodingConfig, meter: Meter
    ) -> list[str]:
        sources = [self._encode(line, first + index) for index, line in enumerate(lines)]
        translations = [""] * len(lines)
        meter.advance(sum(not source for source in sources))
        for batch in _batches(sources, config.batch_tokens):
            padded = pad_sources([sources[index] for index in batch]).to(self.device)
            for index, ids in zip(batch, beam_search(self.model, padded, config), strict=True):
                subwords = self.vocabulary.decode(ids)
                translations[index] = self.target_text.detokenize(join_subwords(subwords))
            meter.advance(len(batch))
        return translations

    def _encode(self, line: str, number: int) -> list[int]:
        ids = self.vocabulary.encode(self.segmenter.segment(self.source_text.tokenize(line)))
        longest = self.model.embedding.positions.limit - 1
        if len(ids) > longest:
            log(f"line {number}: {len(ids)} subwords, cut to the {longest} the model has learned")
        return ids[:longest]


def _batches(sources: list[list[int]], batch_tokens: int) -> Iterator[list[int]]:
    """Indices of non-empty sentences, longest first, in batches of about equal length."""
    order = sorted((i for i in range(len(sources)) if sources[i]), key=lambda i: -len(sources[i]))
    while order:
        size = max(1, batch_tokens // (len(sources[order[0]]) + 1))
        yield order[:size]
        order = order[size:]
