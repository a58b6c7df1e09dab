"""Whether the fastest mode learns as fp32 does: the loss after the same number of steps.

Example:
    python benchmarks/loss_by_mode.py --scale demo

Prints a section of Markdown.
"""

import statistics
from typing import Any

from compare import (
    SMALL,
    Prepared,
    at_most,
    dimensions,
    markdown,
    parse_options,
    script,
    short_training,
)

TOKENS, STEPS, LAST = 1_200, 300, 50
TARGET_PERCENT = 0.5


def train(data: Prepared, precision: str) -> dict[str, Any]:
    """What aiayn_train.py prints after ``STEPS`` steps."""
    training = short_training(STEPS, TOKENS, 2, precision) | {"warmup": 100}
    return data.trained_by("aiayn_train.py", SMALL, training, threads=2)


def main() -> None:
    """Train once in each mode and print the section."""
    data, _ = parse_options(__doc__)
    fast, exact = train(data, "auto"), train(data, "fp32")
    losses = {
        f"training, smoothed, mean of the last {LAST} steps": [
            statistics.mean(result["losses"][-LAST:]) for result in (fast, exact)
        ],
        "dev, not smoothed, after the last step": [fast["dev"], exact["dev"]],
    }
    off = {name: 100 * abs(a / b - 1) for name, (a, b) in losses.items()}
    rows = [[name, f"{a:.4f}", f"{b:.4f}", f"{off[name]:.2f}%"] for name, (a, b) in losses.items()]
    mode = fast["precision"]
    print(f"""## Loss of the fastest mode beside fp32

{at_most(f"loss after {STEPS} steps, {mode} off fp32", max(off.values()), TARGET_PERCENT, "%")}
* {data.about()}
* {dimensions(SMALL)}, batches of {TOKENS:,} tokens, the same seed

{markdown(rows, ["loss in nats a target token", f"auto: {mode}", "fp32", "off by"])}
""")


if __name__ == "__main__":
    script(main)
