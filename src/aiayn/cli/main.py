"""``aiayn``: one command a stage, the same commands that the Snakemake rules call.

Example:
    aiayn translate --model results/demo/en-de/base/seed1 < raw.en > raw.de
"""

import importlib
import os
import sys
from typing import NoReturn

import typer

from aiayn.common.errors import UserError

# In the order in which data flows, then what to ask beforehand. Each module has one function,
# named as here.
COMMANDS = (
    "fetch",
    "extract",
    "tokenize",
    "clean",
    "learn-bpe",
    "apply-bpe",
    "binarize",
    "sanity",
    "train",
    "average",
    "translate",
    "losses",
    "export",
    "score",
    "significance",
    "attention",
    "layer-times",
    "report",
    "plan",
    "doctor",
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Attention Is All You Need, reproduced: one command a stage.",
)
for _command in COMMANDS:
    _module = importlib.import_module(f"aiayn.cli.{_command.replace('-', '_')}")
    app.command(_command)(getattr(_module, _command.replace("-", "_")))


def main() -> None:
    """Run a command; a mistake or a full disk is one line on standard error and exit code 2."""
    try:
        app()
    except UserError as error:
        print(f"aiayn: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            _reader_went_away()
        where = f"{error.filename}: " if error.filename else ""
        print(f"aiayn: {where}{error.strerror or error}", file=sys.stderr)
        sys.exit(2)
    except RuntimeError as error:
        if type(error).__name__ != "OutOfMemoryError":  # torch's; most commands do not import it
            raise
        print("aiayn: out of GPU memory; smaller batches need less", file=sys.stderr)
        sys.exit(2)


def _reader_went_away() -> NoReturn:
    # Nothing is wrong here; without this, Python would complain while flushing at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)
