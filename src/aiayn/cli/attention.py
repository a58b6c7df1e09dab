"""``aiayn attention``: attention weights of a trained model on chosen sentences.

Example:
    aiayn attention --model results/demo/en-de/base/seed1 \\
        --text results/demo/en-de/raw/test.en --output attention.json

Writes JSON: ``layer``, ``layers`` and ``sentences``, the paper's two and two of ``--text``; each
has ``source``, ``origin``, ``unknown`` (subwords that the vocabulary lacks; then nothing else),
``source_tokens``, ``target_tokens``, and ``encoder``, ``decoder``, ``cross``: weights by head,
query and position. ``aiayn report`` draws it.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from aiayn.cli.options import Alpha, Beam, Device, MaxExtra, Threads


def attention(
    model: Annotated[Path, typer.Option(help="Model folder.")],
    text: Annotated[Path, typer.Option(help="Raw text of a set, to choose sentences from.")],
    output: Annotated[Path, typer.Option(help="JSON to write.")],
    layer: Annotated[int | None, typer.Option(help="From 1; the last but one by default.")] = None,
    beam: Beam = 4,
    alpha: Alpha = 0.6,
    max_extra: MaxExtra = 50,
    device: Device = "auto",
    threads: Threads = 1,
) -> None:
    """Write attention weights on the paper's sentences and two of a set."""
    import torch

    from aiayn.analysis.attention_maps import AttentionMaps, chosen_sentences
    from aiayn.common.errors import UserError
    from aiayn.common.files import read_lines, write_text
    from aiayn.common.progress import track
    from aiayn.config import DecodingConfig
    from aiayn.decoding import Translator
    from aiayn.model.device import choose_device

    torch.set_num_threads(threads)
    config = DecodingConfig(beam=beam, alpha=alpha, max_extra=max_extra)
    sentences = chosen_sentences(read_lines(text), text.stem)
    translator = Translator(model, choose_device(device))
    try:
        maps = AttentionMaps(translator, layer)
    except ValueError as error:
        raise UserError(f"--layer: {error}") from None
    records = [
        maps.describe(sentence, config)
        for sentence in track(sentences, "attention", total=len(sentences), unit="sentences")
    ]
    depth = translator.model.config.N
    found = {"layer": maps.layer, "layers": depth, "sentences": records}
    write_text(output, json.dumps(found, ensure_ascii=False) + "\n")
