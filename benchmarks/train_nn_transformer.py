"""Training the base model: target tokens a second, beside torch.nn.Transformer in fp32.

Example:
    python benchmarks/train_nn_transformer.py --scale demo

Prints a section of Markdown.
"""

import os
import statistics
from functools import partial

from compare import (
    Prepared,
    at_least,
    dimensions,
    in_turn,
    parse_options,
    script,
    short_training,
    table,
    tokens_per_second,
)

BASE = {"N": 6, "d_model": 512, "d_ff": 2048, "h": 8, "p_drop": 0.1}
TOKENS, WARM_UP, STEPS = 3_000, 2, 4
TARGET = 1.6


def measure(data: Prepared, worker: str, precision: str, threads: int) -> float:
    """Tokens a second of a worker; both read the same request."""
    training = short_training(WARM_UP + STEPS, TOKENS, threads, precision)
    return tokens_per_second(data.trained_by(worker, BASE, training, threads), WARM_UP)


def main() -> None:
    """Measure in turn and print the section."""
    data, rounds = parse_options(__doc__)
    threads = os.cpu_count() or 1
    peer = "nn.Transformer, fp32"
    measured = in_turn(
        {
            "aiayn, auto": partial(measure, data, "aiayn_train.py", "auto", threads),
            "aiayn, fp32": partial(measure, data, "aiayn_train.py", "fp32", threads),
            peer: partial(measure, data, "nn_transformer_train.py", "fp32", threads),
        },
        rounds,
    )
    ratio = statistics.median(measured["aiayn, auto"]) / statistics.median(measured[peer])
    print(f"""## Training the base model beside torch.nn.Transformer

{at_least("training over nn.Transformer in fp32", ratio, TARGET)}
* {data.about()}
* {dimensions(BASE)}, label smoothing 0.1, tied embeddings
* batches of {TOKENS:,} tokens, {threads} threads

{table(measured, "target tokens/s", peer)}

Target tokens without padding, over {STEPS - 1} steps after {WARM_UP} of warm-up; both take the same
batches in the same order, with the same fused Adam. nn.Transformer also drops out attention
weights and inside the feed-forward networks, and ends each stack with one more layer norm.
""")


if __name__ == "__main__":
    script(main)
