"""Typed configuration: one frozen section a stage, resolved from (settings, scale, row, pair).

``load_project`` is the one way in; the Snakefile and the commands use it alike.
"""

from aiayn.config.catalogue import Catalogue, load_catalogue
from aiayn.config.experiments import Experiment, resolve_row
from aiayn.config.project import Project, Run, load_project
from aiayn.config.sections import (
    CleaningConfig,
    DecodingConfig,
    ModelConfig,
    TextConfig,
    TrainingConfig,
    parse_section,
)
from aiayn.config.settings import Settings

__all__ = [
    "Catalogue",
    "CleaningConfig",
    "DecodingConfig",
    "Experiment",
    "ModelConfig",
    "Project",
    "Run",
    "Settings",
    "TextConfig",
    "TrainingConfig",
    "load_catalogue",
    "load_project",
    "parse_section",
    "resolve_row",
]
