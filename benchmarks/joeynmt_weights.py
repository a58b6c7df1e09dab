"""A model of this project under JoeyNMT's names: both then compute the same function.

JoeyNMT keeps queries, keys and values apart, and its vocabulary begins with other special ids.
"""

from pathlib import Path

import numpy as np
from compare import write_lines
from numpy.typing import NDArray

from aiayn.model.weights import load_model
from aiayn.text import BOS, EOS, PAD, UNK, Vocabulary
from aiayn.text.vocabulary import SPECIALS

Arrays = dict[str, NDArray[np.float32]]
SPECIAL_ROWS = [UNK, PAD, BOS, EOS]
"""Our ids in the order in which JoeyNMT numbers its special tokens."""


def write_joeynmt_vocabulary(ours: Path, path: Path) -> None:
    """Write the subwords of a ``vocabulary.txt``; JoeyNMT adds special tokens of its own."""
    write_lines(path, Vocabulary.load(ours).subwords[len(SPECIALS) :])


def write_joeynmt_weights(model_folder: Path, path: Path) -> None:
    """Write the weights of a model folder as an .npz file of JoeyNMT's parameters.

    Raises:
        UserError: a file of the folder is missing or broken.
    """
    model, description = load_model(model_folder)
    ours = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    size = description.vocabulary_size
    embedding = ours["embedding.weight"][[*SPECIAL_ROWS, *range(len(SPECIAL_ROWS), size)]]
    theirs: Arrays = dict.fromkeys(
        ("src_embed.lut.weight", "trg_embed.lut.weight", "decoder.output_layer.weight"), embedding
    )
    for number in range(description.model.N):
        theirs |= _layer(ours, f"encoder.{number}", f"encoder.layers.{number}", _ENCODER)
        theirs |= _layer(ours, f"decoder.{number}", f"decoder.layers.{number}", _DECODER)
    np.savez(path, **theirs)


_ENCODER = {
    "add_norm_1.norm": "layer_norm",
    "self_attention": "src_src_att",
    "feed_forward.linear_1": "feed_forward.pwff_layer.0",
    "feed_forward.linear_2": "feed_forward.pwff_layer.3",
    "add_norm_2.norm": "feed_forward.layer_norm",
}
_DECODER = {
    "add_norm_1.norm": "x_layer_norm",
    "add_norm_2.norm": "dec_layer_norm",
    "self_attention": "trg_trg_att",
    "cross_attention": "src_trg_att",
    "feed_forward.linear_1": "feed_forward.pwff_layer.0",
    "feed_forward.linear_2": "feed_forward.pwff_layer.3",
    "add_norm_3.norm": "feed_forward.layer_norm",
}


def _layer(ours: Arrays, source: str, target: str, names: dict[str, str]) -> Arrays:
    theirs = {}
    for name, their_name in names.items():
        for kind in ("weight", "bias"):
            if name.endswith("attention"):
                in_proj = np.split(ours[f"{source}.{name}.in_proj.{kind}"], 3)
                for letter, part in zip("qkv", in_proj, strict=True):
                    theirs[f"{target}.{their_name}.{letter}_layer.{kind}"] = part
                out_proj = ours[f"{source}.{name}.out_proj.{kind}"]
                theirs[f"{target}.{their_name}.output_layer.{kind}"] = out_proj
            else:
                theirs[f"{target}.{their_name}.{kind}"] = ours[f"{source}.{name}.{kind}"]
    return theirs
