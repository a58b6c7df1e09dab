"""config/published.yaml, typed. No other stage may read the paper's numbers."""

import re
from pathlib import Path
from typing import Literal

from pydantic import Field

from aiayn.config.yaml_files import Section, read_yaml, validate

PUBLISHED_FILE = "config/published.yaml"

BleuConvention = Literal["compound_split", "tokenized", "sacrebleu"]
Value = int | float | str | bool


class PublishedSystem(Section):
    """A row of Table 2; costs in floating-point operations, both by language pair."""

    model: str
    row: str | None = None
    """The row of config/experiments.yaml that reproduces it."""
    bleu: dict[str, float] = Field(default_factory=dict)
    flops: dict[str, float] = Field(default_factory=dict)


class PublishedRow(Section):
    """A row of Table 3; ``None`` where the paper leaves a blank."""

    N: int | None = None
    d_model: int | None = None
    d_ff: int | None = None
    h: int | None = None
    d_k: int | None = None
    d_v: int | None = None
    p_drop: float | None = None
    eps_ls: float | None = None
    positions: str | None = None
    steps: int | None = None
    ppl: float
    bleu: float
    params_m: float | None = None


class PublishedLayer(Section):
    """A row of Table 1 (Section 4)."""

    layer: str
    complexity: str
    sequential: str
    path: str


class ClaimTest(Section):
    """One comparison that a claim stands or falls with."""

    row: str
    says: Literal["better", "worse", "equal"]
    """Of the row, by the claim; a lower perplexity is better, and a lower cost."""
    than: Literal["base", "published"] = "base"
    """Base, by a paired test, or the best published system of Table 2, by our interval."""
    metric: Literal["bleu", "ppl", "flops"] = "bleu"
    margin: float = 0.0
    """``better``: by more than this; ``equal``: the difference's interval lies within plus or minus
    this."""


class Claim(Section):
    """What the paper's text concludes, the rows whose numbers bear on it, and what is tested."""

    title: str
    text: str
    table: Literal[2, 3]
    rows: tuple[str, ...]
    tests: tuple[ClaimTest, ...] = Field(min_length=1)
    note: str = ""
    """Why these tests."""


class Capacity(Section):
    """Sustained single-precision capacity of a device, for the paper's estimate of cost."""

    device: str
    """Words of the device's name, as PyTorch gives it."""
    tflops: float
    source: str


class RecipeItem(Section):
    """The paper's value of one key of the configuration."""

    key: str
    """``section.key``."""
    value: Value | None = None
    """``None``: the paper does nothing of the kind."""
    source: str
    note: str = ""


class RowRecipeItem(Section):
    """The paper's value of one key for one of Table 2's rows."""

    row: str
    pair: str
    key: str
    """Of the model or training section."""
    value: Value
    source: str


class Choice(Section):
    """What paper, original code and this implementation do where they differ."""

    subject: str
    paper: str
    original: str
    here: str


class Published(Section):
    """Everything that this project quotes from the paper."""

    table1: tuple[PublishedLayer, ...]
    table2: tuple[PublishedSystem, ...]
    table3: dict[str, PublishedRow]
    bleu_convention: dict[str, BleuConvention]
    capacity: tuple[Capacity, ...]
    claims: tuple[Claim, ...]
    recipe: tuple[RecipeItem, ...]
    table2_recipe: tuple[RowRecipeItem, ...]
    choices: tuple[Choice, ...]

    def has(self, pair: str) -> bool:
        """Whether the paper scores translations of this pair."""
        return pair in self.bleu_convention

    def convention(self, pair: str) -> BleuConvention:
        """How the paper's Transformer scores of a pair were measured; ``tokenized`` by default."""
        return self.bleu_convention.get(pair, "tokenized")

    def capacity_of(self, device: str) -> Capacity | None:
        """The first capacity all of whose words stand in the device's name."""
        words = re.findall(r"\w+", device)
        return next((one for one in self.capacity if set(one.device.split()) <= set(words)), None)

    def system(self, row: str) -> PublishedSystem | None:
        """The system of Table 2 that a row reproduces."""
        return next((system for system in self.table2 if system.row == row), None)


def load_published(root: Path) -> Published:
    """Read the paper's numbers.

    Raises:
        UserError: one line naming the file and the key.
    """
    return validate(Published, read_yaml(root / PUBLISHED_FILE), PUBLISHED_FILE)
