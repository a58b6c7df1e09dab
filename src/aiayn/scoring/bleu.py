"""BLEU (Papineni et al. 2002) by the conventions behind Section 6.1's numbers, and sacreBLEU's.

All are computed by sacrebleu; they differ in the text that is compared.
"""

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from sacrebleu.metrics import BLEU

RESAMPLES = 1_000
"""Bootstrap samples; sacrebleu's default, with its fixed seed, both kept in the signature."""

_HYPHEN = re.compile(rb"(\S)-(\S)")


class Bleu(NamedTuple):
    """A corpus score from 0 to 100 and its 95% bootstrap interval."""

    score: float
    low: float
    high: float
    signature: str


def sacre_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> Bleu:
    """sacreBLEU of detokenized text: 13a tokens, exponential smoothing, cased (Post 2018)."""
    return _corpus_bleu(BLEU(), hypotheses, references)


def multi_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> Bleu:
    """What Moses' ``multi-bleu.perl`` gives for tokenized text: no smoothing, words as they are."""
    metric = BLEU(tokenize="none", smooth_method="none", force=True)
    return _corpus_bleu(metric, hypotheses, references)


def compound_split(tokenized: str) -> str:
    r"""Split hyphenated words as the paper's EN-DE scores did: ``a-b`` to ``a ##AT##-##AT## b``.

    ``perl -pe 's{(\S)-(\S)}{$1 ##AT##-##AT## $2}g'`` of tensor2tensor's get_ende_bleu.sh: matches
    do not overlap, so ``A-B-C`` is split once; and on bytes, so a letter outside ASCII counts
    as several and ``ä-ö-ü`` is split twice.
    """
    return _HYPHEN.sub(rb"\1 ##AT##-##AT## \2", tokenized.encode()).decode()


def _corpus_bleu(metric: BLEU, hypotheses: Sequence[str], references: Sequence[str]) -> Bleu:
    result = metric.corpus_score(hypotheses, [references], n_bootstrap=RESAMPLES)
    signature = str(metric.get_signature())
    # Its JSON is the public way to sacrebleu's interval: the bootstrap mean and half the width.
    values = json.loads(result.format(width=4, is_json=True, signature=signature))
    score = values["score"]
    mean = values.get("confidence_mean", score)
    half_width = values.get("confidence_var", 0.0)
    low, high = max(0.0, mean - half_width), min(100.0, mean + half_width)
    return Bleu(score, round(low, 4), round(high, 4), signature)
