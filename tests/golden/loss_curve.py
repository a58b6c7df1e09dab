"""A hundred steps of a tiny training, for a curve that refactors must reproduce.

Example:
    .venv/bin/python -m tests.golden.loss_curve

Writes ``tests/golden/loss_curve.csv``. Record it again only when a change of the curve is meant, in
the commit that changes it, and say why there; `git diff` shows what moved. ``without_dropout`` does
not depend on the stream of random masks: should only the other column move, the model, the loss,
the order of the data and the optimizer are as they were.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from aiayn.batches import ParallelData, binarize, training_steps
from aiayn.common.files import atomic_write
from aiayn.config import ModelConfig, TrainingConfig
from aiayn.model import Transformer
from aiayn.training.trainer import Trainer

# Small, so that rounding stays rounding: among the activations of a larger model some ReLU input
# lies within rounding of zero and falls on either side, and from there two processors' curves part
# by up to a few percent.
CURVE = Path(__file__).with_name("loss_curve.csv")
STEPS = 100
SEED = 1
WORDS = 24
MODEL = ModelConfig(N=1, d_model=32, d_ff=32, h=4)
TRAINING = TrainingConfig(
    steps=STEPS,
    warmup=40,
    lr_factor=0.3,
    tokens_per_step=160,
    micro_batches=2,
    checkpoint_every=20,
    precision="fp32",
    seed=SEED,
)


def _write_data(folder: Path) -> Path:
    """Random sentences; the target is the source in reverse order."""
    random = np.random.default_rng(SEED)
    words = [f"w{number}" for number in range(WORDS)]
    sentences = [random.choice(words, random.integers(2, 12)).tolist() for _ in range(600)]
    entries = {"vocabulary.txt": [f"{entry}\t0" for entry in ("<pad>", "<s>", "</s>", "<unk>")]}
    entries["vocabulary.txt"] += [f"{word}\t0" for word in words]
    entries["source.txt"] = [" ".join(sentence) for sentence in sentences]
    entries["target.txt"] = [" ".join(reversed(sentence)) for sentence in sentences]
    for name, lines in entries.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    source, target = [folder / "source.txt"], [folder / "target.txt"]
    binarize(source, target, folder / "vocabulary.txt", folder / "data")
    return folder / "data"


def losses(p_drop: float) -> list[float]:
    """Loss of each step, in nats a target token, in fp32 on one CPU thread: [STEPS]."""
    with tempfile.TemporaryDirectory() as folder:
        data = ParallelData(_write_data(Path(folder)))
        torch.set_num_threads(1)
        torch.manual_seed(SEED)
        model = Transformer(MODEL.model_copy(update={"p_drop": p_drop}), data.vocabulary_size)
        trainer = Trainer(model, TRAINING, "fp32", torch.device("cpu"))
        steps = training_steps(
            data,
            seed=SEED,
            tokens_per_step=TRAINING.tokens_per_step,
            micro_batches=TRAINING.micro_batches,
            max_length=TRAINING.max_length,
        )
        results = [
            trainer.train_step(number, step, data)
            for number, step in zip(range(1, STEPS + 1), steps, strict=False)
        ]
    return [float(result.loss_and_nll[0]) / result.tokens.target for result in results]


def curve() -> pd.DataFrame:
    """``step``, ``without_dropout``, ``with_dropout``: one row a step."""
    columns = {"without_dropout": losses(0.0), "with_dropout": losses(0.1)}
    return pd.DataFrame({"step": range(1, STEPS + 1)} | columns)


if __name__ == "__main__":
    with atomic_write(CURVE) as stream:
        curve().to_csv(stream, index=False, float_format="%.8f", lineterminator="\n")
