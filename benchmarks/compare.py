"""What the comparisons share: their data, ours and a peer in turn, medians, Markdown.

Each script measures in processes of their own (workers/), so that a peer runs in its own
environment and both start alike, and prints one section of Markdown to standard output.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate

from aiayn.common.progress import log
from aiayn.config import load_project

ROOT = Path(__file__).parents[1]
WORKERS = ROOT / "benchmarks/workers"
PEERS = ROOT / ".venv-peers/bin/python"
"""Python of the peers' environment, made by ``make bench``."""
PAIR = "en-de"
THREADS = (1, 2)
SMALL = {"N": 2, "d_model": 256, "d_ff": 512, "h": 4, "p_drop": 0.1}
"""The model of the comparisons with JoeyNMT: one that trains on a CPU."""


class BenchmarkError(Exception):
    """A measurement that could not be made; the message says why in a line."""


@dataclass(frozen=True)
class Prepared:
    """A scale's data and base model, as the pipeline makes them."""

    scale: str
    folder: Path
    """``results/<scale>/en-de``"""
    train: str
    """The training part of ``folder / "bpe"``."""
    dev: str
    test: str
    """The test set of ``folder / "raw"``."""

    @property
    def model(self) -> Path:
        """The trained base model."""
        return self.folder / "base/seed1"

    def about(self) -> str:
        """What is measured on, in a line."""
        index = json.loads((self.folder / "batches/train/index.json").read_text("utf-8"))
        return (
            f"data: scale {self.scale}, {PAIR}, {index['pairs']:,} training pairs, "
            f"a vocabulary of {index['vocabulary']:,}"
        )

    def trained_by(
        self, worker: str, model: Mapping[str, Any], training: Mapping[str, Any], threads: int
    ) -> dict[str, Any]:
        """What a worker prints that trains ``model`` on these data."""
        request = {
            "data": str(self.folder / "batches"),
            "text": str(self.folder / "bpe"),
            "folder": str(self.folder),
            "model": model,
            "training": training,
        }
        return call_worker(worker, request, threads=threads)


def short_training(steps: int, tokens: int, threads: int, precision: str) -> dict[str, Any]:
    """A training section: ``steps`` steps of one micro-batch, saved and validated at the end."""
    at_the_end = dict.fromkeys(("steps", "checkpoint_every", "validate_every"), steps)
    step = {"tokens_per_step": tokens, "micro_batches": 1}
    return {**at_the_end, **step, "average": 1, "threads": threads, "precision": precision}


def parse_options(doc: str) -> tuple[Prepared, int]:
    """Read the command line and have the pipeline make what is missing.

    Returns:
        The data, and how often each side is measured.
    """
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("--scale", default="demo", help="scale whose data and model are used")
    parser.add_argument("--corpora-base", default="", help="as in config/config.yaml")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each side")
    options = parser.parse_args()
    settings = {"scale": options.scale, "pairs": PAIR, "rows": "base"}
    if options.corpora_base:
        settings["corpora_base"] = options.corpora_base
    snakemake(settings, "--until", "average")
    project = load_project(settings, ROOT)
    corpus = project.corpus_pair(PAIR)
    data = Prepared(
        scale=project.name,
        folder=ROOT / "results" / project.name / PAIR,
        train=corpus.train[0],
        dev=corpus.dev,
        test=corpus.tests[0],
    )
    return data, options.rounds


def snakemake(settings: Mapping[str, str], *arguments: str) -> None:
    """Run the pipeline with keys of config/config.yaml; its output goes to standard error."""
    words = ["snakemake", "--cores", "all", *arguments, "--config"]
    words += [f"{key}={value}" for key, value in settings.items()]
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=False)
    if done.returncode:
        raise BenchmarkError(f"{' '.join(words)}: exit code {done.returncode}")


def call_worker(
    name: str, request: Mapping[str, Any], *, threads: int, python: Path | str = sys.executable
) -> dict[str, Any]:
    """Run a script of workers/ and return what it printed last.

    Args:
        request: Handed over as JSON.
        threads: Of every library that computes.
        python: The interpreter; :data:`PEERS` for a peer.

    Raises:
        BenchmarkError: it failed; the message ends with its last line.
    """
    variables = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    try:
        done = subprocess.run(
            [str(python), str(WORKERS / name), json.dumps(request)],
            env=os.environ | dict.fromkeys(variables, str(threads)),
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise BenchmarkError(f"{python}: no such file; `make bench` makes it") from None
    if done.returncode:
        last = (done.stderr.strip() or "no message").split("\n")[-1]
        raise BenchmarkError(f"{name}: exit code {done.returncode}: {last}")
    return dict(json.loads(done.stdout.strip().split("\n")[-1]))


def tokens_per_second(result: Mapping[str, Any], warm_up: int) -> float:
    """Target tokens a second of a training worker, after ``warm_up`` steps.

    The last step has no end and is left out.
    """
    entered, tokens = result["entered"], result["tokens"]
    return float(sum(tokens[warm_up:-1]) / (entered[-1] - entered[warm_up]))


def in_turn(cases: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Measure every case once, then every case again: a slow minute hits all alike."""
    measured: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(1, rounds + 1):
        for name, measure in cases.items():
            measured[name].append(measure())
            log(f"round {number} of {rounds}: {name}: {measured[name][-1]:,.1f}")
    return measured


def table(measured: Mapping[str, Sequence[float]], unit: str, baseline: str) -> str:
    """A row a case: median, lowest and highest value, and the median over ``baseline``'s."""
    base = statistics.median(measured[baseline])
    rows = [
        [
            name,
            f"{statistics.median(values):,.1f}",
            f"{min(values):,.1f} to {max(values):,.1f}",
            f"{statistics.median(values) / base:.2f}",
        ]
        for name, values in measured.items()
    ]
    headers = ["", f"{unit}, median", "range", f"over {baseline}"]
    return markdown(rows, headers)


def markdown(rows: Sequence[Sequence[str]], headers: Sequence[str]) -> str:
    """A Markdown table, its first column to the left and the others to the right."""
    align = ["left", *["right"] * (len(headers) - 1)]
    return tabulate(rows, headers, tablefmt="github", disable_numparse=True, colalign=align)


def dimensions(model: Mapping[str, Any]) -> str:
    """A model's shape in words."""
    return ", ".join(f"{name} {value}" for name, value in model.items())


def at_least(what: str, value: float, target: float, unit: str = "x") -> str:
    """A line that run.py gathers: the value beside its target."""
    return _line(what, f"{value:.2f}{unit}", f"at least {target:g}{unit}", value >= target)


def at_most(what: str, value: float, target: float, unit: str) -> str:
    """A line that run.py gathers: the value beside its target."""
    return _line(what, f"{value:.2f}{unit}", f"at most {target:g}{unit}", value <= target)


def _line(what: str, value: str, target: str, met: bool) -> str:
    return f"* **{what}: {value}** (target {target}: {'met' if met else 'missed'})"


def best(measured: Mapping[str, Sequence[float]], prefix: str) -> float:
    """The highest median of the cases whose names start so: a side at its best."""
    return max(
        statistics.median(values) for name, values in measured.items() if name.startswith(prefix)
    )


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """Write a text file for a peer."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def script(main: Callable[[], None]) -> None:
    """Run a comparison; a measurement that failed is one line and exit code 1."""
    try:
        main()
    except BenchmarkError as error:
        log(str(error))
        sys.exit(1)
