"""How fast text becomes memory-mapped ids: seconds, lines a second, speed-up, peak memory.

Example:
    python benchmarks/prepare_data.py --pairs 500000 --output benchmarks/RESULTS.md

Makes a corpus (generated_corpus.py) in a temporary folder, runs the commands of ``aiayn`` on it
with one and with two workers, and prints a Markdown table. With ``--output`` the table is also
added to the end of that file, under a heading of its own.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from generated_corpus import write_corpus
from measure import Measured, run_measured
from tabulate import tabulate

from aiayn.common.files import read_lines, write_text
from aiayn.common.progress import log
from aiayn.common.provenance import git_commit, host

WORKERS = (1, 2)
TARGETS = {"4.5M": 4_500_000, "36M": 36_000_000}
"""Pairs of WMT14 EN-DE and EN-FR."""
LANGUAGES = ("en", "de")
AIAYN = [sys.executable, "-m", "aiayn"]
COUNT = """
import sys
from pathlib import Path
from aiayn.text import count_words

workers, *sources = sys.argv[1:]
count_words([Path(source) for source in sources], int(workers))
"""
"""The parallel part of learn-bpe, by itself."""

Commands = list[list[str]]


def steps(folder: Path, merges: int) -> dict[str, tuple[bool, Commands]]:
    """By name: whether the step takes ``--workers``, and its commands, run one after another."""
    raw, tokenized, clean, subwords = (
        [str(folder / f"{stage}.{lang}") for lang in LANGUAGES]
        for stage in ("raw", "tokenized", "clean", "bpe")
    )
    codes, vocabulary = f"--codes={folder}/codes", f"--vocabulary={folder}/vocabulary.txt"
    both = zip(LANGUAGES, raw, tokenized, strict=True)
    cleaning = ["--part=generated", f"--counts={folder}/clean.json"]
    cleaning += [f"--source={tokenized[0]}", f"--target={tokenized[1]}"]
    cleaning += [f"--output-source={clean[0]}", f"--output-target={clean[1]}"]
    learning = [*(f"--input={side}" for side in clean), f"--merges={merges}", codes, vocabulary]
    ids = [f"--source={subwords[0]}", f"--target={subwords[1]}", vocabulary]
    return {
        "tokenize": (
            True,
            [
                ["tokenize", f"--lang={lang}", f"--input={i}", f"--output={o}"]
                for lang, i, o in both
            ],
        ),
        "clean": (False, [["clean", *cleaning]]),
        "learn-bpe": (True, [["learn-bpe", *learning]]),
        "apply-bpe": (
            True,
            [
                ["apply-bpe", codes, f"--input={tokens}", f"--output={output}"]
                for tokens, output in zip(clean, subwords, strict=True)
            ],
        ),
        "binarize": (False, [["binarize", *ids, f"--output={folder}/batches"]]),
    }


def measure_all(folder: Path, merges: int) -> dict[str, list[Measured]]:
    """Each step with each number of workers; a step without workers is measured once."""
    results: dict[str, list[Measured]] = {}
    for name, (parallel, commands) in steps(folder, merges).items():
        if name == "learn-bpe":
            clean = [f"{folder}/clean.{lang}" for lang in LANGUAGES]
            results["count words"] = [
                run_measured([[sys.executable, "-c", COUNT, str(workers), *clean]])
                for workers in WORKERS
            ]
        results[name] = []
        for workers in WORKERS if parallel else WORKERS[:1]:
            option = [f"--workers={workers}"] if parallel else []
            log(f"benchmark: {name} {' '.join(option)}")
            results[name].append(
                run_measured([[*AIAYN, *command, *option] for command in commands])
            )
    return results


def table(results: dict[str, list[Measured]], pairs: int) -> str:
    """A row a step; times at the targets' sizes grow in proportion to the pairs."""
    rows = [_row(name, measured, pairs) for name, measured in results.items()]
    fastest = [runs[-1].seconds for name, runs in results.items() if name != "count words"]
    alone = [runs[0].seconds for name, runs in results.items() if name != "count words"]
    total = ["all", f"{sum(alone):,.1f}", f"{sum(fastest):,.1f}"]
    total += [f"{sum(alone) / sum(fastest):.2f}", f"{pairs / sum(fastest):,.0f} pairs", "", ""]
    rows.append([*total, *_extrapolated(sum(fastest), pairs)])
    headers = ["step", "s, 1 worker", "s, 2 workers", "speed-up", "lines/s", "MB, 1 worker"]
    headers += ["MB, 2 workers", *(f"at {name} pairs" for name in TARGETS)]
    return tabulate(
        rows,
        headers,
        tablefmt="github",
        disable_numparse=True,
        colalign=["left", *["right"] * (len(headers) - 1)],
    )


def _row(name: str, runs: Sequence[Measured], pairs: int) -> list[str]:
    seconds = [run.seconds for run in runs]
    several = len(runs) > 1
    return [
        f"{name} (part of learn-bpe)" if name == "count words" else name,
        f"{seconds[0]:,.1f}",
        f"{seconds[-1]:,.1f}" if several else "",
        f"{seconds[0] / seconds[-1]:.2f}" if several else "",
        f"{len(LANGUAGES) * pairs / seconds[-1]:,.0f}",
        f"{runs[0].peak_mb:,.0f}",
        f"{runs[-1].peak_mb:,.0f}" if several else "",
        *_extrapolated(seconds[-1], pairs),
    ]


def _extrapolated(seconds: float, pairs: int) -> list[str]:
    hours = [seconds * target / pairs / 3600 for target in TARGETS.values()]
    return [f"{each:.1f} h" if each >= 1 else f"{each * 60:.1f} min" for each in hours]


def describe(folder: Path, pairs: int) -> str:
    """The corpus in words: what decides how long the steps take."""
    sides = []
    for lang in LANGUAGES:
        words, different = 0, set()
        for line in read_lines(folder / f"raw.{lang}"):
            tokens = line.split()
            words += len(tokens)
            different.update(tokens)
        sides.append(
            f"{lang.upper()} {words / pairs:.1f} words a line, {len(different):,} different"
        )
    return "; ".join(sides)


def section(results: dict[str, list[Measured]], pairs: int, size: str) -> str:
    """The table under a heading, with what a reader needs to judge it."""
    machine = host()
    return f"""## Preparing data: {pairs:,} pairs

* `python benchmarks/prepare_data.py --pairs {pairs}`, {datetime.now(UTC):%Y-%m-%d}
* corpus (words between blanks): {size}
* machine: {machine["processor"]}, {os.cpu_count()} cores, {machine["system"]}
* commit: {git_commit()}

{table(results, pairs)}

A line is a sentence of one language. MB is the most memory that all processes of a step held at a
time, shared pages counted once. Times at WMT14's sizes grow in proportion to the pairs, from the
fastest run; for learn-bpe that is too much: its merges take time by different words, not by lines.
"""


def main() -> None:
    """Measure, print, and add to the file of results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=500_000, help="sentence pairs")
    parser.add_argument("--merges", type=int, default=32_000, help="BPE merges")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where to make temporary files")
    parser.add_argument("--output", type=Path, help="Markdown file to add the table to")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        write_corpus(folder, options.pairs, options.seed)
        size = describe(folder, options.pairs)
        results = measure_all(folder, options.merges)
    text = section(results, options.pairs, f"{size}, {options.merges:,} merges")
    print(text)
    if options.output:
        held = options.output.read_text(encoding="utf-8") if options.output.exists() else ""
        write_text(options.output, f"{held.rstrip()}\n\n{text}".lstrip())


if __name__ == "__main__":
    main()
