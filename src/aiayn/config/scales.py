"""config/scales/<scale>.yaml: the corpus, base's dimensions, steps and rows of a scale."""

from pathlib import Path
from typing import Any

from aiayn.common.errors import UserError
from aiayn.config.experiments import Difference
from aiayn.config.sections import CleaningConfig, ModelConfig, Positive, TextConfig, TrainingConfig
from aiayn.config.settings import Settings
from aiayn.config.yaml_files import Section, read_yaml, validate

SCALES_FOLDER = "config/scales"


class SelectionConfig(Section):
    """How much of a corpus a scale takes. Absent keys take everything."""

    max_words: Positive | None = None
    """Longest side of a pair in words (text between blanks)."""
    train_pairs: Positive | None = None
    """Training pairs."""
    dev_pairs: Positive | None = None
    """Pairs of the dev set."""
    test_pairs: Positive | None = None
    """Pairs of the test set."""


class Scale(Section):
    """One scale; see config/README.md."""

    about: str
    """One line that every table and figure prints: what its numbers can mean."""
    plumbing_only: bool = False
    """Nothing is learned: the numbers mean nothing, and the verdicts of claims.md say so."""
    corpus: str
    """A corpus of config/corpora.yaml."""
    rows: tuple[str, ...] | None = None
    """Rows included; all of config/experiments.yaml when absent."""
    select: SelectionConfig = SelectionConfig()
    text: TextConfig = TextConfig()
    cleaning: CleaningConfig = CleaningConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    changes: dict[str, Difference] = {}
    """Per row, what this scale does differently (say, big with as many steps as base)."""
    rehearsal: dict[str, Any] | None = None
    """Keys of this file that ``rehearsal=true`` replaces, section by section."""


def scale_names(root: Path) -> list[str]:
    """The scales that config/scales holds."""
    return sorted(path.stem for path in (root / SCALES_FOLDER).glob("*.yaml"))


def load_scale(root: Path, settings: Settings) -> Scale:
    """Read the scale of the settings; for a rehearsal, with its rehearsal keys laid over it.

    Raises:
        UserError: one line naming the file and the key.
    """
    name = settings.scale
    path = root / SCALES_FOLDER / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(scale_names(root))
        raise UserError(
            f"{settings.source_of('scale')}: scale: no scale {name!r}; there are: {known}"
        )
    source = f"{SCALES_FOLDER}/{name}.yaml"
    values = read_yaml(path)
    if settings.rehearsal:
        overrides = values.get("rehearsal")
        if not isinstance(overrides, dict):
            raise UserError(f"{source}: rehearsal: this scale has no rehearsal section")
        for key, override in overrides.items():
            own = values.get(key)
            merge = isinstance(own, dict) and isinstance(override, dict)
            values[key] = own | override if merge else override
    return validate(Scale, values, source)
