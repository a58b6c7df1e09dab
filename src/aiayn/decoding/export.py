"""A model folder in the format of CTranslate2, a C++ engine that people deploy models with.

CTranslate2 is no dependency of this package: it is imported only here, when asked for.
"""

import contextlib
import importlib
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aiayn.common.errors import UserError
from aiayn.common.files import scratch, write_text
from aiayn.common.formulas import sinusoids
from aiayn.config import ModelConfig
from aiayn.model.layers import LAYER_NORM_EPS
from aiayn.model.weights import CODES, VOCABULARY, load_model
from aiayn.text import Vocabulary

SINUSOIDAL_POSITIONS = 2_048
"""Rows of the exported table of sinusoids; CTranslate2 cuts longer inputs at 1,024 by default."""

Weights = Mapping[str, NDArray[np.float32]]

README = """\
# {model.source_language} to {model.target_language}, for CTranslate2

A Transformer in fp32, exported by `aiayn export`. It reads and writes subwords: text goes in
through `aiayn tokenize --lang {model.source_language} | aiayn apply-bpe --codes bpe.codes`, or
Moses' tokenizer and subword-nmt, and comes out through `sed 's/@@ //g'` and Moses' detokenizer.
A sentence may have up to {positions:,} subwords.

```python
import sys

import ctranslate2

BEAM, ALPHA, MAX_EXTRA = 4, 0.6, 50


def score(log_p, subwords):
    return log_p / ((5 + len(subwords) + 1) / 6) ** ALPHA  # the 1 is the end token


translator = ctranslate2.Translator(".", compute_type="float32")
sources = [line.split() for line in sys.stdin]
results = translator.translate_batch(
    sources,
    max_batch_size=4_000,
    batch_type="tokens",
    beam_size=BEAM,
    num_hypotheses=2 * BEAM,
    patience=2,
    length_penalty=0,
    min_decoding_length=0,
    max_decoding_length=max(map(len, sources)) + 1 + MAX_EXTRA,
    disable_unk=True,
    return_scores=True,
)
for result in results:
    best = max(zip(result.scores, result.hypotheses), key=lambda each: score(*each))
    print(*best[1])
```

The paper's length penalty, ((5 + |Y|) / 6)^alpha, is not CTranslate2's, |Y|^length_penalty. So the
example asks for twice the beam's hypotheses with their log probabilities and chooses by the
paper's: the text is that of `aiayn translate`, but for rare sentences whose best translation
ends after those.
"""


def export_ctranslate2(folder: Path, output: Path) -> None:
    """Write ``output``: model.bin, config.json, vocabulary, BPE merges and a README.

    Args:
        folder: A model folder.
        output: A folder that does not exist yet.

    Raises:
        UserError: CTranslate2 is not installed or cannot compute such a model, a file of the
            folder is missing or broken, or ``output`` is there already.
    """
    specs = _import_specs()
    model, description = load_model(folder)
    _check(description.model, folder)
    weights = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    tokens = Vocabulary.load(folder / VOCABULARY).subwords
    spec = _specification(specs, description.model, weights, tokens)
    with _new_folder(output) as made:
        spec.save(str(made))
        for name in (CODES, VOCABULARY):
            shutil.copyfile(folder / name, made / name)
        write_text(
            made / "README.md", README.format(model=description, positions=_rows(description.model))
        )


@contextlib.contextmanager
def _new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill that becomes ``path`` when all went well, and else goes away."""
    if path.exists():
        raise UserError(f"{path}: is there already; give the name of a new folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    with scratch(path) as made:
        made.mkdir()
        yield made
        made.rename(path)


def _import_specs() -> ModuleType:
    try:
        return importlib.import_module("ctranslate2.specs")
    except ImportError as error:
        raise UserError(f"no CTranslate2 here ({error}): pip install ctranslate2") from None


def _check(config: ModelConfig, folder: Path) -> None:
    width = config.d_model / config.h
    if (config.query_width, config.value_width) != (width, width):
        raise UserError(
            f"{folder}: CTranslate2 computes models with d_k = d_v = d_model / h = {width:g} only, "
            f"not d_k={config.query_width}, d_v={config.value_width}"
        )


def _specification(
    specs: ModuleType, config: ModelConfig, weights: Weights, tokens: list[str]
) -> Any:
    """CTranslate2's description of the model, with its weights and its vocabulary."""
    spec = specs.TransformerSpec.from_config(config.N, config.h, pre_norm=False)
    embedding = weights["embedding.weight"][: len(tokens)]  # without the rows that only pad
    positions = _positions(config, weights)
    spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight = embedding
    spec.decoder.projection.weight = embedding
    spec.encoder.position_encodings.encodings = positions
    spec.decoder.position_encodings.encodings = positions
    for stack in ("encoder", "decoder"):
        for number, layer in enumerate(getattr(spec, stack).layer):
            _set_layer(layer, weights, f"{stack}.{number}")
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = LAYER_NORM_EPS
    spec.validate()
    spec.optimize(quantization="float32")
    return spec


def _positions(config: ModelConfig, weights: Weights) -> NDArray[np.float32]:
    if config.positions == "learned":
        return weights["embedding.positions.table"]
    return sinusoids(_rows(config), config.d_model).astype(np.float32)


def _rows(config: ModelConfig) -> int:
    """Positions that the exported model knows."""
    if config.positions == "learned":
        return config.max_positions
    return max(config.max_positions, SINUSOIDAL_POSITIONS)


def _set_layer(layer: Any, weights: Weights, name: str) -> None:
    """Set an encoder or a decoder layer; the latter also looks at the source."""
    attention = f"{name}.self_attention"
    _set_linear(layer.self_attention.linear[0], weights, f"{attention}.in_proj")
    _set_linear(layer.self_attention.linear[1], weights, f"{attention}.out_proj")
    _set_norm(layer.self_attention.layer_norm, weights, f"{name}.add_norm_1.norm")
    last = 2
    if hasattr(layer, "attention"):
        _set_cross_attention(layer.attention, weights, f"{name}.cross_attention")
        _set_norm(layer.attention.layer_norm, weights, f"{name}.add_norm_2.norm")
        last = 3
    _set_linear(layer.ffn.linear_0, weights, f"{name}.feed_forward.linear_1")
    _set_linear(layer.ffn.linear_1, weights, f"{name}.feed_forward.linear_2")
    _set_norm(layer.ffn.layer_norm, weights, f"{name}.add_norm_{last}.norm")


def _set_cross_attention(attention: Any, weights: Weights, name: str) -> None:
    """Queries apart; keys and values, which depend on the source alone, together."""
    weight, bias = weights[f"{name}.in_proj.weight"], weights[f"{name}.in_proj.bias"]
    width = len(bias) // 3
    attention.linear[0].weight, attention.linear[0].bias = weight[:width], bias[:width]
    attention.linear[1].weight, attention.linear[1].bias = weight[width:], bias[width:]
    _set_linear(attention.linear[2], weights, f"{name}.out_proj")


def _set_linear(linear: Any, weights: Weights, name: str) -> None:
    linear.weight, linear.bias = weights[f"{name}.weight"], weights[f"{name}.bias"]


def _set_norm(norm: Any, weights: Weights, name: str) -> None:
    norm.gamma, norm.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]
