"""Beam search: sentences a second, beside CTranslate2 in float32 on the exported model.

Example:
    python benchmarks/decode_ctranslate2.py --scale demo

Prints a section of Markdown.
"""

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from compare import (
    PEERS,
    THREADS,
    WORKERS,
    BenchmarkError,
    at_least,
    best,
    call_worker,
    in_turn,
    parse_options,
    script,
    table,
)
from decoding import ALPHA, BEAM, Task

SENTENCES = 400
TARGET = 0.6
SAME_TEXT = {
    "beam_size": BEAM,
    "num_hypotheses": 2 * BEAM,
    "patience": 2,
    "length_penalty": 0,
    "min_decoding_length": 0,
    "return_scores": True,
}
"""Options of the exported README: the text of ``aiayn translate``."""
PLAIN = {"beam_size": BEAM, "length_penalty": ALPHA}
"""What most people would write."""


def export(model: Path, output: Path) -> None:
    """Export with ``aiayn export`` and the peers' CTranslate2.

    Raises:
        BenchmarkError: it failed.
    """
    packages = subprocess.run(
        [str(PEERS), "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    command = [sys.executable, str(WORKERS / "aiayn_export.py"), packages]
    done = subprocess.run([*command, f"--model={model}", str(output)], check=False)
    if done.returncode:
        raise BenchmarkError(f"aiayn export: exit code {done.returncode}")


def ctranslate2(
    task: Task, exported: Path, name: str, options: Mapping[str, Any], threads: int
) -> float:
    """Sentences a second of CTranslate2, which reads and writes subwords."""
    request = {
        "model": str(exported),
        "sources": task.subwords(),
        "threads": threads,
        "options": options,
        "alpha": ALPHA,
    }
    result = call_worker("ctranslate2_decode.py", request, threads=threads, python=PEERS)
    return task.rate(name, result, subwords=True)


def main() -> None:
    """Measure in turn and print the section."""
    data, rounds = parse_options(__doc__)
    task = Task(data, SENTENCES)
    ways = {"CTranslate2": SAME_TEXT, "CTranslate2, plain": PLAIN}
    with tempfile.TemporaryDirectory() as folder:
        exported = Path(folder) / "exported"
        export(data.model, exported)
        measured, ratios = {}, {}
        for threads in THREADS:
            cases = {"aiayn": partial(task.ours, threads)}
            for name, options in ways.items():
                cases[name] = partial(ctranslate2, task, exported, name, options, threads)
            measured[threads] = in_turn(cases, rounds)
            ratios[threads] = best(measured[threads], "aiayn") / best(measured[threads], "CT")
    targets = "\n".join(
        at_least(f"beam search over CTranslate2, {threads} threads", ratio, TARGET)
        for threads, ratio in ratios.items()
    )
    tables = "\n\n".join(
        f"{threads} threads\n\n{table(values, 'sentences/s', 'CTranslate2')}"
        for threads, values in measured.items()
    )
    print(f"""## Beam search beside CTranslate2

{targets}
* {data.about()}
* {task.about()}, float32
* {task.same("CTranslate2")}; called plainly, {task.same("CTranslate2, plain")}

{tables}

CTranslate2 has this model by `aiayn export` and reads subwords; ours reads and writes raw text.
CTranslate2 is called as the exported README says, which gives the text of `aiayn translate`
(alpha {ALPHA}), and plainly, with `length_penalty={ALPHA}`, which is another formula; the faster
one counts.
""")


if __name__ == "__main__":
    script(main)
