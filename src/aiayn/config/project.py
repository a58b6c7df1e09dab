"""Everything a run needs to know, loaded and checked at once."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from aiayn.common.errors import UserError
from aiayn.config.catalogue import Catalogue, Corpus, CorpusPair, load_catalogue
from aiayn.config.experiments import EXPERIMENTS_FILE, Experiment, load_experiments, resolve_row
from aiayn.config.scales import Scale, load_scale
from aiayn.config.sections import ModelConfig, TrainingConfig, check_ranks
from aiayn.config.settings import CONFIG_FILE, Settings, load_settings

TABLE3_PAIR = "en-de"
"""Table 3 varies the model on English-to-German alone (Section 6.2)."""


class Run(NamedTuple):
    """One training: its results lie in ``results/<scale>/<pair>/<row>/seed<seed>``."""

    pair: str
    row: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class Project:
    """The configuration of one run of the pipeline."""

    settings: Settings
    scale: Scale
    experiments: dict[str, Experiment]
    catalogue: Catalogue

    @property
    def name(self) -> str:
        """Folder below results/ and reports/: the scale, marked when it is a rehearsal."""
        return self.settings.scale + ("-rehearsal" if self.settings.rehearsal else "")

    @property
    def downloads(self) -> str:
        """Folder of the archives, shared by all scales; a mirror's never mix with the real ones."""
        base = self.settings.corpora_base
        mark = f"-{hashlib.sha256(base.encode()).hexdigest()[:8]}" if base else ""
        return f"results/downloads{mark}"

    @property
    def corpus(self) -> Corpus:
        """The scale's corpus."""
        return self.catalogue.corpora[self.scale.corpus]

    def corpus_pair(self, pair: str) -> CorpusPair:
        """The parts and sets of the corpus for a pair."""
        return self.corpus.pairs[pair]

    @property
    def rows(self) -> tuple[str, ...]:
        """Rows to run: base first, then in the paper's order."""
        chosen = self.settings.rows
        if chosen == ("all",):
            chosen = self.scale.rows or tuple(self.experiments)
        return tuple(row for row in self.experiments if row in chosen)

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every training: all rows for Table 3's pair, Table 2's rows for the others."""
        return tuple(
            Run(pair, row, seed)
            for pair in self.settings.pairs
            for row in self.rows
            for seed in self.settings.seeds
            if pair == TABLE3_PAIR or self.experiments[row].table2
        )

    def scored_sets(self, run: Run) -> tuple[str, ...]:
        """Sets that a run translates: dev for Table 3, the test sets for Table 2.

        Optional test sets are among them when their archives or files are there.
        """
        pair = self.corpus_pair(run.pair)
        dev = (pair.dev,) if run.pair == TABLE3_PAIR else ()
        if not self.experiments[run.row].table2:
            return dev
        return (*dev, *pair.tests, *self.catalogue.optional_sets(pair, Path(self.downloads)))

    def resolve(self, run: Run) -> tuple[ModelConfig, TrainingConfig]:
        """The model and training sections of one run.

        Raises:
            UserError: one line naming the row and the key.
        """
        experiment = self.experiments[run.row]
        further = [experiment.pairs.get(run.pair, {}), self.scale.changes.get(run.row, {})]
        training = self.scale.training.model_copy(update={"seed": run.seed})
        return resolve_row(run.row, experiment, self.scale.model, training, further)


def load_project(overrides: dict[str, Any] | None = None, root: Path | str = ".") -> Project:
    """Load and check the whole configuration.

    Args:
        overrides: Keys of config/config.yaml that replace the file's, as text or as values.
        root: The checkout.

    Raises:
        UserError: one line naming the file, or the command line, and the key.
    """
    root = Path(root)
    settings = load_settings(root, overrides or {})
    project = Project(
        settings=settings,
        scale=load_scale(root, settings),
        experiments=load_experiments(root),
        catalogue=load_catalogue(root),
    )
    _check_names(project)
    for run in project.runs:
        where, whose = f"{settings.source_of('ranks')}: ranks", f"{run.row} at scale {project.name}"
        check_ranks(settings.ranks, project.resolve(run)[1], where, whose)
    return project


def _check_names(project: Project) -> None:
    """Names that one file takes from another."""
    settings, scale = project.settings, project.scale
    scale_file = f"config/scales/{settings.scale}.yaml"
    if scale.corpus not in project.catalogue.corpora:
        known = ", ".join(project.catalogue.corpora)
        raise UserError(f"{scale_file}: corpus: no corpus {scale.corpus!r}; there are: {known}")
    for pair in settings.pairs:
        if pair not in project.corpus.pairs:
            known = ", ".join(project.corpus.pairs)
            raise UserError(
                f"{settings.source_of('pairs')}: pairs: corpus {scale.corpus!r} has no {pair!r}; "
                f"it has: {known}"
            )
    for row in settings.rows:
        if row not in project.experiments and settings.rows != ("all",):
            known = ", ".join(project.experiments)
            raise UserError(
                f"{settings.source_of('rows')}: rows: no row {row!r}; there are: all, {known}"
            )
    for row in (*(scale.rows or ()), *scale.changes):
        if row not in project.experiments:
            raise UserError(f"{scale_file}: {row}: no such row in {EXPERIMENTS_FILE}")
    for name, experiment in project.experiments.items():
        if set(experiment.change) & {"seed"}:
            raise UserError(f"{EXPERIMENTS_FILE}: {name}: seed: set seeds in {CONFIG_FILE}")
