"""Text preparation beside the command lines of sacremoses and subword-nmt, two processes each.

Example:
    python benchmarks/text_speed.py --pairs 50000

Makes a corpus (generated_corpus.py) in a temporary folder and lets both tokenize it, learn BPE and
apply it. Each reads the same input; their outputs are compared, line by line. Prints Markdown:
medians of several runs, taken in turn, and the ratios.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import NamedTuple

from compare import at_least
from generated_corpus import TAILS, write_corpus
from sacremoses.util import xml_unescape
from tabulate import tabulate

from aiayn.common.files import read_lines
from aiayn.common.progress import log
from aiayn.common.provenance import git_commit, host

PROCESSES = "2"
TOGETHER = "tokenize + apply-bpe"
BIN = Path(sys.executable).parent


class Command(NamedTuple):
    """A command that reads its standard input, and the file it writes on standard output."""

    words: list[str]
    source: Path
    output: Path

    def seconds(self) -> float:
        """Run it; the wall-clock time that it takes.

        Raises:
            subprocess.CalledProcessError: it failed.
        """
        with self.source.open("rb") as source, self.output.open("wb") as output:
            started = time.perf_counter()
            words = [str(BIN / self.words[0]), *self.words[1:]]
            subprocess.run(
                words, stdin=source, stdout=output, stderr=subprocess.DEVNULL, check=True
            )
            return time.perf_counter() - started


class Step(NamedTuple):
    """What both tools do, once for each file."""

    name: str
    ours: list[Command]
    theirs: list[Command]


class Compared(NamedTuple):
    """What a step took, and whether the outputs are the same."""

    ours: float
    theirs: float
    lines: int
    differing: int


def steps(folder: Path, merges: int) -> list[Step]:
    """The three steps. Later ones read what ours made, so that both have the same input."""
    tokenize, apply = Step("tokenize", [], []), Step("apply-bpe", [], [])
    codes, joint = folder / "codes", folder / "tokens.both"
    for lang in TAILS:
        raw, tokens, subwords = (folder / f"{name}.{lang}" for name in ("raw", "tokens", "bpe"))
        ours = ["aiayn", "tokenize", f"--lang={lang}", f"--workers={PROCESSES}"]
        theirs = ["sacremoses", "-q", "-l", lang, "-j", PROCESSES, "normalize", "tokenize"]
        tokenize.ours.append(Command(ours, raw, tokens))
        tokenize.theirs.append(Command(theirs, raw, _theirs(tokens)))
        ours = ["aiayn", "apply-bpe", f"--codes={codes}", f"--workers={PROCESSES}"]
        # subword-nmt works in parallel on named files alone.
        theirs = ["subword-nmt", "apply-bpe", "-c", str(codes), "-i", str(tokens)]
        apply.ours.append(Command(ours, tokens, subwords))
        theirs += ["--num-workers", PROCESSES]
        apply.theirs.append(Command(theirs, tokens, _theirs(subwords)))
    ours = ["aiayn", "learn-bpe", f"--input={joint}", f"--merges={merges}", f"--codes={codes}"]
    ours += [f"--vocabulary={folder}/vocabulary.txt", f"--workers={PROCESSES}"]
    theirs = ["subword-nmt", "learn-bpe", "-s", str(merges), "-i", str(joint)]
    theirs += ["--num-workers", PROCESSES]
    learn = Step(
        "learn-bpe",
        [Command(ours, joint, folder / "nothing")],
        [Command(theirs, joint, _theirs(codes))],
    )
    return [tokenize, learn, apply]


def _theirs(path: Path) -> Path:
    return path.with_name(f"theirs.{path.name}")


def compare(step: Step, outputs: list[Path], runs: int) -> Compared:
    """Run both in turn; then look at each line of what they wrote."""
    ours, theirs = [], []
    for run in range(runs):
        log(f"benchmark: {step.name}, run {run + 1} of {runs}")
        ours.append(sum(command.seconds() for command in step.ours))
        theirs.append(sum(command.seconds() for command in step.theirs))
    lines = differing = 0
    for path in outputs:
        # sacremoses's command line always writes &quot; for ", whatever its --xml-escape.
        pairs = zip(read_lines(path), map(xml_unescape, read_lines(_theirs(path))), strict=True)
        for mine, other in pairs:
            lines, differing = lines + 1, differing + (mine != other)
    return Compared(median(ours), median(theirs), lines, differing)


def measure(folder: Path, merges: int, runs: int) -> dict[str, Compared]:
    """All steps; learning, which takes the others minutes, is run once."""
    tokenize, learn, apply = steps(folder, merges)
    results = {}
    tokens = [command.output for command in tokenize.ours]
    results[tokenize.name] = compare(tokenize, tokens, runs)
    with (folder / "tokens.both").open("wb") as joint:
        joint.writelines(path.read_bytes() for path in tokens)
    results[f"{learn.name} ({merges:,} merges)"] = compare(learn, [folder / "codes"], 1)
    results[apply.name] = compare(apply, [command.output for command in apply.ours], runs)
    return results


def add_together(results: dict[str, Compared]) -> None:
    """Add a row of tokenizing and applying BPE, one after the other."""
    tokenize, _, apply = results.values()
    results[TOGETHER] = Compared(
        tokenize.ours + apply.ours,
        tokenize.theirs + apply.theirs,
        tokenize.lines,
        tokenize.differing + apply.differing,
    )


def table(results: dict[str, Compared]) -> str:
    """A row a step."""
    rows = [_row(name, compared) for name, compared in results.items()]
    headers = ["step", "aiayn, s", "peer, s", "aiayn, lines/s", "peer, lines/s", "ratio"]
    headers.append("lines of output that differ")
    align = ["left", *["right"] * (len(headers) - 1)]
    return tabulate(rows, headers, tablefmt="github", disable_numparse=True, colalign=align)


def _row(name: str, compared: Compared) -> list[str]:
    ours, theirs, lines, differing = compared
    rates = ["", ""] if name.startswith("learn") else [f"{lines / s:,.0f}" for s in (ours, theirs)]
    return [
        name,
        f"{ours:.1f}",
        f"{theirs:.1f}",
        *rates,
        f"{theirs / ours:.2f}",
        f"{differing:,} of {lines:,}",
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=50_000, help="sentence pairs")
    parser.add_argument("--merges", type=int, default=4_000, help="BPE merges")
    parser.add_argument("--runs", type=int, default=3, help="runs; their median counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        write_corpus(Path(name), options.pairs, seed=1)
        results = measure(Path(name), options.merges, options.runs)
    add_together(results)
    together = results[TOGETHER]
    ratio = together.theirs / together.ours
    machine = host()
    print(f"""## Text preparation beside sacremoses and subword-nmt

{at_least("tokenizing and applying BPE beside sacremoses and subword-nmt", ratio, 1.3)}
* `python benchmarks/text_speed.py --pairs {options.pairs} --merges {options.merges}`, \
{datetime.now(UTC):%Y-%m-%d}
* command lines of sacremoses {version("sacremoses")} (`normalize tokenize`) and subword-nmt \
{version("subword-nmt")}; {PROCESSES} processes each
* median of {options.runs} runs taken in turn, of learn-bpe one; seconds include the start of Python
* machine: {machine["processor"]}, {os.cpu_count()} cores, {machine["system"]}
* commit: {git_commit()}

{table(results)}

A line of tokenize and apply-bpe is a sentence, of learn-bpe a merge. Both have the same input, and
their outputs are compared without Moses's escapes (`&quot;`), which sacremoses always writes.""")


if __name__ == "__main__":
    main()
