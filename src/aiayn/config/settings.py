"""config/config.yaml: what to run. Any key can come from ``--config key=value`` as a string."""

import re
from collections.abc import Container
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, StrictInt

from aiayn.config.sections import DecodingConfig
from aiayn.config.yaml_files import Section, read_yaml, validate

CONFIG_FILE = "config/config.yaml"


def _as_list(value: Any) -> Any:
    """``"base,A1"`` and a single value become lists; Snakemake passes both."""
    if isinstance(value, str):
        return [item.strip() for item in value.split(",") if item.strip()]
    return [value] if isinstance(value, int) else value


def _as_text_list(value: Any) -> Any:
    # A row named 0123 or 1_2 must stay text, but by now Snakemake has made it a number.
    items = _as_list(value)
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, str):
            raise ValueError(f"{item!r} is not text; quote it")
    return items


def _as_int_list(value: Any) -> Any:
    items = _as_list(value)
    if not isinstance(items, list):
        return items
    return [
        int(item) if isinstance(item, str) and re.fullmatch(r"\d+", item) else item
        for item in items
    ]


def _as_bool(value: Any) -> Any:
    """Only true and false, as words or as YAML's booleans; never ``bool("false")``."""
    if isinstance(value, bool):
        return value
    words = {"true": True, "false": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise ValueError("expected true or false")


def _as_number(value: Any) -> Any:
    """Numbers may come as text; booleans and texts such as ``1_2`` may not."""
    if isinstance(value, str) and re.fullmatch(r"[-+]?\d+", value):
        return int(value)
    if isinstance(value, str) and re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", value):
        return float(value)
    if isinstance(value, bool):
        raise ValueError("expected a number")
    return value


def _no_item_twice(items: tuple[Any, ...]) -> tuple[Any, ...]:
    for item in items:
        if items.count(item) > 1:
            raise ValueError(f"{item} is there twice")
    return items


TextList = Annotated[
    tuple[str, ...],
    BeforeValidator(_as_text_list),
    Field(min_length=1),
    AfterValidator(_no_item_twice),
]
Seeds = Annotated[
    tuple[Annotated[StrictInt, Field(ge=0)], ...],
    BeforeValidator(_as_int_list),
    Field(min_length=1),
    AfterValidator(_no_item_twice),
]
Flag = Annotated[bool, BeforeValidator(_as_bool)]
Count = Annotated[StrictInt, BeforeValidator(_as_number), Field(ge=1)]
Whole = Annotated[StrictInt, BeforeValidator(_as_number), Field(ge=0)]
Number = Annotated[float, BeforeValidator(_as_number), Field(ge=0.0)]


class Settings(Section):
    """The keys of config/config.yaml; config/README.md explains each."""

    scale: str
    """Name of a file in config/scales."""
    pairs: TextList
    """Language pairs, source-target."""
    rows: TextList
    """Rows of Table 3 to run; ``all`` is every row that the scale includes."""
    seeds: Seeds
    """Each seed trains its own models."""
    rehearsal: Flag = False
    """Run the scale's DAG with its tiny rehearsal dimensions."""
    corpora_base: str = ""
    """Address that replaces every host of the catalogue; empty for the real ones."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to train and decode."""
    ranks: Count = 1
    """Processes of a training: one a GPU. The steps taken do not depend on it."""
    beam: Count = 4
    """Beam size (Section 6.1)."""
    alpha: Number = 0.6
    """Length penalty (Section 6.1)."""
    max_extra: Whole = 50
    """Maximum output length is the input's plus this (Section 6.1)."""
    batch_tokens: Count = 2_000
    """Source tokens decoded together; does not change the output."""

    _given: frozenset[str] = PrivateAttr(frozenset())

    def source_of(self, key: str) -> str:
        """Where the value of a key comes from, for errors: the file or the command line."""
        return _source(key, self._given)

    @property
    def uses_gpu(self) -> bool:
        """Whether jobs ask for GPUs; with ``auto``, they take what they are given."""
        return self.device != "cpu"

    @property
    def decoding(self) -> DecodingConfig:
        """The decoder's section."""
        return DecodingConfig(
            beam=self.beam,
            alpha=self.alpha,
            max_extra=self.max_extra,
            batch_tokens=self.batch_tokens,
        )


def load_settings(root: Path, overrides: dict[str, Any]) -> Settings:
    """Read config/config.yaml below ``root`` and lay ``overrides`` over it.

    Snakemake hands over the file's own values, read by YAML 1.1's rules, along with those of the
    command line; only the latter replace what is read here.

    Raises:
        UserError: one line naming the file, or the command line, and the key.
    """
    path = root / CONFIG_FILE
    values = read_yaml(path)
    as_snakemake_reads_it = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    given = {
        key: value
        for key, value in overrides.items()
        if key not in values or value != as_snakemake_reads_it.get(key)
    }
    settings = validate(Settings, values | given, lambda key: _source(key, given))
    settings._given = frozenset(given)
    return settings


def _source(key: str, given: Container[str]) -> str:
    return "command line" if key in given else CONFIG_FILE
