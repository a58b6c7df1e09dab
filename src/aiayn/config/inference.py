"""What running a finished model takes: seconds and memory, before there is text or model.

Where the text decides, the most is counted: every hypothesis of a search grows to the maximum
length, and batches are as full as they may be.
"""

from collections.abc import Iterable
from typing import NamedTuple

from aiayn.config.cost import TRAINING_PASSES, TokenCounts, parameters, training_flops
from aiayn.config.devices import Device
from aiayn.config.plan import BYTES_A_WEIGHT, SENTENCE_TOKENS, vocabulary_rows
from aiayn.config.project import Project, Run

UNKNOWN_SENTENCES = 10_000
"""Of a set, where the catalogue does not say how many."""
LOSS_TOKENS = 4_000
"""Tokens whose loss is computed together; as in ``batches.buckets``."""
ATTENTION_SENTENCES = 4
"""The paper's two and two of the test set; as in ``analysis.attention_maps``."""
FORWARD_SHARE = 0.4
"""Of the speed that devices.yaml assumes of training. A beam search reached 0.47 of it on a core of
an AMD EPYC: multi30k's base, 81 sentences a second (benchmarks/RESULTS.md)."""


class Pass(NamedTuple):
    """Tokens that a run's model is given."""

    run: Run
    tokens: TokenCounts


def translation(project: Project, run: Run, name: str) -> list[Pass]:
    """A run's beam search over a set."""
    return [Pass(run, search_tokens(project, count_sentences(project, run.pair, name)))]


def losses(project: Project, pair: str) -> list[Pass]:
    """Every model of a pair on its dev set."""
    sentences = count_sentences(project, pair, project.corpus_pair(pair).dev)
    tokens = sentences * SENTENCE_TOKENS
    counts = TokenCounts(tokens, tokens, *3 * (tokens * SENTENCE_TOKENS,))
    return [Pass(run, counts) for run in project.runs if run.pair == pair]


def attention(project: Project, pair: str) -> list[Pass]:
    """The sentences whose attention is drawn, by base."""
    base = Run(pair, "base", project.settings.seeds[0])
    return [Pass(base, search_tokens(project, ATTENTION_SENTENCES))]


def count_sentences(project: Project, pair: str, name: str) -> int:
    """Sentences of a held-out set, at the most."""
    corpus, select = project.corpus_pair(pair), project.scale.select
    known = corpus.contents[name].pairs or UNKNOWN_SENTENCES
    return min(known, (select.dev_pairs if name == corpus.dev else select.test_pairs) or known)


def search_tokens(project: Project, sentences: int) -> TokenCounts:
    """What encoder and decoder are given in a beam search over so many sentences."""
    hypotheses = sentences * project.settings.beam
    longest = SENTENCE_TOKENS + project.settings.max_extra
    return TokenCounts(
        source=sentences * SENTENCE_TOKENS,
        target=hypotheses * longest,
        source_squared=sentences * SENTENCE_TOKENS**2,
        target_squared=hypotheses * longest**2,
        product=hypotheses * longest * SENTENCE_TOKENS,
    )


def seconds(project: Project, passes: Iterable[Pass], device: Device) -> float:
    """Time of passes one after another on a device; on a CPU, on one thread of it."""
    total = 0.0
    for run, tokens in passes:
        model, _ = project.resolve(run)
        flops = training_flops(model, vocabulary_rows(project, model), tokens) / TRAINING_PASSES
        total += flops / (FORWARD_SHARE * device.share(model) * device.peak_tflops * 1e12)
    return total


def weight_bytes(project: Project, run: Run) -> int:
    """A model in memory."""
    model, _ = project.resolve(run)
    return BYTES_A_WEIGHT * parameters(model, vocabulary_rows(project, model))


def batch_bytes(project: Project, run: Run) -> int:
    """Logits, and keys and values of all layers, of the largest batch on a CPU."""
    settings, (model, _) = project.settings, project.resolve(run)
    hypotheses = settings.beam * max(1, settings.batch_tokens // SENTENCE_TOKENS)
    logits = vocabulary_rows(project, model) * max(LOSS_TOKENS, hypotheses)
    width = model.N * model.h * (model.query_width + model.value_width)
    past = width * hypotheses * (SENTENCE_TOKENS + settings.max_extra)
    return BYTES_A_WEIGHT * (logits + past)
