"""``aiayn sanity``: a tiny model must learn to copy before anything larger trains.

Example:
    aiayn sanity --output results/sanity.json

Writes JSON: ``{"copied": 0.998, "sequences": 500, "seconds": 31.2}``; exits with 1 below 99%.
"""

import time
from pathlib import Path
from typing import Annotated

import typer

from aiayn.cli.options import Threads

THRESHOLD = 0.99


def sanity(
    output: Annotated[Path | None, typer.Option(help="JSON to write.")] = None,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    threads: Threads = 1,
) -> None:
    """Train a tiny model to copy and check that it does."""
    import torch

    from aiayn.common.files import write_json
    from aiayn.decoding.copying import share_copied
    from aiayn.training.sanity import train_to_copy

    started = time.monotonic()
    torch.set_num_threads(threads)
    model, unseen = train_to_copy(seed)
    copied = share_copied(model, unseen)
    seconds = round(time.monotonic() - started, 1)
    typer.echo(
        f"sanity: {copied:.1%} of {len(unseen)} unseen sequences copied, {seconds} s", err=True
    )
    if copied < THRESHOLD:
        typer.echo(f"sanity: below {THRESHOLD:.0%}: something is broken; train nothing", err=True)
        raise typer.Exit(1)
    if output:
        write_json(output, {"copied": copied, "sequences": len(unseen), "seconds": seconds})
