"""The copy task: a tiny model that cannot learn to copy has a fault somewhere.

Sequences of random tokens are to be repeated. Everything a real run uses takes part: batches,
masks, loss, schedule, optimizer, cached decoding.
"""

import tempfile
from pathlib import Path

import numpy as np
import torch

from aiayn.batches import ParallelData, binarize, training_steps
from aiayn.batches.permutation import derive_seed
from aiayn.common.files import write_text
from aiayn.common.progress import track
from aiayn.config import ModelConfig, TrainingConfig
from aiayn.model import Transformer
from aiayn.training.trainer import Trainer

SYMBOLS, SHORTEST, LONGEST = 32, 4, 12
TRAINING_PAIRS, UNSEEN = 4_000, 500

MODEL = ModelConfig(N=1, d_model=64, d_ff=128, h=2, p_drop=0.0)
TRAINING = TrainingConfig(
    steps=1_800,
    warmup=300,
    lr_factor=1.0,
    eps_ls=0.0,
    tokens_per_step=1_200,
    micro_batches=1,
    checkpoint_every=100,
    precision="fp32",
)


def sequences(count: int, seed: int, purpose: str) -> list[list[int]]:
    """Random sequences of symbol numbers; the length and each symbol are uniform."""
    random = np.random.default_rng(derive_seed(seed, "copy", purpose))
    lengths = random.integers(SHORTEST, LONGEST + 1, size=count)
    return [random.integers(SYMBOLS, size=length).tolist() for length in lengths]


def _write_data(folder: Path, examples: list[list[int]]) -> Path:
    text, vocabulary = folder / "symbols.txt", folder / "vocabulary.txt"
    lines = [" ".join(f"s{symbol}" for symbol in example) for example in examples]
    write_text(text, "".join(f"{line}\n" for line in lines))
    entries = ["<pad>", "<s>", "</s>", "<unk>", *(f"s{symbol}" for symbol in range(SYMBOLS))]
    write_text(vocabulary, "".join(f"{entry}\t0\n" for entry in entries))
    binarize([text], [text], vocabulary, folder / "data")
    return folder / "data"


def train_to_copy(seed: int) -> tuple[Transformer, list[list[int]]]:
    """Train the tiny model.

    Returns:
        The model, and unseen sequences as vocabulary ids.
    """
    training = TRAINING.model_copy(update={"seed": seed})
    examples = sequences(TRAINING_PAIRS, seed, "train")
    seen = {tuple(example) for example in examples}
    unseen = [item for item in sequences(2 * UNSEEN, seed, "test") if tuple(item) not in seen]
    with tempfile.TemporaryDirectory() as folder:
        data = ParallelData(_write_data(Path(folder), examples))
        torch.manual_seed(derive_seed(seed, "weights"))
        model = Transformer(MODEL, data.vocabulary_size)
        trainer = Trainer(model, training, "fp32", torch.device("cpu"))
        steps = training_steps(
            data,
            seed=seed,
            tokens_per_step=training.tokens_per_step,
            micro_batches=1,
            max_length=training.max_length,
        )
        numbers = range(1, training.steps + 1)
        for number, step in track(
            zip(numbers, steps, strict=False), "sanity", total=training.steps, unit="steps"
        ):
            trainer.train_step(number, step, data)
    return model.eval(), [[symbol + 4 for symbol in item] for item in unseen[:UNSEEN]]
