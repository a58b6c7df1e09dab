"""Options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from aiayn.config import Project

Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Threads = Annotated[int, typer.Option(min=1, help="CPU threads.")]
Workers = Annotated[int, typer.Option(min=1, help="Processes; the output does not depend on it.")]
Beam = Annotated[int, typer.Option(min=1, help="Hypotheses kept; 1 is greedy.")]
Alpha = Annotated[float, typer.Option(min=0.0, help="Length penalty.")]
MaxExtra = Annotated[int, typer.Option(min=0, help="Longest output: input plus this.")]
InputFile = Annotated[Path | None, typer.Option("--input", help="Standard input when not given.")]
OutputFile = Annotated[
    Path | None, typer.Option("--output", help="Standard output when not given.")
]

# What config.yaml says, unless given; see configured_project.
Scale = Annotated[str | None, typer.Option(help="Scale; config.yaml's when absent.")]
Pairs = Annotated[str | None, typer.Option(help="Pairs, with commas; likewise.")]
Rows = Annotated[str | None, typer.Option(help="Rows, with commas; likewise.")]
Seeds = Annotated[str | None, typer.Option(help="Seeds, with commas; likewise.")]
Rehearsal = Annotated[bool, typer.Option(help="The scale's rehearsal.")]
SettingsText = Annotated[str, typer.Option("--settings", help="Keys of config.yaml: {key: value}.")]


def configured_project(
    scale: str | None,
    pairs: str | None,
    rows: str | None,
    seeds: str | None,
    rehearsal: bool,
    settings: str,
) -> "Project":
    """The configuration with what was given on the command line laid over it.

    Raises:
        UserError: one line naming the option or the file, and the key.
    """
    from aiayn.common.errors import UserError
    from aiayn.config import load_project
    from aiayn.config.yaml_files import parse_yaml

    overrides = parse_yaml(settings, "--settings") or {}
    if not isinstance(overrides, dict):
        raise UserError(f"--settings: expected {{key: value}}, found {settings!r}")
    given = {"scale": scale, "pairs": pairs, "rows": rows, "seeds": seeds}
    overrides |= {key: value for key, value in given.items() if value is not None}
    overrides |= {"rehearsal": True} if rehearsal else {}
    return load_project(overrides)
