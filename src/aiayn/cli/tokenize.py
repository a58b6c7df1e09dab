"""``aiayn tokenize``: clean, normalize and tokenize raw text as Moses does.

Example:
    aiayn tokenize --lang de --workers 2 --input raw/verses.de --output tokenized/verses.de

Writes the file ``--output`` whole, or standard output: one line for each ``\\n``-terminated line.
"""

from typing import Annotated

import typer

from aiayn.cli.options import InputFile, OutputFile, Workers


def tokenize(
    lang: Annotated[str, typer.Option(help="Language of the text.")],
    config: Annotated[str, typer.Option(help="Text section: {key: value} or a YAML file.")] = "",
    workers: Workers = 1,
    input: InputFile = None,
    output: OutputFile = None,
) -> None:
    """Clean, normalize and tokenize raw text."""
    from aiayn.config import TextConfig, parse_section
    from aiayn.text import tokenize_file

    text = parse_section(TextConfig, config, "--config")
    tokenize_file(input, output, lang, aggressive_hyphens=text.aggressive_hyphens, workers=workers)
