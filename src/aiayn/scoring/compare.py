"""Paired tests of whole files, as ``significance.json`` holds them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aiayn.common.errors import UserError
from aiayn.common.named_files import parse_named
from aiayn.scoring.perplexity import compare_ppl, read_losses
from aiayn.scoring.score import read_both
from aiayn.scoring.significance import RESAMPLES, TRIALS, System, compare_bleu


def compare_files(
    arguments: Sequence[str], reference: Path, set_name: str = "", losses: Path | None = None
) -> dict[str, Any]:
    """Test every system against the first.

    Args:
        arguments: ``NAME=FILE`` of detokenized translations, a name given again is another
            seed; the first name is the baseline.
        reference: Raw reference, line for line.
        set_name: Name of the set, kept in the result.
        losses: What ``aiayn losses`` wrote for the same systems; perplexities are tested as well.

    Raises:
        UserError: an argument is malformed, a file is missing or not UTF-8, or the numbers of
            lines differ; the message names argument or file.
    """
    files = parse_named(arguments)
    if len(files) < 2:
        raise UserError("two systems are needed, each as NAME=FILE; the first is the baseline")
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
        "ppl": _ppl(losses, files) if losses else None,
    }


def _ppl(losses: Path, systems: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    found = read_losses(losses)
    for name, files in systems.items():
        if len(found.nll.get(name, ())) != len(files):
            raise UserError(f"{losses}: does not hold {len(files)} seeds of {name}")
    return compare_ppl(found, next(iter(systems)))
