"""What is not computing: time around training steps, padding, and Snakemake's own time.

Example:
    python benchmarks/overhead.py --scale demo

Prints a section of Markdown.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from compare import (
    PAIR,
    ROOT,
    BenchmarkError,
    Prepared,
    at_most,
    parse_options,
    script,
    snakemake,
)

from aiayn.batches import ParallelData, training_steps
from aiayn.common.files import write_json
from aiayn.common.progress import log
from aiayn.config import Run, load_project

STEPS = 200
CORPUS_PAIRS = 200_000
MEAN_TOKENS, SPREAD, RATIO_SPREAD = 26, 0.6, 0.15
"""Lengths of the made-up corpus, in subwords, as WMT14's: log-normal around that mean; the target's
is the source's times a normal factor."""
PAPER_TOKENS, PAPER_MICRO_BATCHES, PAPER_MAX_LENGTH = 25_000, 8, 256
SMOKE = {"scale": "smoke", "pairs": PAIR, "rows": "base"}


def share_outside(data: Prepared) -> float:
    """Percent of training outside forward, backward and optimizer; the scale's own settings.

    Validation is left out: it is no part of a step, and how often it happens is anyone's choice.
    """
    model, training = load_project({"scale": data.scale}, ROOT).resolve(Run(PAIR, "base", 1))
    steps = max(STEPS, training.checkpoint_every)
    update = {"steps": steps, "validate_every": steps, "average": 1}
    section = training.model_copy(update=update).model_dump()
    result = data.trained_by("aiayn_overhead.py", model.model_dump(), section, training.threads)
    return 100 * float(result["outside"]) / float(result["seconds"])


def padding(data: ParallelData, tokens: int, micro_batches: int, max_length: int) -> float:
    """Percent of the positions of an epoch's batches that are padding, both sides together."""
    positions = filled = 0
    for step in training_steps(
        data,
        seed=1,
        tokens_per_step=tokens,
        micro_batches=micro_batches,
        max_length=max_length,
    ):
        if step.position.epoch:
            break
        for pairs in step.micro_batches:
            for side in ("source", "target"):
                lengths = data.lengths(side, pairs)
                positions += len(pairs) * int(lengths.max())
                filled += int(lengths.sum())
    return 100 * (1 - filled / positions)


def write_lengths(folder: Path) -> ParallelData:
    """Binarized data (docs/stages.md) whose sentences have WMT14's lengths and one same token."""
    random = np.random.default_rng(1)
    location = np.log(MEAN_TOKENS) - SPREAD**2 / 2
    source = random.lognormal(location, SPREAD, CORPUS_PAIRS)
    target = source * random.normal(1.0, RATIO_SPREAD, CORPUS_PAIRS).clip(0.4, 2.0)
    for side, lengths in (("source", source), ("target", target)):
        whole = lengths.round().astype(np.int64).clip(1, None)
        np.save(folder / f"{side}.offsets.npy", np.concatenate(([0], np.cumsum(whole))))
        np.save(folder / f"{side}.ids.npy", np.full(whole.sum(), 4, dtype=np.uint16))
    write_json(folder / "index.json", {"pairs": CORPUS_PAIRS, "vocabulary": 5})
    return ParallelData(folder)


def seconds_of(command: Sequence[str], rounds: int) -> float:
    """Median wall-clock time of a command that must succeed.

    Raises:
        BenchmarkError: it failed.
    """
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        taken.append(time.perf_counter() - started)
        if done.returncode:
            last = (done.stderr.strip() or "no message").split("\n")[-1]
            raise BenchmarkError(f"{' '.join(command)}: exit code {done.returncode}: {last}")
    return statistics.median(taken)


def imports_torch(command: Sequence[str]) -> bool:
    """Whether a Python program imports torch on its way."""
    environment = os.environ | {"PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.split("\n")}
    if "snakemake" not in imported:
        raise BenchmarkError(f"{' '.join(command)}: no list of imported modules")
    return "torch" in imported


def main() -> None:
    """Measure and print the section."""
    data, rounds = parse_options(__doc__)
    outside = share_outside(data)
    log(f"overhead: {outside:.2f}% of training is outside of computing")
    with tempfile.TemporaryDirectory() as folder:
        paper = padding(
            write_lengths(Path(folder)), PAPER_TOKENS, PAPER_MICRO_BATCHES, PAPER_MAX_LENGTH
        )
    run = [sys.executable, "-m", "snakemake", "--cores", "all"]
    dry_run = [*run, "--dry-run", "--config", "scale=paper"]
    dry_seconds = seconds_of(dry_run, rounds)
    torch = "imports torch" if imports_torch(dry_run) else "does not import torch"
    snakemake(SMOKE)
    again = seconds_of([*run, "--config", *(f"{k}={v}" for k, v in SMOKE.items())], rounds)
    print(f"""## What is not computing

{at_most("training outside forward, backward and optimizer", outside, 3, "%")}
{at_most("padding in batches at paper scale", paper, 5, "%")}
{at_most("snakemake --dry-run at paper scale, all rows", dry_seconds, 5, " s")}
{at_most("snakemake with nothing to do, scale smoke, base", again, 6, " s")}
* {data.about()}

Outside are choosing, reading and padding pairs, logging and saving; steps, model and checkpoints
are the scale's own ({STEPS} steps), validation is left out. Padding is of one epoch of
{CORPUS_PAIRS:,} pairs of made-up lengths as WMT14's, log-normal with a mean of {MEAN_TOKENS}
subwords, in steps of {PAPER_TOKENS:,} tokens a side cut into {PAPER_MICRO_BATCHES} buckets. The
dry run {torch}.
""")


if __name__ == "__main__":
    script(main)
