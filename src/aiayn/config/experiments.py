"""config/experiments.yaml: each row of Tables 2 and 3 (Section 6.2) as its difference from base.

A difference is a plain value (``p_drop: 0.2``) or a ratio of the base value (``h: /8``,
``d_ff: "*2"``, ``N: "*2/3"``), so that the same row keeps its shape around a smaller base. Around
the paper's base every ratio is exact; elsewhere it is rounded, and at least 1.
"""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from aiayn.common.errors import UserError
from aiayn.config.sections import ModelConfig, TrainingConfig
from aiayn.config.yaml_files import Section, read_yaml, validate

EXPERIMENTS_FILE = "config/experiments.yaml"
_WHOLE = r"[1-9]\d*"
_RATIO = re.compile(rf"^(?:\*(?P<times>{_WHOLE})(?:/(?P<over>{_WHOLE}))?|/(?P<by>{_WHOLE}))$")

Difference = dict[str, int | float | str]


class Experiment(Section):
    """One row: its group in Table 3, its difference from base, and what differs for a pair."""

    group: Literal["base", "A", "B", "C", "D", "E", "big", "own"]
    """Group of Table 3; ``own`` for a row of yours."""
    change: Difference = {}
    """Keys of the model or training section, each a value or a ratio of base's."""
    pairs: dict[str, Difference] = {}
    """Further changes for one language pair."""
    table2: bool = False
    """Also averaged and scored on the test set for Table 2."""


def load_experiments(root: Path) -> dict[str, Experiment]:
    """Read every row: base, then the others in the file's order, which is the paper's.

    Raises:
        UserError: one line naming the file and the key.
    """
    rows = {}
    for name, value in read_yaml(root / EXPERIMENTS_FILE).items():
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
            raise UserError(
                f"{EXPERIMENTS_FILE}: {name}: a row's name is a letter, then letters and digits"
            )
        rows[name] = validate(Experiment, value, f"{EXPERIMENTS_FILE}: {name}")
    if "base" not in rows:
        raise UserError(f"{EXPERIMENTS_FILE}: base: every other row is a difference from it")
    return {"base": rows["base"], **rows}


def _apply(base: dict[str, Any], key: str, change: int | float | str) -> Any:
    """A plain value as it is; a ratio of base's value rounded to a whole number, at least 1.

    Raises:
        ValueError: a ratio that is none, or of what is no whole number.
    """
    if not isinstance(change, str) or change[:1] not in ("*", "/"):
        return change
    match = _RATIO.match(change)
    if match is None:
        raise ValueError(f"{change!r} is no ratio; ratios are such as /8, *2 or *2/3")
    if type(base[key]) is not int:
        raise ValueError(f"a ratio needs a whole number, and base's is {base[key]}; give the value")
    if match["by"]:
        ratio = Fraction(1, int(match["by"]))
    else:
        ratio = Fraction(int(match["times"]), int(match["over"] or 1))
    return max(1, round(base[key] * ratio))


def resolve_row(
    name: str,
    experiment: Experiment,
    model: ModelConfig,
    training: TrainingConfig,
    further: list[Difference],
) -> tuple[ModelConfig, TrainingConfig]:
    """Apply a row's difference to the base model and training.

    Args:
        name: The row, for errors.
        experiment: Its difference.
        model, training: The base of the scale.
        further: Differences laid over it in turn (of the pair, of the scale); a key of a later
            one replaces the earlier, and every ratio is of base.

    Raises:
        UserError: one line naming the row and the key.
    """
    source = f"{EXPERIMENTS_FILE}: {name}"
    base = model.model_dump() | training.model_dump()
    base |= {"d_k": model.query_width, "d_v": model.value_width}
    effective = {
        key: change
        for difference in (experiment.change, *further)
        for key, change in difference.items()
    }
    changes: dict[str, Any] = {}
    for key, change in effective.items():
        if key not in base:
            raise UserError(f"{source}: {key}: no such key of the model or of training")
        try:
            changes[key] = _apply(base, key, change)
        except ValueError as error:
            raise UserError(f"{source}: {key}: {error}") from None
    sections = []
    for section in (model, training):
        own = {key: value for key, value in changes.items() if key in type(section).model_fields}
        sections.append(validate(type(section), section.model_dump() | own, source))
    return sections[0], sections[1]  # type: ignore[return-value]
