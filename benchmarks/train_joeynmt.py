"""Training: target tokens a second, beside JoeyNMT 2.3.0 on the same subwords.

Example:
    python benchmarks/train_joeynmt.py --scale demo

Prints a section of Markdown.
"""

import tempfile
from functools import partial
from pathlib import Path

from compare import (
    PEERS,
    SMALL,
    THREADS,
    Prepared,
    at_least,
    best,
    call_worker,
    dimensions,
    in_turn,
    parse_options,
    script,
    short_training,
    table,
    tokens_per_second,
)
from joeynmt_weights import write_joeynmt_vocabulary

TOKENS, WARM_UP, STEPS = 1_200, 8, 32
"""Tokens of a batch; steps before the clock starts, and after."""
TARGET = 4.0


def ours(data: Prepared, threads: int, precision: str) -> float:
    """Tokens a second of this project."""
    training = short_training(WARM_UP + STEPS, TOKENS, threads, precision)
    return tokens_per_second(data.trained_by("aiayn_train.py", SMALL, training, threads), WARM_UP)


def joeynmt(data: Prepared, vocabulary: Path, threads: int) -> float:
    """Tokens a second of JoeyNMT."""
    text = data.folder / "bpe"
    request = {
        "train": str(text / data.train),
        "dev": str(text / data.dev),
        "vocabulary": str(vocabulary),
        "steps": WARM_UP + STEPS,
        "tokens_per_step": TOKENS,
        "model": SMALL,
    }
    result = call_worker("joeynmt_train.py", request, threads=threads, python=PEERS)
    return tokens_per_second(result, WARM_UP)


def main() -> None:
    """Measure in turn and print the section."""
    data, rounds = parse_options(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = Path(folder) / "vocabulary.txt"
        write_joeynmt_vocabulary(data.folder / "bpe/vocabulary.txt", vocabulary)
        cases = {}
        for threads in THREADS:
            for precision in ("auto", "fp32"):
                name = f"aiayn, {precision}, {threads} threads"
                cases[name] = partial(ours, data, threads, precision)
            cases[f"JoeyNMT, {threads} threads"] = partial(joeynmt, data, vocabulary, threads)
        measured = in_turn(cases, rounds)
    ratio = best(measured, "aiayn, auto") / best(measured, "JoeyNMT")
    print(f"""## Training beside JoeyNMT 2.3.0

{at_least("training over JoeyNMT, each at its best number of threads", ratio, TARGET)}
* {data.about()}
* {dimensions(SMALL)}, label smoothing 0.1, one shared and tied vocabulary
* batches of {TOKENS:,} tokens

{table(measured, "target tokens/s", f"JoeyNMT, {THREADS[-1]} threads")}

Target tokens without padding, over {STEPS - 1} steps after {WARM_UP} of warm-up: a step is
everything from one step's beginning to the next's. JoeyNMT counts padding into a batch's tokens
and does not sort by length; it also drops out attention weights and inside the feed-forward
networks, as it always does. It computes in fp32: it has no bf16 on CPUs.
""")


if __name__ == "__main__":
    script(main)
