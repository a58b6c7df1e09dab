"""A tiny parallel corpus and tiny trainings, for tests of training."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from aiayn.batches import binarize
from aiayn.config import ModelConfig, TextConfig, TrainingConfig
from aiayn.training import Job

MODEL = ModelConfig(N=1, d_model=16, d_ff=32, h=2)
TRAINING = TrainingConfig(
    steps=12,
    warmup=4,
    tokens_per_step=120,
    micro_batches=2,
    checkpoint_every=3,
    average=3,
    validate_every=6,
    log_every=2,
    precision="fp32",
)


def write_corpus(folder: Path, train: int = 60, dev: int = 10) -> Path:
    """data/train, data/dev and bpe/ below ``folder``; the target is the source."""
    (folder / "bpe").mkdir(parents=True)
    words = [f"w{n}" for n in range(20)]
    entries = ["<pad>", "<s>", "</s>", "<unk>", *words]
    (folder / "bpe/vocabulary.txt").write_text("".join(f"{entry}\t1\n" for entry in entries))
    (folder / "bpe/codes").write_text("#version: 0.2\nw 1</w>\n")
    random = np.random.default_rng(0)
    for name, count in (("train", train), ("dev", dev)):
        lines = [" ".join(random.choice(words, random.integers(1, 9))) for _ in range(count)]
        file = folder / f"{name}.txt"
        file.write_text("".join(f"{line}\n" for line in lines))
        binarize([file], [file], folder / "bpe/vocabulary.txt", folder / "data" / name)
    return folder


def make_job(text: Path, output: Path, model: ModelConfig = MODEL, **changes: object) -> Job:
    """A training on :func:`write_corpus`'s text."""
    return Job(
        train_data=text / "data/train",
        dev_data=text / "data/dev",
        text_folder=text / "bpe",
        output=output,
        pair="en-de",
        label=output.name,
        model=model,
        training=TRAINING.model_copy(update=changes),
        text=TextConfig(),
        device="cpu",
    )


def command(job: Job, ranks: int = 1) -> list[str]:
    """The command line of a training."""
    return [
        sys.executable, "-m", "aiayn", "train", "--ranks", str(ranks),
        "--data", str(job.train_data.parent), "--text-folder", str(job.text_folder),
        "--output", str(job.output), "--pair", job.pair, "--device", "cpu",
        "--model", json.dumps(job.model.model_dump(exclude_none=True)),
        "--training", json.dumps(job.training.model_dump()),
    ]  # fmt: skip


def run(job: Job, ranks: int = 1) -> subprocess.CompletedProcess[str]:
    """Run a training in processes of its own."""
    return subprocess.run(
        command(job, ranks), capture_output=True, text=True, check=False, timeout=300
    )


def weights(job: Job) -> bytes:
    """The last checkpoint's weights."""
    return (job.output / "last/model.safetensors").read_bytes()
