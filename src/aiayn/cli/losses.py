"""``aiayn losses``: the loss of each dev pair under trained models, for paired tests.

Example:
    aiayn losses --data results/demo/en-de/batches/dev base=results/demo/en-de/base/seed1/last

A name given again is another seed of the same system. Writes ``--output`` whole: CSV with a line
for each system, seed and pair: ``system,seed,pair,tokens,nll`` (nats, without label smoothing).
"""

from pathlib import Path
from typing import Annotated

import typer

from aiayn.cli.options import Device, OutputFile, Threads


def losses(
    models: Annotated[list[str], typer.Argument(help="NAME=FOLDER of models.")],
    data: Annotated[Path, typer.Option(help="Binarized dev set.")],
    max_length: Annotated[int, typer.Option(min=1, help="Longer pairs are left out.")] = 256,
    output: OutputFile = None,
    device: Device = "auto",
    threads: Threads = 1,
) -> None:
    """Measure each dev pair under each model."""
    import torch

    from aiayn.batches import ParallelData
    from aiayn.common.lines import output_lines
    from aiayn.common.named_files import parse_named
    from aiayn.common.progress import track
    from aiayn.decoding.losses import pair_losses
    from aiayn.model.device import choose_device

    torch.set_num_threads(threads)
    named, pairs, chosen = parse_named(models), ParallelData(data), choose_device(device)
    folders = [
        (name, seed, folder)
        for name, of_seeds in named.items()
        for seed, folder in enumerate(of_seeds, start=1)
    ]
    with output_lines(output) as write:
        write("system,seed,pair,tokens,nll")
        for name, seed, folder in track(folders, "losses", total=len(folders), unit="models"):
            for loss in pair_losses(folder, pairs, max_length, chosen):
                write(f"{name},{seed},{loss.pair},{loss.tokens},{loss.nll:.6f}")
