"""Paired tests of whole files, as ``significance.<set>.json`` holds them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aiayn.common.errors import UserError
from aiayn.scoring.score import read_both
from aiayn.scoring.significance import RESAMPLES, TRIALS, System, compare_bleu


def parse_systems(arguments: Sequence[str]) -> dict[str, list[Path]]:
    """``NAME=FILE`` by name, in order; a name given again is another seed.

    Raises:
        UserError: an argument has another form, there is no second system, or the systems have
            different numbers of seeds.
    """
    systems: dict[str, list[Path]] = {}
    for argument in arguments:
        name, separator, path = argument.partition("=")
        if not (name and separator and path):
            raise UserError(f"{argument!r}: expected NAME=FILE")
        systems.setdefault(name, []).append(Path(path))
    if len(systems) < 2:
        raise UserError("two systems are needed, each as NAME=FILE; the first is the baseline")
    baseline, *others = systems
    for name in others:
        if len(systems[name]) != len(systems[baseline]):
            raise UserError(
                f"{name} has {len(systems[name])} seeds but {baseline} has "
                f"{len(systems[baseline])}"
            )
    return systems


def compare_files(arguments: Sequence[str], reference: Path, set_name: str = "") -> dict[str, Any]:
    """Test every system against the first.

    Args:
        arguments: ``NAME=FILE`` of detokenized translations, as :func:`parse_systems` reads them.
        reference: Raw reference, line for line.
        set_name: Name of the set, kept in the result.

    Raises:
        UserError: an argument is malformed, a file is missing or not UTF-8, or the numbers of
            lines differ; the message names argument or file.
    """
    files = parse_systems(arguments)
    texts: dict[str, System] = {}
    references: list[str] = []
    for name, paths in files.items():
        both = [read_both(path, reference) for path in paths]
        texts[name], references = [hypotheses for hypotheses, _ in both], both[0][1]
    baseline, *others = files
    bleu = compare_bleu(texts[baseline], {name: texts[name] for name in others}, references)
    return {
        "set": set_name,
        "segments": len(references),
        "seeds": len(files[baseline]),
        "baseline": baseline,
        "trials": TRIALS,
        "resamples": RESAMPLES,
        "bleu": bleu.as_json(),
    }
