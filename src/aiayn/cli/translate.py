"""``aiayn translate``: raw text in, detokenized text out, a line a line.

Example:
    aiayn translate --model results/demo/en-de/base/seed1 < raw.en > raw.de

Writes standard output, or the file ``--output`` whole.
"""

from pathlib import Path
from typing import Annotated

import typer

from aiayn.cli.options import Alpha, Beam, Device, InputFile, MaxExtra, OutputFile, Threads


def translate(
    model: Annotated[Path, typer.Option(help="Model folder.")],
    input: InputFile = None,
    output: OutputFile = None,
    beam: Beam = 4,
    alpha: Alpha = 0.6,
    max_extra: MaxExtra = 50,
    batch_tokens: Annotated[
        int, typer.Option(min=1, help="Source tokens at once; 8 times as many on a GPU.")
    ] = 2_000,
    device: Device = "auto",
    threads: Threads = 1,
) -> None:
    """Translate raw text, a line a line."""
    import torch

    from aiayn.common.lines import input_lines, output_lines
    from aiayn.config import DecodingConfig
    from aiayn.decoding.translator import Translator
    from aiayn.model.device import choose_device

    torch.set_num_threads(1)
    config = DecodingConfig(beam=beam, alpha=alpha, max_extra=max_extra, batch_tokens=batch_tokens)
    translator = Translator(model, choose_device(device), threads)
    with output_lines(output) as write:
        for line in translator.translate(input_lines(input), config):
            write(line)
