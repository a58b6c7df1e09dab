"""How fast text becomes memory-mapped ids: seconds, lines a second, speed-up, peak memory.

Example:
    python benchmarks/prepare_data.py --pairs 100000 --pairs 500000

Makes a corpus of each size (generated_corpus.py) in a temporary folder, runs the commands of
``aiayn`` on it with one and with two workers, and prints Markdown: a table for each size.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from compare import at_least, at_most
from generated_corpus import write_corpus
from measure import Measured, measure_in_turn
from tabulate import tabulate

from aiayn.common.files import read_lines
from aiayn.common.progress import log
from aiayn.common.provenance import git_commit, host

WORKERS = (1, 2)
ROUNDS = 3
SIZES = (100_000, 500_000)
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
PART_OF_LEARNING = "count words (part of learn-bpe)"
SPEED_UP = 1.8
"""Asked of two workers over one, for ``ASKED_PAIRS``; the fewer, the more the start weighs."""
ASKED_PAIRS = 500_000
SECONDS = 480
"""Asked of all steps together, with two workers."""
PEAK_MB = 1_500

NOTES = f"""\
Times are the least of {ROUNDS} rounds, one worker and two in turn; memory has a run to itself.
A line is a sentence of one language. MB (10^6 bytes) is the most memory that all processes of a
step held at a time, as PSS: pages that several share count once. Times at WMT14's sizes grow in
proportion to the pairs, from the run with more workers; for learn-bpe that is too much: but for
counting, its time and memory grow with the different words, not with the lines."""

Commands = list[list[str]]


def steps(folder: Path, merges: int) -> dict[str, tuple[bool, Commands]]:
    """By name: whether the step takes ``--workers``, and its commands, run one after another."""
    raw, tokenized, clean, subwords = (
        [str(folder / f"{stage}.{lang}") for lang in LANGUAGES]
        for stage in ("raw", "tokenized", "clean", "bpe")
    )
    codes, vocabulary = f"--codes={folder}/codes", f"--vocabulary={folder}/vocabulary.txt"
    words = f"--words={folder}/words.txt"
    both = zip(LANGUAGES, raw, tokenized, strict=True)
    cleaning = ["--part=generated", f"--counts={folder}/clean.json"]
    cleaning += [f"--source={tokenized[0]}", f"--target={tokenized[1]}"]
    cleaning += [f"--output-source={clean[0]}", f"--output-target={clean[1]}"]
    learning = [
        *(f"--input={side}" for side in clean),
        f"--merges={merges}",
        codes,
        vocabulary,
        words,
    ]
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
                ["apply-bpe", codes, words, f"--input={tokens}", f"--output={output}"]
                for tokens, output in zip(clean, subwords, strict=True)
            ],
        ),
        "binarize": (False, [["binarize", *ids, f"--output={folder}/batches"]]),
    }


def measure_all(folder: Path, merges: int) -> dict[str, list[Measured]]:
    """Each step with each number of workers; a step without workers has one choice."""
    results: dict[str, list[Measured]] = {}
    for name, (parallel, commands) in steps(folder, merges).items():
        if name == "learn-bpe":
            results[PART_OF_LEARNING] = _measure(PART_OF_LEARNING, _counting(folder))
        options = [[f"--workers={workers}"] for workers in WORKERS] if parallel else [[]]
        choices = [[[*AIAYN, *command, *option] for command in commands] for option in options]
        results[name] = _measure(name, choices)
    return results


def _measure(name: str, choices: list[Commands]) -> list[Measured]:
    log(f"benchmark: {name}")
    return measure_in_turn(choices, ROUNDS)


def _counting(folder: Path) -> list[Commands]:
    clean = [f"{folder}/clean.{lang}" for lang in LANGUAGES]
    return [[[sys.executable, "-c", COUNT, str(workers), *clean]] for workers in WORKERS]


def table(results: dict[str, list[Measured]], pairs: int) -> str:
    """A row a step; times at the targets' sizes grow in proportion to the pairs."""
    rows = [_row(name, runs, pairs) for name, runs in results.items()]
    steps = _steps(results)
    alone, fastest = (_together(results, which) for which in (0, -1))
    cpu = sum(runs[-1].cpu_seconds for runs in steps)
    total = [f"{alone:,.1f}", f"{fastest:,.1f}", f"{cpu:,.1f}", f"{alone / fastest:.2f}"]
    most = [f"{max(runs[which].peak_mb for runs in steps):,.0f}" for which in (0, -1)]
    rate = f"{pairs / fastest:,.0f} pairs"
    rows.append(["all", *total, rate, *most, *_extrapolated(fastest, pairs)])
    headers = ["step", "s, 1 worker", "s, 2 workers", "CPU s, 2 workers", "speed-up", "lines/s"]
    headers += ["MB, 1 worker", "MB, 2 workers", *(f"at {name} pairs" for name in TARGETS)]
    return tabulate(
        rows,
        headers,
        tablefmt="github",
        disable_numparse=True,
        colalign=["left", *["right"] * (len(headers) - 1)],
    )


def _row(name: str, runs: Sequence[Measured], pairs: int) -> list[str]:
    first, last = runs[0], runs[-1]
    several = len(runs) > 1
    return [
        name,
        f"{first.seconds:,.1f}",
        f"{last.seconds:,.1f}" if several else "",
        f"{last.cpu_seconds:,.1f}",
        f"{first.seconds / last.seconds:.2f}" if several else "",
        f"{len(LANGUAGES) * pairs / last.seconds:,.0f}",
        f"{first.peak_mb:,.0f}",
        f"{last.peak_mb:,.0f}" if several else "",
        *_extrapolated(last.seconds, pairs),
    ]


def _extrapolated(seconds: float, pairs: int) -> list[str]:
    hours = [seconds * target / pairs / 3600 for target in TARGETS.values()]
    return [f"{each:.1f} h" if each >= 1 else f"{each * 60:.1f} min" for each in hours]


def targets(results: dict[str, list[Measured]], pairs: int) -> str:
    """The lines that run.py gathers: memory at every size, times at those that are asked for."""
    lines = []
    if pairs >= ASKED_PAIRS:
        for name in ("tokenize", PART_OF_LEARNING, "apply-bpe"):
            alone, both = results[name]
            what = f"{name}, {pairs:,} pairs, two workers over one"
            lines.append(at_least(what, alone.seconds / both.seconds, SPEED_UP))
        what = f"from text to ids, {pairs:,} pairs, two workers"
        lines.append(at_most(what, _together(results, -1), SECONDS, " s"))
    most = max(run.peak_mb for runs in results.values() for run in runs)
    lines.append(at_most(f"peak memory from text to ids, {pairs:,} pairs", most, PEAK_MB, " MB"))
    return "\n".join(lines)


def _together(results: dict[str, list[Measured]], which: int) -> float:
    """Seconds of all steps."""
    return sum(runs[which].seconds for runs in _steps(results))


def _steps(results: dict[str, list[Measured]]) -> list[list[Measured]]:
    """All but counting, which is in learn-bpe already."""
    return [runs for name, runs in results.items() if name != PART_OF_LEARNING]


def describe(folder: Path, pairs: int) -> str:
    """The tokenized corpus in numbers: what decides how long the steps take."""
    sides = []
    for lang in LANGUAGES:
        count, different = 0, set()
        for line in read_lines(folder / f"tokenized.{lang}"):
            tokens = line.split()
            count += len(tokens)
            different.update(tokens)
        sides.append(f"{lang.upper()} {count / pairs:.1f} a line, {len(different):,} different")
    return "; ".join(sides)


def section(folder: Path, pairs: int, merges: int) -> str:
    """Make a corpus, measure, and put the table under a heading with what it was made of."""
    write_corpus(folder, pairs, seed=1)
    results = measure_all(folder, merges)
    return f"""### {pairs:,} pairs

{targets(results, pairs)}

Tokens: {describe(folder, pairs)}.

{table(results, pairs)}
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, action="append", help="sentence pairs; repeatable")
    parser.add_argument("--merges", type=int, default=32_000, help="BPE merges")
    parser.add_argument("--folder", type=Path, help="where to make temporary files")
    options = parser.parse_args()
    machine = host()
    print(f"""## Preparing data

* `python benchmarks/{" ".join([Path(sys.argv[0]).name, *sys.argv[1:]])}`, \
{datetime.now(UTC):%Y-%m-%d}; {options.merges:,} merges
* machine: {machine["processor"]}, {os.cpu_count()} cores, {machine["system"]}
* commit: {git_commit()}
""")
    for pairs in options.pairs or SIZES:
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            print(section(Path(name), pairs, options.merges), flush=True)
    print(NOTES)


if __name__ == "__main__":
    main()
