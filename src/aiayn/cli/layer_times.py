"""``aiayn layer-times``: Table 1 measured, the time of a layer by its kind and sequence length.

Example:
    aiayn layer-times --output layer_times.json

Writes JSON: ``lengths``, ``seconds`` of a forward pass by kind of layer, and the machine.
``aiayn report`` draws it.
"""

from pathlib import Path
from typing import Annotated

import typer

from aiayn.cli.options import Device, Threads

DEFAULT_LENGTHS = "16,32,64,128,256,512,1024,2048"


def layer_times(
    output: Annotated[Path, typer.Option(help="JSON to write.")],
    lengths: Annotated[str, typer.Option(help="Sequence lengths, with commas.")] = DEFAULT_LENGTHS,
    device: Device = "auto",
    threads: Threads = 1,
) -> None:
    """Time self-attention, recurrent and convolutional layers of the paper's base width."""
    import torch

    from aiayn.analysis.layer_times import measure, parse_lengths
    from aiayn.common.files import write_json
    from aiayn.model.device import choose_device

    torch.set_num_threads(threads)
    write_json(output, measure(parse_lengths(lengths), choose_device(device)))
