"""What the comparisons of beam search share: the test set and this project's side."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from compare import Prepared, call_worker

from aiayn.common.files import read_lines
from aiayn.model.weights import CODES, read_description
from aiayn.text import BytePairEncoder, join_subwords
from aiayn.text.moses import MosesTokenizer

BEAM, ALPHA = 4, 0.6
"""Section 6.1."""


@dataclass
class Task:
    """The test set's first sentences, and what each side made of them.

    Args:
        data: Whose model and test set.
        sentences: How many.
    """

    data: Prepared
    sentences: int
    outputs: dict[str, list[str]] = field(default_factory=dict)
    """Detokenized translations by who made them."""

    def __post_init__(self) -> None:
        lines = [line for line in read_lines(self.data.folder / f"raw/{self.data.test}.en") if line]
        self.sources = lines[: self.sentences]
        description = read_description(self.data.model)
        self.shape = description.model
        hyphens = description.text.aggressive_hyphens
        self._english = MosesTokenizer("en", aggressive_hyphens=hyphens)
        self._german = MosesTokenizer("de", aggressive_hyphens=hyphens)

    def subwords(self) -> list[str]:
        """The sources as the model reads them: subwords joined by blanks."""
        segmenter = BytePairEncoder(self.data.model / CODES)
        return [" ".join(segmenter.segment(self._english.tokenize(line))) for line in self.sources]

    def rate(self, name: str, result: dict[str, Any], *, subwords: bool) -> float:
        """Sentences a second of a worker's result; keeps its translations."""
        outputs: Sequence[str] = result["outputs"]
        if subwords:
            outputs = [self._german.detokenize(join_subwords(line.split())) for line in outputs]
        self.outputs[name] = list(outputs)
        return len(self.sources) / float(result["seconds"])

    def ours(self, threads: int) -> float:
        """Sentences a second of this project, text processing included."""
        request = {
            "model": str(self.data.model),
            "sources": self.sources,
            "beam": BEAM,
            "alpha": ALPHA,
            "threads": threads,
        }
        result = call_worker("aiayn_decode.py", request, threads=threads)
        return self.rate("aiayn", result, subwords=False)

    def same(self, name: str) -> str:
        """How many translations are ours to the letter."""
        pairs = zip(self.outputs["aiayn"], self.outputs[name], strict=True)
        return f"{sum(a == b for a, b in pairs)} of {len(self.sources)} translations are the same"

    def about(self) -> str:
        """What is decoded, in a line."""
        words = sum(len(line.split()) for line in self.subwords()) / len(self.sources)
        shape = self.shape
        return (
            f"{len(self.sources)} sentences of {words:.1f} subwords; the scale's trained base "
            f"model (N {shape.N}, d_model {shape.d_model}, d_ff {shape.d_ff}, h {shape.h}), "
            f"beam {BEAM}"
        )
