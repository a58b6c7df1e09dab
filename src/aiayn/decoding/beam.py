"""Beam search with a length penalty (Section 6.1), many sentences at once.

A translation grows by a token a step, which the decoder reads next (Section 3).

The rows of a step are hypotheses: ``beam`` for each sentence still being translated, one sentence
after another. Shape suffixes: B sentences, W beam width, C candidates, R = B * W rows.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from aiayn.config import DecodingConfig
from aiayn.model import Transformer
from aiayn.model.attention import KeysValues, Past
from aiayn.text import BOS, EOS, PAD, UNK

NEVER = [PAD, BOS, UNK]
"""Tokens that are no part of a translation."""


def length_penalty(length: int | Tensor, alpha: float) -> float | Tensor:
    """lp(Y) = ((5 + |Y|) / 6)^alpha (Wu et al. 2016, Equation 14); |Y| counts the end token."""
    return ((5 + length) / 6) ** alpha


@dataclass
class _Beams:
    """Unfinished hypotheses of the sentences still at work."""

    sentences_B: Tensor
    """Index of each sentence in the input."""
    limits_B: Tensor
    """Most tokens of each sentence's translation, end token included."""
    scores_BW: Tensor
    """log P of each hypothesis."""
    tokens_BWT: Tensor
    """Tokens so far, ``<s>`` first."""
    memory: list[KeysValues]
    """Each layer's keys and values of the sources."""
    bias: Tensor | None
    """Hides padding of the sources, [B, 1, 1, S]."""
    past: list[Past]
    """Each layer's keys and values of the hypotheses, [R, ...]."""


@torch.inference_mode()
def beam_search(model: Transformer, source_BS: Tensor, config: DecodingConfig) -> list[list[int]]:
    """Translate a batch.

    The best hypothesis of a sentence is the one of highest log P / lp that has ended; it is
    returned once no unfinished one can still beat it. One that reaches the maximum length, source
    length + ``max_extra``, stops there and is used if none has ended. With a beam of 1 the search
    is greedy and stops at the first end token.

    Args:
        source_BS: Source ids, each sentence followed by ``</s>``.
        config: Beam and penalty.

    Returns:
        Token ids of each sentence's translation, without begin and end tokens.
    """
    beams = _start(model, source_BS, config)
    best_scores = torch.full((len(source_BS),), float("-inf"), device=source_BS.device)
    best: list[list[int]] = [[] for _ in range(len(source_BS))]
    length = 0
    while len(beams.sentences_B):
        length += 1
        scores_BC, parents_BC, tokens_BC = _candidates(model, beams, config.beam)
        _record_endings(beams, scores_BC, parents_BC, tokens_BC, length, config, best_scores, best)
        parents_BW = _extend(beams, scores_BC, parents_BC, tokens_BC, config.beam)
        done_B = _done(beams, best_scores, length, config)
        _record_unfinished(beams, length, best_scores, best)
        _continue_with(beams, ~done_B, parents_BW)
    return best


def _start(model: Transformer, source_BS: Tensor, config: DecodingConfig) -> _Beams:
    memory_BSD, bias = model.encode(source_BS)
    sentences, device = len(source_BS), source_BS.device
    limits = (source_BS != PAD).sum(1) + config.max_extra
    scores = torch.full((sentences, config.beam), float("-inf"), device=device)
    scores[:, 0] = 0.0  # one hypothesis to begin with: the empty one
    return _Beams(
        sentences_B=torch.arange(sentences, device=device),
        limits_B=limits.clamp(max=model.embedding.positions.limit),
        scores_BW=scores,
        tokens_BWT=torch.full((sentences, config.beam, 1), BOS, device=device),
        memory=model.memory(memory_BSD),
        bias=bias,
        past=[Past() for _ in model.decoder],
    )


def _candidates(model: Transformer, beams: _Beams, beam: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best 2 * beam continuations of each sentence: log P, parent hypothesis, token.

    Twice the beam, so that the beam stays full when up to ``beam`` of them end.
    """
    tokens_R = beams.tokens_BWT[:, :, -1].flatten()
    position = beams.tokens_BWT.shape[-1] - 1
    logits_RV = model.step(tokens_R, position, beams.past, beams.memory, beams.bias)
    log_p_RV = logits_RV.log_softmax(-1)
    log_p_RV[:, NEVER] = float("-inf")
    log_p_RV[:, model.vocabulary_size :] = float("-inf")
    each = min(2 * beam, model.vocabulary_size)
    top_RC, tokens_RC = log_p_RV.topk(each)
    scores_BWC = beams.scores_BW[:, :, None] + top_RC.view(-1, beam, each)
    scores_BC, chosen_BC = scores_BWC.flatten(1).topk(min(2 * beam, beam * each))
    return scores_BC, chosen_BC // each, tokens_RC.view(-1, beam * each).gather(1, chosen_BC)


def _record_endings(
    beams: _Beams,
    scores_BC: Tensor,
    parents_BC: Tensor,
    tokens_BC: Tensor,
    length: int,
    config: DecodingConfig,
    best_scores: Tensor,
    best: list[list[int]],
) -> None:
    """Keep a hypothesis that ends now, among the best ``beam``, if it is the best so far."""
    penalty = length_penalty(length, config.alpha)
    ends_BW = tokens_BC[:, : config.beam] == EOS
    scores_BW = (scores_BC[:, : config.beam] / penalty).masked_fill(~ends_BW, float("-inf"))
    score_B, which_B = scores_BW.max(1)
    better_B = score_B > best_scores[beams.sentences_B]
    best_scores[beams.sentences_B] = torch.where(better_B, score_B, best_scores[beams.sentences_B])
    for row in better_B.nonzero().flatten().tolist():
        parent = parents_BC[row, which_B[row]]
        best[int(beams.sentences_B[row])] = beams.tokens_BWT[row, parent, 1:].tolist()


def _extend(
    beams: _Beams, scores_BC: Tensor, parents_BC: Tensor, tokens_BC: Tensor, beam: int
) -> Tensor:
    """Go on with the best ``beam`` continuations that do not end; returns their parents."""
    scores_BC = scores_BC.masked_fill(tokens_BC == EOS, float("-inf"))
    beams.scores_BW, chosen_BW = scores_BC.topk(beam)
    parents_BW = parents_BC.gather(1, chosen_BW)
    history = beams.tokens_BWT.gather(
        1, parents_BW[:, :, None].expand(-1, -1, beams.tokens_BWT.shape[-1])
    )
    newest = tokens_BC.gather(1, chosen_BW)[:, :, None]
    beams.tokens_BWT = torch.cat((history, newest), dim=2)
    return parents_BW


def _done(beams: _Beams, best_scores: Tensor, length: int, config: DecodingConfig) -> Tensor:
    """Which sentences no unfinished hypothesis can win any more."""
    ended_B = best_scores[beams.sentences_B]
    if config.beam == 1:
        done_B = ended_B > float("-inf")
    else:
        # log P only falls, and the penalty is at most that of the longest translation.
        bound_B = beams.scores_BW[:, 0] / length_penalty(beams.limits_B, config.alpha)
        done_B = ended_B >= bound_B
    return done_B | (length >= beams.limits_B)


def _record_unfinished(
    beams: _Beams, length: int, best_scores: Tensor, best: list[list[int]]
) -> None:
    """At the maximum length, use the best unfinished hypothesis where none has ended."""
    stuck_B = (length >= beams.limits_B) & (best_scores[beams.sentences_B] == float("-inf"))
    for row in stuck_B.nonzero().flatten().tolist():
        best[int(beams.sentences_B[row])] = beams.tokens_BWT[row, 0, 1:].tolist()


def _continue_with(beams: _Beams, keep_B: Tensor, parents_BW: Tensor) -> None:
    """Drop finished sentences and put each hypothesis beside its parent's past."""
    kept = keep_B.nonzero().flatten()
    rows = (kept[:, None] * parents_BW.shape[1] + parents_BW[kept]).flatten()
    for past in beams.past:
        past.select(rows)
    if len(kept) == len(keep_B):
        return
    beams.memory = [keys_values.select(kept) for keys_values in beams.memory]
    beams.bias = None if beams.bias is None else beams.bias[kept]
    beams.sentences_B, beams.limits_B = beams.sentences_B[kept], beams.limits_B[kept]
    beams.scores_BW, beams.tokens_BWT = beams.scores_BW[kept], beams.tokens_BWT[kept]
