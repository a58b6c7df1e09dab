# %% [markdown]
# ## 11. Label smoothing (Section 5.4)
#
# Training asks for the right next word, but not with certainty: the target gives it 0.9 and
# spreads 0.1 over all others. The model is punished for being too sure, which makes its perplexity
# worse and its translations better (row (D) of Table 3).

# %%
import itertools
import math

import torch
from render import show

from aiayn.batches.tensors import pad_sources
from aiayn.common.formulas import learning_rate
from aiayn.config import DecodingConfig, ModelConfig
from aiayn.decoding.beam import beam_search, length_penalty
from aiayn.model import Transformer
from aiayn.training.loss import smoothed_cross_entropy

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# By hand, for a vocabulary of four words, of which the first is right:

# %%
logits = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
p = logits.softmax(-1)[0]
target = torch.tensor([0.9, 0.1 / 3, 0.1 / 3, 0.1 / 3])
by_hand = float(-(target * p.log()).sum())
loss, nll = smoothed_cross_entropy(logits, torch.tensor([0]), eps=0.1)
print("model says      ", p)
print("target          ", target)
print(f"-log p(right)    {float(nll):.4f}")
print(f"smoothed loss    {float(loss):.4f}, by hand {by_hand:.4f}")
assert math.isclose(float(loss), by_hand, rel_tol=1e-6)
assert math.isclose(float(nll), -math.log(float(p[0])), rel_tol=1e-6)

# %% [markdown]
# Perplexity is the exponential of the unsmoothed -log p, averaged over subwords: of how many
# equally likely subwords the model is choosing.
#
# The lowest loss is not 0, and it is not reached by certainty. With p for the right word and the
# rest shared by the others, it is lowest where p is 0.9:

# %%
for p_right in (0.7, 0.9, 0.99, 0.9999):
    others = (1 - p_right) / 3
    print(f"p {p_right:<6}: {-0.9 * math.log(p_right) - 0.1 * math.log(others):.3f}")

# %% [markdown]
# ## 12. Learning rate (Section 5.3, Equation 3)
#
# lrate = d_model^-0.5 · min(step^-0.5, step · warmup^-1.5): up in a straight line for 4,000 steps,
# while Adam's averages are still young, then down with the square root of the step. Wider models
# take smaller steps.

# %%
show(learning_rate)

# %%
rates = {step: learning_rate(step, d_model=512, warmup=4_000) for step in (1, 1_000, 4_000, 16_000)}
rates[100_000] = learning_rate(100_000, d_model=512, warmup=4_000)
for step, rate in rates.items():
    print(f"step {step:7,}: {rate:.2e}  {'#' * round(rate * 5e4)}")
assert f"{rates[4_000]:.1e}" == "7.0e-04"
assert f"{rates[100_000]:.1e}" == "1.4e-04"

# %% [markdown]
# ## 13. Beam search (Section 6.1)
#
# The model gives a probability for each next word, not a translation. Taking the likeliest word
# each time (greedy search) can lead astray. Beam search goes on with the best few beginnings.
#
# To see it, here is a model that needs no training: its next word depends on the last word alone,
# by this table. Everything else is the project's own Transformer and search.

# %%
ENTRIES = ["<pad>", "<s>", "</s>", "<unk>", "a", "the", "cat", "sat"]
NEXT = {
    "<s>": {"a": 0.46, "the": 0.44, "cat": 0.10},
    "a": {"cat": 0.55, "sat": 0.45},
    "the": {"cat": 1.00},
    "cat": {"</s>": 0.51, "sat": 0.49},
    "sat": {"</s>": 1.00},
}


class Bigrams(Transformer):
    """A Transformer whose scores come from the table."""

    def step(self, ids_R, *rest):
        """As :meth:`Transformer.step`."""
        logits_RV = super().step(ids_R, *rest)
        for row, token in zip(logits_RV, ids_R.tolist(), strict=True):
            chances = NEXT.get(ENTRIES[token], {})
            row.copy_(torch.tensor([chances.get(entry, 1e-12) for entry in ENTRIES]).log())
        return logits_RV


# %% [markdown]
# Every sentence that the table allows, likeliest first. |Y| counts the end token, and the score
# divides log P by the length penalty, or else short sentences would always win: every further word
# can only lower P.

# %%
show(length_penalty)


# %%
def sentences(words, p):
    """All sentences that begin with ``words``, each with its probability."""
    for word, chance in NEXT[words[-1] if words else "<s>"].items():
        if word == "</s>":
            yield words, p * chance
        else:
            yield from sentences([*words, word], p * chance)


print("P      log P   |Y|   penalty   score   sentence")
for words, p in sorted(sentences([], 1.0), key=lambda item: -item[1]):
    length = len(words) + 1
    penalty = length_penalty(length, 0.6)
    print(
        f"{p:.3f}  {math.log(p):.3f}  {length}     {penalty:.3f}     {math.log(p) / penalty:.3f}  "
        f"{' '.join(words)}"
    )

# %% [markdown]
# Greedy search begins with *a*, the likeliest first word, and cannot go back. A beam of 4 also
# keeps *the* and finds the better sentence. The penalty decides between *the cat* and
# *the cat sat*:

# %%
bigrams = Bigrams(ModelConfig(N=1, d_model=8, d_ff=8, h=1), len(ENTRIES)).eval()
source_BS = pad_sources([[4, 6]])
found = {}
for beam, alpha in itertools.product((1, 4), (0.0, 0.6)):
    (ids,) = beam_search(bigrams, source_BS, DecodingConfig(beam=beam, alpha=alpha))
    found[beam, alpha] = " ".join(ENTRIES[token] for token in ids)
    print(f"beam {beam}, alpha {alpha}: {found[beam, alpha]}")
assert found[1, 0.6] == "a cat"
assert found[4, 0.0] == "the cat"
assert found[4, 0.6] == "the cat sat"

# %% [markdown]
# The search itself, for many sentences at once. It stops as soon as no unfinished beginning can
# still beat the best finished sentence:

# %%
show(beam_search)

# %% [markdown]
# ## Where to go on
#
# * [paper-to-code.md](paper-to-code.md): every section, equation, table and figure of the paper,
#   and where it is in the code.
# * [tutorial.md](tutorial.md): a row of Table 3 of your own, a corpus, a language pair.
# * `src/aiayn/training/trainer.py`: one optimizer step; `src/aiayn/batches/buckets.py`: which
#   sentences make up a step.
