"""``aiayn extract``: take one part or set of a corpus out of its archives.

Example:
    aiayn extract --corpus bible --pair en-de --part verses --output-dir raw \\
        --select '{max_words: 26, train_pairs: 2000}'

Writes ``raw/verses.en``, ``raw/verses.de`` and ``raw/verses.json`` (counts).
"""

from pathlib import Path
from typing import Annotated

import typer


def extract(
    corpus: Annotated[str, typer.Option(help="A corpus of config/corpora.yaml.")],
    pair: Annotated[str, typer.Option(help="Languages, source-target.")],
    part: Annotated[str, typer.Option(help="Part or set.")],
    output_dir: Annotated[Path, typer.Option(help="Folder to write to.")],
    downloads: Annotated[Path, typer.Option(help="Folder of the archives.")] = Path(
        "results/downloads"
    ),
    corpora_base: Annotated[
        str, typer.Option(help="Mirror that the archives come from; said when one must be fetched.")
    ] = "",
    select: Annotated[str, typer.Option(help="Selection: {key: value} or a YAML file.")] = "",
) -> None:
    """Take one part or set out of its archives, as raw parallel text."""
    from aiayn.config import load_catalogue, parse_section
    from aiayn.config.scales import SelectionConfig
    from aiayn.corpus.extract import extract as run

    run(
        load_catalogue(Path()),
        corpus,
        pair,
        part,
        downloads=downloads,
        output=output_dir,
        select=parse_section(SelectionConfig, select, "--select"),
        corpora_base=corpora_base,
    )
