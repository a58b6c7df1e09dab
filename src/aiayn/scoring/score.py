"""Every BLEU convention of one hypothesis file, as ``score.<set>.json`` holds them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiayn.common.errors import UserError
from aiayn.common.files import read_lines
from aiayn.common.progress import log
from aiayn.scoring.bleu import Bleu, compound_split, multi_bleu, sacre_bleu
from aiayn.scoring.checks import looks_tokenized, set_variant
from aiayn.text.moses import tokenize_for_bleu


@dataclass(frozen=True, kw_only=True)
class Score:
    """The conventions of one hypothesis file.

    ``tokenized`` is what the paper's EN-FR scores are: both sides detokenized, then
    punctuation-normalized and tokenized alike, then multi-bleu. ``compound_split``, of its EN-DE
    scores, splits hyphenated words too.
    """

    set: str
    variant: str
    lang: str
    segments: int
    sacrebleu: Bleu
    tokenized: Bleu
    compound_split: Bleu

    def as_json(self) -> dict[str, Any]:
        """The keys of ``score.<set>.json``; scores are between 0 and 100."""
        values: dict[str, Any] = {
            "set": self.set,
            "variant": self.variant,
            "lang": self.lang,
            "segments": self.segments,
        }
        for name in ("sacrebleu", "tokenized", "compound_split"):
            bleu: Bleu = getattr(self, name)
            values |= {name: bleu.score, f"{name}_low": bleu.low, f"{name}_high": bleu.high}
            values[f"{name}_signature"] = bleu.signature
        return values


def read_both(hypothesis: Path, reference: Path) -> tuple[list[str], list[str]]:
    """The lines of a file of translations and of its reference.

    Raises:
        UserError: a file is missing or not UTF-8, the reference is empty, or the numbers of lines
            differ; the message names the file.
    """
    # sacrebleu wants whole lists; a test set is a few thousand lines at any scale.
    hypotheses, references = list(read_lines(hypothesis)), list(read_lines(reference))
    if len(hypotheses) != len(references):
        raise UserError(
            f"{hypothesis} has {len(hypotheses):,} lines but {reference} has {len(references):,}"
        )
    if not any(line.strip() for line in references):
        raise UserError(f"{reference}: no text to score against")
    return hypotheses, references


def _warn(path: Path, lines: list[str]) -> None:
    if looks_tokenized(lines):
        log(f"warning: {path} looks tokenized; scores are for raw, detokenized text")


def score_files(hypothesis: Path, reference: Path, lang: str, set_name: str = "") -> Score:
    """Score a file of translations.

    Args:
        hypothesis: Detokenized translations, a line a segment; a line may be empty.
        reference: Raw reference, line for line.
        lang: Language of both, for the tokenizer.
        set_name: Name of the set, kept in the result.

    Raises:
        UserError: a file is missing or not UTF-8, the reference is empty, or the numbers of lines
            differ; the message names the file.
    """
    hypotheses, references = read_both(hypothesis, reference)
    _warn(hypothesis, hypotheses)
    _warn(reference, references)
    variant = set_variant(set_name, len(references))
    if variant == "other":
        log(f"warning: {set_name} has 3,003 segments, or 2,737 filtered; not {len(references):,}")
    hypothesis_tokens, reference_tokens = (
        [tokenize_for_bleu(line, lang) for line in lines] for lines in (hypotheses, references)
    )
    return Score(
        set=set_name,
        variant=variant,
        lang=lang,
        segments=len(references),
        sacrebleu=sacre_bleu(hypotheses, references),
        tokenized=multi_bleu(hypothesis_tokens, reference_tokens),
        compound_split=multi_bleu(
            [compound_split(line) for line in hypothesis_tokens],
            [compound_split(line) for line in reference_tokens],
        ),
    )
