"""``aiayn score``: BLEU of a translation by every convention, with bootstrap intervals.

Example:
    aiayn score --hyp hypothesis.test.de --ref test.de --lang de --set test

Prints JSON, or writes it whole to ``--output``: ``sacrebleu`` (with its signature), ``tokenized``
and ``compound_split`` (the paper's EN-FR and EN-DE conventions), each with ``_low`` and ``_high``.
"""

from pathlib import Path
from typing import Annotated

import typer

from aiayn.cli.options import OutputFile


def score(
    hyp: Annotated[Path, typer.Option(help="Detokenized translations, a line a segment.")],
    ref: Annotated[Path, typer.Option(help="Raw reference, line for line.")],
    lang: Annotated[str, typer.Option(help="Language of both, such as de.")],
    set: Annotated[str, typer.Option(help="Name of the set, kept in the output.")] = "",
    output: OutputFile = None,
) -> None:
    """Score a translation by every BLEU convention."""
    import json

    from aiayn.common.files import write_json
    from aiayn.scoring import score_files

    values = score_files(hyp, ref, lang, set).as_json()
    if output:
        write_json(output, values)
    else:
        typer.echo(json.dumps(values, indent=2, ensure_ascii=False))
