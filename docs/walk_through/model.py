# %% [markdown]
# # A walk through the Transformer
#
# This page builds the model of *Attention Is All You Need* block by block, in the order of the
# paper's Section 3, and ends with a translation. The code shown is the project's own, taken from
# `src/aiayn` when the page was made; the numbers below it are what it computed. Where the paper
# gives a number, or one follows from it, the page checks it: an `assert` that fails stops the
# rendering.
#
# You need to know what a matrix product and a softmax are. To
# change something and see what happens, open [model.py](walk_through/model.py) (sections 1 to 10)
# or [learning_and_search.py](walk_through/learning_and_search.py) (11 to 13) as a notebook, or run
# it: `.venv/bin/python docs/walk_through/model.py`.

# %%
import math

import numpy as np
import torch
from render import ROOT, show

from aiayn.batches.tensors import pad_sources
from aiayn.common.formulas import sinusoids
from aiayn.config import ModelConfig, load_project
from aiayn.config.cost import parameters
from aiayn.model import Transformer
from aiayn.model.attention import MultiHeadAttention, scaled_dot_product_attention
from aiayn.model.embedding import Embedding
from aiayn.model.layers import AddNorm, DecoderLayer, EncoderLayer, FeedForward
from aiayn.model.transformer import causal_bias, padding_bias, parameter_count
from aiayn.reporting.published import load_published
from aiayn.text import BOS

base = ModelConfig()  # the defaults are the paper's base model
torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# The base model, with the paper's names:

# %%
print(base)

# %% [markdown]
# Names of tensors end in their shape: `x_BTD` is a batch of B sentences, T positions each, D
# numbers a position. S stands for positions of the source, T of the target.
#
# ## 1. Embedding (Section 3.4)
#
# A sentence arrives as numbers: each subword's line in the vocabulary. The embedding is a matrix
# with a row of d_model numbers for each of them. Row 7 is all the model knows of subword 7 before
# it looks at the words around.
#
# One matrix serves three times: for source words, for target words, and at the very end, where
# the decoder's output is multiplied with every row to score each possible next word (`logits`).
# English and German share it because they share a vocabulary.
#
# The rows start out with entries of standard deviation 1/sqrt(d_model). Multiplied by
# sqrt(d_model) they have the size of the positional encodings that are added next.

# %%
show(Embedding)

# %%
tiny = ModelConfig(N=1, d_model=4, d_ff=8, h=2, p_drop=0.0)
embedding = Embedding(tiny, rows=8)
with torch.no_grad():
    embedding.weight.zero_()
    embedding.weight[5] = torch.tensor([0.5, -0.5, 0.0, 1.0])
ids_BT = torch.tensor([[5, 5, 6]])
with torch.no_grad():
    print(embedding(ids_BT)[0])

# %% [markdown]
# Three positions, four numbers each. The first two rows are the same word, times sqrt(4) = 2, and
# yet they differ: by their positions. The third word's own row is zero, so what is left is the
# encoding of position 2 alone.
#
# ## 2. Positions (Section 3.5)
#
# Attention, below, is blind to order: it would treat a sentence as a bag of words. So each
# position adds a pattern of its own, sines and cosines of different wavelengths, from 2π to
# 10,000 · 2π:

# %%
show(sinusoids)

# %% [markdown]
# Each pair of dimensions is a hand of a clock, and each clock is slower than the one before. Moving
# on by k positions turns every hand by an angle that depends on k alone. Hence the dot product of
# two encodings depends on how far apart they are, not on where they stand; at offset 0 it is
# d_model/2 = 256, a sum of 256 times sin² + cos².

# %%
encoding = sinusoids(200, 512)
expected = {0: 256.0, 1: 249.1, 2: 231.7, 5: 189.6, 10: 173.8, 32: 143.9}
print("offset   PE(3)·PE(3+k)   PE(100)·PE(100+k)")
for offset, product in expected.items():
    near, far = (float(encoding[p] @ encoding[p + offset]) for p in (3, 100))
    print(f"{offset:6}   {near:13.1f}   {far:17.1f}")
    assert abs(near - far) < 1e-9
    assert round(near, 1) == product

# %% [markdown]
# Row (E) of Table 3 learns a vector for each position instead and scores nearly the same.
#
# ## 3. Scaled dot-product attention (Section 3.2.1, Equation 1)
#
# Attention is a soft look-up. Each position asks with a *query*, every position answers with a
# *key*, and how well they match decides how much of its *value* is taken along:
#
# Attention(Q, K, V) = softmax(Q Kᵀ / sqrt(d_k)) V

# %%
show(scaled_dot_product_attention)

# %% [markdown]
# Three words, d_k = 4. Let the second dimension of a key mean "I am an adjective", and let the
# query of *cat* ask just for that. The values are chosen so that the output shows the weights.

# %%
words = ["the", "black", "cat"]
keys = torch.tensor([[0.0, 0, 1, 0], [0, 2, 0, 0], [2, 0, 0, 0]])
values = torch.eye(3)
query = torch.tensor([[0.0, 2, 0, 0]])
scores = (query @ keys.T)[0]
print("q·k           ", scores)
print("q·k / sqrt(4) ", scores / math.sqrt(4))
output = scaled_dot_product_attention(query[None, None], keys[None, None], values[None, None], None)
print("softmax, times V:")
for word, weight in zip(words, output.flatten().tolist(), strict=True):
    print(f"  {word:6} {weight:.3f}")
assert math.isclose(float(output.flatten()[1]), math.e**2 / (math.e**2 + 2), rel_tol=1e-6)

# %% [markdown]
# Why divide by sqrt(d_k)? A dot product of d_k independent numbers of variance 1 has variance
# d_k. Undivided, scores grow with the width, the softmax becomes a hard choice of one position,
# and next to no gradient comes through.

# %%
random = np.random.default_rng(0)
for d_k in (4, 64, 512):
    q, k = random.standard_normal((2, 20_000, d_k))
    deviation = (q * k).sum(1).std()
    print(
        f"d_k {d_k:3}: q·k has deviation {deviation:4.1f}, divided {deviation / math.sqrt(d_k):.1f}"
    )

# %% [markdown]
# ## 4. Multi-head attention (Section 3.2.2)
#
# One look-up a position is little: a verb wants its subject *and* its object. So there are h = 8
# attentions side by side, each with its own projections to d_k = d_v = 64 dimensions; their
# outputs are put one after another, 8 · 64 = 512 again, and mixed by a last matrix W^O. Eight
# narrow heads cost what one wide head would.

# %%
show(MultiHeadAttention)

# %% [markdown]
# Shapes for a batch of 2 sentences of 5 positions in the base model:

# %%
attention = MultiHeadAttention(base)
x_BMD = torch.zeros(2, 5, 512)
query_BHQK, memory = attention.project_self(x_BMD)
print("x                ", list(x_BMD.shape))
print("queries, 8 heads ", list(query_BHQK.shape))
print("keys             ", list(memory.keys_BHMK.shape))
print("values           ", list(memory.values_BHMV.shape))
print("scores           ", list((query_BHQK @ memory.keys_BHMK.transpose(-2, -1)).shape))
print("output           ", list(attention(x_BMD, None, None).shape))
print(f"parameters: 4 · (512 · 512 + 512) = {parameter_count(attention):,}")
assert parameter_count(attention) == 4 * (512 * 512 + 512) == 1_050_624

# %% [markdown]
# ## 5. Position-wise feed-forward network (Section 3.3, Equation 2)
#
# Attention moves information between positions; this network works on each position by itself,
# the same for all. It widens to d_ff = 2048, sets what is negative to zero, and narrows again:
# FFN(x) = max(0, x W₁ + b₁) W₂ + b₂. Two thirds of an encoder layer's parameters are here.

# %%
show(FeedForward)

# %%
print(f"parameters: {parameter_count(FeedForward(base)):,}")
assert parameter_count(FeedForward(base)) == 512 * 2048 + 2048 + 2048 * 512 + 512 == 2_099_712

# %% [markdown]
# ## 6. Add & Norm (Sections 3.1 and 5.4)
#
# Every sub-layer's output is *added* to what went in, so a layer only has to learn what to
# change, and gradients have a way past it. Then each position is normalized to mean 0 and
# variance 1. While training, dropout sets a tenth of the sub-layer's numbers to zero. The
# normalization comes after the sum ("post-norm"); most later models put it before the sub-layer.

# %%
show(AddNorm)

# %%
add_norm = AddNorm(tiny)
x = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
change = torch.tensor([[0.0, 0.0, 0.0, 6.0]])
normalized = add_norm(x, change).detach()
print("x + sublayer:", (x + change)[0])
print("normalized:  ", normalized[0])
assert abs(float(normalized.mean())) < 1e-6

# %% [markdown]
# ## 7. Encoder layer (Section 3.1, left side of Figure 1)
#
# Self-attention and a feed-forward network, each with its Add & Norm. The shape that goes in comes
# out, so layers can be stacked: N = 6 of them.

# %%
show(EncoderLayer)

# %%
encoder_layer = EncoderLayer(base)
for name, part in encoder_layer.named_children():
    print(f"{name:15} {parameter_count(part):9,}")
print(f"{'in all':15} {parameter_count(encoder_layer):9,}")
assert parameter_count(encoder_layer) == 3_152_384

# %% [markdown]
# ## 8. Decoder layer (Section 3.1, right side of Figure 1)
#
# The decoder writes the translation. It looks at what it has written (masked self-attention), at
# the source (its queries, the encoder's keys and values), and then works on each position.
# `forward` does all positions of a known translation at once, for training; `step` adds one
# position to a translation in the making and keeps the keys and values of the earlier ones.

# %%
show(DecoderLayer)

# %%
print(f"parameters: {parameter_count(DecoderLayer(base)):,}")
assert parameter_count(DecoderLayer(base)) == 4_204_032

# %% [markdown]
# ## 9. Masks (Section 3.2.3)
#
# Training shows the decoder the whole right translation. So that it cannot simply read off the
# next word, position i may look at positions up to i only: later ones get a score of minus
# infinity, which the softmax turns into a weight of exactly 0.

# %%
show(causal_bias, padding_bias)

# %%
print(causal_bias(4, torch.zeros(1)))

# %% [markdown]
# The other mask hides padding: sentences of a batch are filled up to the longest, and nobody may
# look at the filling. Here the second sentence is shorter.

# %%
sources_BS = pad_sources([[5, 6, 7], [5]])
print(sources_BS)
print(padding_bias(sources_BS, torch.float32)[:, 0, 0])

# %% [markdown]
# Both masks at work in a whole model: another word at position 2 of the target leaves the outputs
# before it as they were, and padding changes nothing.

# %%
torch.manual_seed(1)
small = Transformer(ModelConfig(N=2, d_model=16, d_ff=32, h=2), vocabulary_size=8).eval()
with torch.no_grad():
    memory_BSD, bias = small.encode(sources_BS)
    one = small.decode(torch.tensor([[BOS, 4, 5], [BOS, 4, 5]]), memory_BSD, bias)
    other = small.decode(torch.tensor([[BOS, 4, 6], [BOS, 4, 6]]), memory_BSD, bias)
    alone = small.encode(sources_BS[1:, :2])[0]
for position in range(3):
    same = torch.equal(one[:, position], other[:, position])
    print(f"position {position}: {'as before' if same else 'changed'}")
assert torch.equal(one[:, :2], other[:, :2])
assert torch.allclose(memory_BSD[1, :2], alone[0], atol=1e-5)

# %% [markdown]
# ## 10. The whole model (Figure 1)

# %%
show(Transformer)

# %% [markdown]
# Six layers of each kind and the shared matrix. With a vocabulary of 37,000, as the paper says,
# that makes 63.1 million parameters; the paper prints 65. Its tables come out exactly with 40,960
# rows, the size that the original code's softmax had, and so does this project's paper scale.

# %%
layers = 6 * (3_152_384 + 4_204_032)
for rows in (37_000, 40_960):
    with torch.device("meta"):  # shapes without memory
        model = Transformer(base, rows)
    print(f"{rows:,} rows: {parameter_count(model) / 1e6:.1f} million")
    assert parameter_count(model) == layers + rows * 512 == parameters(base, rows)

# %% [markdown]
# The same for every row of Table 3 whose parameters the paper prints. The rows are those of
# `config/experiments.yaml`, each resolved at the paper's scale:

# %%
project = load_project({"scale": "paper", "pairs": "en-de"}, ROOT)
published = load_published(ROOT).table3
print("row    this project   paper")
for run in project.runs:
    paper = published[run.row].params_m
    if paper is not None:
        config, _ = project.resolve(run)
        ours = parameters(config, 40_960) / 1e6
        print(f"{run.row:4} {ours:12.1f} M {paper:5.0f} M")
        assert run.row == "big" or round(ours) == paper

# %% [markdown]
# Only big differs, and no size of the vocabulary fits all of the paper's numbers.
