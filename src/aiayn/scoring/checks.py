"""Mistakes that make a BLEU score wrong without an error: other rows, tokenized text, another set.

Reported in the field for every toolkit; see sacrebleu's issues 162 and 220.
"""

import re
from collections.abc import Sequence

# Blanks before a period or comma, Moses' escapes, marks of split hyphens and of BPE.
_TOKENIZED = re.compile(r" [.,](?= |$)|&(?:apos|quot|amp|lt|gt|#\d+);|@-@|@@(?: |$)")
TOKENIZED_SHARE = 0.1
"""Raw text has a few such lines (a list of examples, a slip); tokenized text has most."""

NEWSTEST2014_VARIANTS = {3003: "full", 2737: "filtered"}
"""EN-DE was published twice; the paper's scores are on the full set (EN-FR has only 3,003)."""


def looks_tokenized(lines: Sequence[str]) -> bool:
    """Whether more than a tenth of the lines bear the marks of a tokenizer or of BPE."""
    marked = sum(1 for line in lines if _TOKENIZED.search(line))
    return marked > TOKENIZED_SHARE * len(lines)


def set_variant(name: str, segments: int) -> str:
    """Which release of a test set this is: ``full``, ``filtered``, ``other``; else empty.

    Args:
        name: The set; only newstest2014 has variants.
        segments: Its lines.
    """
    if not name.startswith("newstest2014"):
        return ""
    return NEWSTEST2014_VARIANTS.get(segments, "other")
