"""Raw text to raw text: tokenize, segment, search, join, detokenize."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import torch

from aiayn.batches.tensors import pad_sources
from aiayn.common.progress import Meter, log
from aiayn.config import DecodingConfig
from aiayn.decoding.beam import beam_search
from aiayn.model.weights import CODES, VOCABULARY, load_model
from aiayn.text import BytePairEncoder, Vocabulary, join_subwords
from aiayn.text.moses import MosesTokenizer

WINDOW_LINES = 10_000
"""Lines sorted by length together; memory does not grow beyond them."""
GPU_FACTOR = 8
"""A GPU is busy with so many more tokens at once."""


class Translator:
    """A model folder, loaded.

    Args:
        folder: As ``aiayn average`` writes it.
        device: Where it computes.
        threads: Batches translated side by side, each by one thread of torch's: faster than many
            threads for one batch, and the output does not depend on their number.

    Raises:
        UserError: a file of the folder is missing or broken; the message names it.
    """

    def __init__(self, folder: Path, device: torch.device, threads: int = 1) -> None:
        self.threads = threads
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
        tokens = config.batch_tokens * (GPU_FACTOR if self.device.type == "cuda" else 1)
        batches = list(_batches(sources, tokens))
        with ThreadPoolExecutor(self.threads) as pool:
            searched = pool.map(
                lambda batch: self._search([sources[index] for index in batch], config), batches
            )
            for batch, outputs in zip(batches, searched, strict=True):
                for index, translation in zip(batch, outputs, strict=True):
                    translations[index] = translation
                meter.advance(len(batch))
        return translations

    def _search(self, sources: list[list[int]], config: DecodingConfig) -> list[str]:
        padded = pad_sources(sources).to(self.device)
        return [
            self.target_text.detokenize(join_subwords(self.vocabulary.decode(ids)))
            for ids in beam_search(self.model, padded, config)
        ]

    def _encode(self, line: str, number: int) -> list[int]:
        ids = self.vocabulary.encode(self.segmenter.segment(self.source_text.tokenize(line)))
        longest = self.model.embedding.positions.limit - 1
        if len(ids) > longest:
            log(f"line {number}: {len(ids)} subwords, cut to the {longest} it has positions for")
        return ids[:longest]


def _batches(sources: list[list[int]], batch_tokens: int) -> Iterator[list[int]]:
    """Indices of non-empty sentences, longest first, in batches of about equal length."""
    order = sorted((i for i in range(len(sources)) if sources[i]), key=lambda i: -len(sources[i]))
    while order:
        size = max(1, batch_tokens // (len(sources[order[0]]) + 1))
        yield order[:size]
        order = order[size:]
