"""The section of each stage. A stage reads its own and no other.

Field names are the paper's symbols where it has one (Section 3, Table 3).
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, StrictInt, model_validator

from aiayn.common.errors import UserError
from aiayn.config.yaml_files import Section, SectionT, parse_yaml, read_yaml, validate

Positive = Annotated[StrictInt, Field(ge=1)]
Probability = Annotated[float, Field(ge=0.0, lt=1.0)]


class TextConfig(Section):
    """Tokenization and subword segmentation (Section 5.1)."""

    merges: Positive = 32_000
    """BPE merge operations learned jointly on both sides."""
    aggressive_hyphens: bool = False
    """Moses ``tokenizer.perl -a``: split hyphens as ``@-@``. The paper's data did not."""


class CleaningConfig(Section):
    """Which tokenized training pairs stay (Moses ``clean-corpus-n.perl``)."""

    min_tokens: Positive = 1
    """Fewest tokens a side."""
    max_tokens: Positive = 80
    """Most tokens a side."""
    max_ratio: Annotated[float, Field(ge=1.0)] = 9.0
    """Longest side over shortest side, in tokens."""


class ModelConfig(Section):
    """The Transformer's shape: the columns of Table 3. Defaults are the base model."""

    N: Positive = 6
    """Layers in the encoder and in the decoder (Section 3.1)."""
    d_model: Positive = 512
    """Width of every sub-layer's output."""
    d_ff: Positive = 2048
    """Inner width of the feed-forward networks."""
    h: Positive = 8
    """Attention heads (Section 3.2.2)."""
    d_k: Positive | None = None
    """Width of a head's queries and keys; ``d_model / h`` when not given."""
    d_v: Positive | None = None
    """Width of a head's values; ``d_model / h`` when not given."""
    p_drop: Probability = 0.1
    """Dropout on sub-layer outputs and on the embedding sums (Section 5.4)."""
    positions: Literal["sinusoidal", "learned"] = "sinusoidal"
    """Positional encoding (Section 3.5; row (E) learns it)."""
    max_positions: Positive = 512
    """Longest sequence in tokens; with learned positions, the rows of their table."""
    vocabulary_rows: Positive | None = None
    """Rows of the shared embedding; the vocabulary's size rounded up to 8 when not given."""

    @model_validator(mode="after")
    def _head_widths(self) -> Self:
        if (self.d_k is None or self.d_v is None) and self.d_model % self.h:
            raise ValueError(f"d_model={self.d_model} is not a multiple of h={self.h}")
        if self.d_model % 2:
            raise ValueError(f"d_model={self.d_model} must be even for sines and cosines")
        return self

    @property
    def query_width(self) -> int:
        """d_k."""
        return self.d_k or self.d_model // self.h

    @property
    def value_width(self) -> int:
        """d_v."""
        return self.d_v or self.d_model // self.h


class TrainingConfig(Section):
    """How a model is trained (Section 5). Defaults are the base model's."""

    steps: Positive = 100_000
    """Optimizer steps (Section 5.2)."""
    warmup: Positive = 4_000
    """warmup_steps of Equation 3."""
    lr_factor: Annotated[float, Field(gt=0.0)] = 1.0
    """Factor on Equation 3; 1 in the paper."""
    eps_ls: Probability = 0.1
    """Label smoothing (Section 5.4)."""
    tokens_per_step: Positive = 25_000
    """Source tokens and target tokens in a step, each, over all ranks (Section 5.1)."""
    micro_batches: Positive = 8
    """Length buckets a step is made of; at least the number of ranks."""
    max_length: Positive = 256
    """Longest side of a training pair in subwords; longer pairs are skipped and counted."""
    checkpoint_every: Positive = 1_500
    """Steps between checkpoints (10 minutes in the paper)."""
    average: Positive = 5
    """Checkpoints averaged for Table 2 (Section 6.1)."""
    validate_every: Positive = 1_500
    """Steps between perplexities on the dev set."""
    log_every: Positive = 10
    """Steps that a line of train.csv sums up."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """``auto``: bf16 where the device computes it natively, else fp32."""
    threads: Positive = 1
    """CPU threads of each rank; part of the result's bytes, so not taken from ``--cores``."""
    seed: Annotated[StrictInt, Field(ge=0)] = 1
    """The one seed; split by purpose into initial weights, dropout and data order."""

    @model_validator(mode="after")
    def _checkpoints_suffice(self) -> Self:
        if self.steps < self.checkpoint_every * self.average:
            raise ValueError(
                f"averaging {self.average} checkpoints, one every {self.checkpoint_every} steps, "
                f"needs more than steps={self.steps}"
            )
        return self


def check_ranks(ranks: int, training: TrainingConfig, where: str, whose: str = "") -> None:
    """A step gives every rank a micro-batch or more.

    Args:
        where: The option or key that says ``ranks``, for the error.
        whose: The row, for the error, where there are several.

    Raises:
        UserError: more ranks than micro-batches.
    """
    if ranks > training.micro_batches:
        raise UserError(
            f"{where}: {ranks} is more than the micro_batches: {training.micro_batches} "
            f"of a step{whose and f' of {whose}'}"
        )


class DecodingConfig(Section):
    """Beam search (Section 6.1)."""

    beam: Positive = 4
    """Hypotheses kept; 1 is greedy search."""
    alpha: Annotated[float, Field(ge=0.0)] = 0.6
    """Length penalty of Wu et al. (2016)."""
    max_extra: Annotated[StrictInt, Field(ge=0)] = 50
    """Maximum output length is the input's plus this."""
    batch_tokens: Positive = 2_000
    """Source tokens decoded together on a CPU, 8 times as many on a GPU; does not change the
    output."""


def parse_section(section: type[SectionT], text: str, option: str) -> SectionT:
    """Read a section from a command-line option: inline YAML or JSON, or the path of a file.

    Raises:
        UserError: one line naming the option or file and the wrong key.
    """
    if text.strip().startswith("{") or not text.strip():
        return validate(section, parse_yaml(text, option) or {}, option)
    path = Path(text)
    if not path.exists():
        raise UserError(f"{option}: {text!r} is neither {{key: value}} nor an existing file")
    return validate(section, read_yaml(path), str(path))
