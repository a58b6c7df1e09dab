"""Every comparison, one after another, and their results in one file.

Example:
    python benchmarks/run.py --scale demo --output benchmarks/RESULTS.md

Writes the file of results; a comparison that fails is in it with its reason, and the others go on.
"""

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from machine import describe
from tabulate import tabulate

from aiayn.common.files import write_text
from aiayn.common.progress import log

FOLDER = Path(__file__).parent
ON_A_SCALE = (
    "train_joeynmt.py",
    "train_nn_transformer.py",
    "loss_by_mode.py",
    "decode_joeynmt.py",
    "decode_ctranslate2.py",
    "overhead.py",
)
"""They take a scale's data and model."""
ON_GENERATED_TEXT = ("text_speed.py", "prepare_data.py")
TARGET = re.compile(
    r"^\* \*\*(?P<what>.+): (?P<value>.+)\*\* \(target (?P<target>.+): (?P<met>.+)\)$"
)
"""The lines of a section that compare.at_least and compare.at_most make."""


class Section(NamedTuple):
    """What a script printed, or why it did not."""

    script: str
    text: str
    seconds: float
    failure: str = ""


def run(script: str, options: list[str]) -> Section:
    """Run one script; its progress goes to standard error as it comes."""
    log(f"benchmark: {script}")
    started = time.monotonic()
    command = [sys.executable, str(FOLDER / script), *options]
    last = "no message"
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stderr:
            print(line, file=sys.stderr, end="", flush=True)
            last = line.strip() or last
        text = process.stdout.read().strip()
    seconds = time.monotonic() - started
    failure = f"exit code {process.returncode}: {last}" if process.returncode else ""
    return Section(script, text, seconds, failure)


def summary(sections: list[Section]) -> str:
    """A table of all targets."""
    rows = []
    for section in sections:
        if section.failure:
            rows.append([section.script, "failed", "", "failed"])
        for line in section.text.split("\n"):
            if match := TARGET.fullmatch(line):
                rows.append([match["what"], match["value"], match["target"], match["met"]])
    return tabulate(rows, ["", "measured", "target", ""], tablefmt="github", disable_numparse=True)


def results(sections: list[Section], machine: str) -> str:
    """The whole file."""
    minutes = sum(section.seconds for section in sections) / 60
    parts = [f"# Results of `make bench`\n\n{machine}* it took {minutes:.0f} minutes"]
    parts.append(summary(sections))
    for section in sections:
        failed = f"## {section.script}\n\nFailed. {section.failure}"
        parts.append(failed if section.failure else section.text)
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Run all and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=FOLDER / "RESULTS.md")
    parser.add_argument("--scale", default="demo")
    parser.add_argument("--corpora-base", default="")
    parser.add_argument("--rounds", default="3", help="measurements of each side")
    options = parser.parse_args()
    machine = describe()
    scale = [f"--scale={options.scale}", f"--corpora-base={options.corpora_base}"]
    scale += [f"--rounds={options.rounds}"]
    sections = [run(script, scale) for script in ON_A_SCALE]
    sections += [run(script, []) for script in ON_GENERATED_TEXT]
    write_text(options.output, results(sections, machine))
    log(f"benchmarks: {options.output}")


if __name__ == "__main__":
    main()
