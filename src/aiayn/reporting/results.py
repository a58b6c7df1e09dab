"""What is on disk of the runs that the configuration asks for; docs/stages.md has the formats."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict

from aiayn.common.files import read_json
from aiayn.config import Project, Run
from aiayn.config.project import TABLE3_PAIR
from aiayn.config.yaml_files import Section, SectionT, validate
from aiayn.reporting.published import BleuConvention, Published


class Record(Section):
    """A JSON file of another stage; keys that no report prints are passed over."""

    model_config = ConfigDict(extra="ignore")


class DevLoss(Record):
    """Loss on the dev set after the last step."""

    ppl: float
    """Perplexity per BPE token."""


class Stretch(Record):
    """Steps of a training that were taken on the same devices."""

    device: str
    ranks: int
    seconds: float


class Trained(Record):
    """``trained.json``."""

    steps: int
    parameters: int
    vocabulary: int
    """Entries of the vocabulary."""
    vocabulary_rows: int
    """Rows of the shared embedding; those beyond the vocabulary are never used."""
    target_tokens: int
    seconds: float
    flops: float
    """Operations counted from the model's shape and the tokens seen."""
    dev: DevLoss
    device: str
    ranks: int = 1
    """Processes of the training, one a GPU; where it was gone on with on others, the last ones."""
    stretches: tuple[Stretch, ...] = ()
    """All of them, in order; in older files absent, and of one piece."""

    @property
    def pieces(self) -> tuple[Stretch, ...]:
        """What was trained on which devices."""
        whole = Stretch(device=self.device, ranks=self.ranks, seconds=self.seconds)
        return self.stretches or (whole,)

    @property
    def devices(self) -> list[str]:
        """Names of the devices, each once."""
        return list(dict.fromkeys(piece.device for piece in self.pieces))


class SetScore(Record):
    """``score.<set>.json``; BLEU from 0 to 100, each with its 95% bootstrap interval."""

    set: str
    variant: str = ""
    """Release of newstest2014: ``full``, ``filtered`` or ``other``."""
    segments: int
    sacrebleu: float
    sacrebleu_low: float
    sacrebleu_high: float
    sacrebleu_signature: str
    tokenized: float
    tokenized_low: float
    tokenized_high: float
    tokenized_signature: str
    compound_split: float
    compound_split_low: float
    compound_split_high: float
    compound_split_signature: str

    def signature(self, convention: BleuConvention) -> str:
        """sacrebleu's signature of a convention."""
        return str(getattr(self, f"{convention}_signature"))

    def value(self, convention: BleuConvention, end: Literal["", "_low", "_high"] = "") -> float:
        """BLEU by a convention, or an end of its interval."""
        return float(getattr(self, f"{convention}{end}"))


class Comparison(Record):
    """A row beside base; ``difference`` is the row's score minus base's."""

    score: float
    difference: float
    low: float
    """Ends of the difference's 95% bootstrap interval."""
    high: float
    p: float
    """Two-sided, of a paired approximate randomization test."""


class PairedTests(Record):
    """Every row beside base by one metric."""

    signature: str = ""
    baseline: float
    systems: dict[str, Comparison]


class Significance(Record):
    """``significance.json``: Table 3's rows against base on dev."""

    set: str
    segments: int
    seeds: int
    trials: int
    bleu: PairedTests
    """By sacreBLEU."""
    ppl: PairedTests | None = None
    """By perplexity per BPE token."""


@dataclass(frozen=True, kw_only=True)
class RunResults:
    """One training; ``None`` and missing keys are files not on disk."""

    run: Run
    folder: Path
    trained: Trained | None
    provenance: dict[str, Any] | None
    scores: dict[str, SetScore]

    @property
    def label(self) -> str:
        """``en-de base seed1``"""
        return f"{self.run.pair} {self.run.row} seed{self.run.seed}"


@dataclass(frozen=True, kw_only=True)
class Results:
    """Everything a report is made of."""

    project: Project
    published: Published
    folder: Path
    """results/<scale>"""
    runs: tuple[RunResults, ...]
    significance: Significance | None = None
    """``None`` when it was not tested, or with other seeds than asked for."""

    @property
    def about(self) -> str:
        """The scale's line, which opens every file and stands on every figure."""
        return self.project.scale.about

    def of_pair(self, pair: str) -> tuple[RunResults, ...]:
        """The runs of a pair."""
        return tuple(results for results in self.runs if results.run.pair == pair)

    def of(self, pair: str, row: str) -> tuple[RunResults, ...]:
        """The runs of a row, one a seed."""
        return tuple(results for results in self.of_pair(pair) if results.run.row == row)

    @property
    def devices(self) -> list[str]:
        """Names of the devices that anything was trained on, sorted."""
        return sorted({name for run in self.runs if run.trained for name in run.trained.devices})

    @property
    def table3_rows(self) -> list[str]:
        """Rows of Table 3 that were asked for; none without its language pair."""
        return list(dict.fromkeys(run.run.row for run in self.of_pair(TABLE3_PAIR)))

    @property
    def comparison_note(self) -> str:
        """A warning, where the scale has another corpus than the paper; else empty."""
        item = next(item for item in self.published.recipe if item.key == "data.corpus")
        corpus = self.project.scale.corpus
        if corpus == item.value:
            return ""
        return (
            f"The paper's numbers are on WMT 2014, ours on the corpus `{corpus}`: compare our rows "
            "with each other, not with the paper's."
        )

    def set_name(self, pair: str, table: Literal[2, 3]) -> str:
        """The set a table scores: dev for Table 3, the first test set for Table 2; else empty."""
        corpus_pair = self.project.corpus.pairs.get(pair)
        if corpus_pair is None:
            return ""
        return corpus_pair.dev if table == 3 else corpus_pair.tests[0]


def _read(section: type[SectionT], path: Path) -> SectionT | None:
    return validate(section, read_json(path), str(path)) if path.exists() else None


def _read_significance(project: Project, folder: Path) -> Significance | None:
    found = _read(Significance, folder / TABLE3_PAIR / "significance.json")
    return found if found and found.seeds == len(project.settings.seeds) else None


def _read_run(project: Project, folder: Path, run: Run) -> RunResults:
    run_folder = folder / run.pair / run.row / f"seed{run.seed}"
    provenance = run_folder / "run.json"
    scores = {
        name: _read(SetScore, run_folder / f"score.{name}.json")
        for name in project.scored_sets(run)
    }
    return RunResults(
        run=run,
        folder=run_folder,
        trained=_read(Trained, run_folder / "trained.json"),
        provenance=read_json(provenance) if provenance.exists() else None,
        scores={name: score for name, score in scores.items() if score},
    )


def read_results(project: Project, published: Published, results: Path) -> Results:
    """Read the results of every run that the configuration asks for.

    Args:
        results: Folder that holds results/<scale>.

    Raises:
        UserError: a file is not JSON or lacks a key; the message names both.
    """
    folder = results / project.name
    runs = tuple(_read_run(project, folder, run) for run in project.runs)
    return Results(
        project=project,
        published=published,
        folder=folder,
        runs=runs,
        significance=_read_significance(project, folder),
    )
