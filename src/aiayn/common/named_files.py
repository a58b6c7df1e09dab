"""``NAME=PATH`` arguments: several systems, each with a file or folder a seed."""

from collections.abc import Sequence
from pathlib import Path

from aiayn.common.errors import UserError


def parse_named(arguments: Sequence[str]) -> dict[str, list[Path]]:
    """Paths by name, in order; a name given again is another seed of the same system.

    Raises:
        UserError: an argument has another form, or the names have different numbers of seeds.
    """
    named: dict[str, list[Path]] = {}
    for argument in arguments:
        name, separator, path = argument.partition("=")
        if not (name and separator and path):
            raise UserError(f"{argument!r}: expected NAME=PATH")
        named.setdefault(name, []).append(Path(path))
    first = next(iter(named))
    for name, paths in named.items():
        if len(paths) != len(named[first]):
            raise UserError(f"{name} has {len(paths)} seeds but {first} has {len(named[first])}")
    return named
