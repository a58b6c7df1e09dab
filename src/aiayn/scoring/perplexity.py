"""A paired test of perplexities, from the loss of each dev pair.

The same test as for BLEU, by approximate randomization and a paired bootstrap; here a system's
score is a sum over pairs, so that an exchange is a change of sign.
"""

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aiayn.common.errors import UserError
from aiayn.common.files import open_lines
from aiayn.scoring.significance import SEED, TRIALS, Comparison, interval, resamples

COLUMNS = ["system", "seed", "pair", "tokens", "nll"]
Array = npt.NDArray[np.float64]


class Losses(NamedTuple):
    """-log p of each dev pair by system."""

    tokens: Array
    """Target tokens of each pair: [pairs]."""
    nll: dict[str, Array]
    """In nats: [seeds, pairs]."""


def read_losses(path: Path) -> Losses:
    """Read what ``aiayn losses`` wrote.

    Raises:
        UserError: the file has other columns or a bad line, or systems differ in pairs.
    """
    tokens: dict[tuple[str, str], list[float]] = defaultdict(list)
    nll: dict[tuple[str, str], list[float]] = defaultdict(list)
    with open_lines(path) as stream:
        reader = csv.DictReader(stream)
        if reader.fieldnames != COLUMNS:
            raise UserError(f"{path}: expected the columns {','.join(COLUMNS)}")
        try:
            for row in reader:
                model = row["system"], row["seed"]
                tokens[model].append(float(row["tokens"]))
                nll[model].append(float(row["nll"]))
        except (TypeError, ValueError):
            raise UserError(f"{path}, line {reader.line_num}: not {','.join(COLUMNS)}") from None
    if not tokens or any(own != next(iter(tokens.values())) for own in tokens.values()):
        raise UserError(f"{path}: its systems were not measured on the same pairs")
    seeds: dict[str, list[list[float]]] = defaultdict(list)
    for (system, _), values in nll.items():
        seeds[system].append(values)
    return Losses(
        np.array(next(iter(tokens.values()))),
        {system: np.array(values) for system, values in seeds.items()},
    )


def compare_ppl(losses: Losses, baseline: str) -> dict[str, Any]:
    """Test every system's perplexity against the baseline's.

    Returns:
        As a part of ``significance.json``: perplexities per BPE token; of several seeds,
        exp of their mean loss.
    """
    own = losses.nll[baseline]
    systems = {
        name: _compare(own, nll, losses.tokens)._asdict()
        for name, nll in losses.nll.items()
        if name != baseline
    }
    return {"baseline": _ppl(own.mean(0), losses.tokens), "systems": systems}


def _compare(own: Array, nll: Array, tokens: Array) -> Comparison:
    draws = resamples(len(tokens))
    difference = np.array([_ppl(values.mean(0), tokens) for values in (nll, own)])
    sampled = np.exp(draws @ nll.mean(0) / (draws @ tokens))
    sampled -= np.exp(draws @ own.mean(0) / (draws @ tokens))
    low, high = interval(sampled)
    ppl, own_ppl = difference.tolist()
    return Comparison(ppl, ppl - own_ppl, low, high, _randomization((nll - own).ravel()))


def _randomization(differences: Array) -> float:
    """Two-sided p-value of a sum of paired differences under random signs."""
    observed = abs(differences.sum())
    rng = np.random.default_rng(SEED)
    signs = rng.integers(2, size=(TRIALS, len(differences)), dtype=np.int8) * 2 - 1
    as_large = np.abs(signs @ differences) >= observed * (1 - 1e-12)
    return float((as_large.sum() + 1) / (TRIALS + 1))


def _ppl(nll: Array, tokens: Array) -> float:
    return float(np.exp(nll.sum() / tokens.sum()))
