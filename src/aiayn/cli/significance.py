"""``aiayn significance``: is the difference between systems more than chance?

Example:
    aiayn significance --ref test.de --set test base=base.de A1=one-head.de

The first name is the baseline, which every other system is tested against; a name given again is
another seed of the same system. Prints JSON, or writes it whole to ``--output``: for each system
its sacreBLEU, its difference to the baseline with the 95% interval, and the p-value; with
``--losses`` the same for its perplexity.
"""

from pathlib import Path
from typing import Annotated

import typer

from aiayn.cli.options import OutputFile


def significance(
    systems: Annotated[list[str], typer.Argument(help="NAME=FILE of translations.")],
    ref: Annotated[Path, typer.Option(help="Raw reference, line for line.")],
    set: Annotated[str, typer.Option(help="Name of the set, kept in the output.")] = "",
    losses: Annotated[Path | None, typer.Option(help="What `aiayn losses` wrote.")] = None,
    output: OutputFile = None,
) -> None:
    """Test every system against the first by paired approximate randomization."""
    import json

    from aiayn.common.files import write_json
    from aiayn.scoring.compare import compare_files

    values = compare_files(systems, ref, set, losses)
    if output:
        write_json(output, values)
    else:
        typer.echo(json.dumps(values, indent=2, ensure_ascii=False))
