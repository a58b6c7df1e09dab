"""``aiayn clean``: drop training pairs that would do harm, and count them by reason.

Example:
    aiayn clean --source tokenized/verses.en --target tokenized/verses.de --part verses \\
        --output-source clean/verses.en --output-target clean/verses.de \\
        --counts clean/verses.json --held-out tokenized/dev.en --held-out tokenized/test.en

Writes both sides of the pairs that stay, and the counts as JSON.
"""

from pathlib import Path
from typing import Annotated

import typer


def clean(
    source: Annotated[Path, typer.Option(help="Tokenized source side.")],
    target: Annotated[Path, typer.Option(help="Tokenized target side, aligned with it.")],
    output_source: Annotated[Path, typer.Option(help="Source side of the pairs that stay.")],
    output_target: Annotated[Path, typer.Option(help="Target side of the pairs that stay.")],
    counts: Annotated[Path, typer.Option(help="JSON of the counts to write.")],
    part: Annotated[str, typer.Option(help="Name of the part, for the counts.")],
    config: Annotated[str, typer.Option(help="Cleaning section: {key: value} or YAML.")] = "",
    held_out: Annotated[
        list[Path] | None, typer.Option(help="Tokenized source of a held-out set; repeatable.")
    ] = None,
) -> None:
    """Drop training pairs that would do harm, and count them by reason."""
    from aiayn.config import CleaningConfig, parse_section
    from aiayn.corpus.clean import clean as run

    run(
        source,
        target,
        output_source,
        output_target,
        counts,
        part=part,
        config=parse_section(CleaningConfig, config, "--config"),
        held_out=held_out or (),
    )
