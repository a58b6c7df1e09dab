"""A model folder with random weights, for tests of what reads one."""

from pathlib import Path

import torch

from aiayn.config import ModelConfig, TextConfig
from aiayn.model import ModelFolder, Transformer
from aiayn.model.weights import write_model_folder


def write_untrained(
    root: Path, words: list[str], codes: str, config: ModelConfig, *, seed: int, gain: float
) -> Path:
    """A model from English to German below ``root``; returns its folder.

    Args:
        words: The vocabulary, without special tokens.
        codes: The BPE merges, a line each.
        gain: Factor on the embedding: above 1 the model prefers some words to others.
    """
    text = root / "text"
    text.mkdir(parents=True)
    entries = ["<pad>", "<s>", "</s>", "<unk>", *words]
    (text / "vocabulary.txt").write_text("".join(f"{entry}\t1\n" for entry in entries))
    (text / "codes").write_text(f"#version: 0.2\n{codes}", encoding="utf-8")
    torch.manual_seed(seed)
    model = Transformer(config, len(entries))
    with torch.no_grad():
        model.embedding.weight.mul_(gain)
    description = ModelFolder(
        source_language="en", target_language="de", vocabulary_size=len(entries), model=config,
        text=TextConfig(), steps=(1,),
    )  # fmt: skip
    write_model_folder(root / "model", description, model.state_dict(), text)
    return root / "model"
