"""Beam search: sentences a second, beside JoeyNMT 2.3.0 with the same weights.

Example:
    python benchmarks/decode_joeynmt.py --scale demo

Prints a section of Markdown.
"""

import tempfile
from functools import partial
from pathlib import Path

from compare import (
    PEERS,
    THREADS,
    at_least,
    best,
    call_worker,
    in_turn,
    parse_options,
    script,
    table,
    write_lines,
)
from decoding import ALPHA, BEAM, Task
from joeynmt_weights import write_joeynmt_vocabulary, write_joeynmt_weights

SENTENCES = 192
BATCH_SIZE = 64
"""Sentences at a time, JoeyNMT's default."""
TARGET = 8.0


def joeynmt(task: Task, folder: Path, threads: int) -> float:
    """Sentences a second of JoeyNMT, which reads and writes subwords."""
    request = {
        "model": task.shape.model_dump(include={"N", "d_model", "d_ff", "h", "p_drop"}),
        "vocabulary": str(folder / "vocabulary.txt"),
        "weights": str(folder / "weights.npz"),
        "test": str(folder / "test"),
        "beam": BEAM,
        "alpha": ALPHA,
        "batch_size": BATCH_SIZE,
    }
    result = call_worker("joeynmt_decode.py", request, threads=threads, python=PEERS)
    return task.rate("JoeyNMT", result, subwords=True)


def main() -> None:
    """Measure in turn and print the section."""
    data, rounds = parse_options(__doc__)
    task = Task(data, SENTENCES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_joeynmt_vocabulary(data.model / "vocabulary.txt", folder / "vocabulary.txt")
        write_lines(folder / "test.en", task.subwords())
        write_joeynmt_weights(data.model, folder / "weights.npz")
        cases = {}
        for threads in THREADS:
            cases[f"aiayn, {threads} threads"] = partial(task.ours, threads)
            cases[f"JoeyNMT, {threads} threads"] = partial(joeynmt, task, folder, threads)
        measured = in_turn(cases, rounds)
    ratio = best(measured, "aiayn") / best(measured, "JoeyNMT")
    print(f"""## Beam search beside JoeyNMT 2.3.0

{at_least("beam search over JoeyNMT, each at its best number of threads", ratio, TARGET)}
* {data.about()}
* {task.about()}, alpha {ALPHA}, fp32
* {task.same("JoeyNMT")}

{table(measured, "sentences/s", f"JoeyNMT, {THREADS[-1]} threads")}

JoeyNMT has this project's weights under its own names and reads subwords; ours reads and writes
raw text. JoeyNMT decodes {BATCH_SIZE} sentences at a time and stops at 1.5 times the longest
source of a batch, its defaults. It normalizes by length within the beam, ours only between
finished translations, so some translations may differ.
""")


if __name__ == "__main__":
    script(main)
