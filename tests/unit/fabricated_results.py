"""Made-up results for tests of reporting: the files of docs/stages.md with numbers of no model."""

import math
from collections.abc import Iterable
from pathlib import Path

from aiayn.common.files import write_json, write_text
from aiayn.common.formulas import learning_rate
from aiayn.config import Project, Run, load_project
from aiayn.config.cost import parameters

ROOT = Path(__file__).parents[2]
SIGNATURE = "nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
LINES = 60
EMPTY_LINE = 59


def project_at(scale: str, **overrides: object) -> Project:
    """The project's own configuration at a scale."""
    return load_project({"scale": scale, **overrides}, ROOT)


def score_json(set_name: str, lang: str, bleu: float) -> dict[str, object]:
    """``score.<set>.json``: tokenized is ``bleu``, compound-split 1 more, sacreBLEU 1 less."""
    values: dict[str, object] = {"set": set_name, "lang": lang, "segments": LINES}
    for name, value in (
        ("tokenized", bleu),
        ("compound_split", bleu + 1),
        ("sacrebleu", bleu - 1),
    ):
        values |= {name: value, f"{name}_low": value - 0.5, f"{name}_high": value + 0.5}
        values[f"{name}_signature"] = SIGNATURE
    return values


def fabricate_run(project: Project, results: Path, run: Run, *, bleu: float, ppl: float) -> Path:
    """Write the run folder of one training; its BLEU and perplexity are as given."""
    folder = results / project.name / run.pair / run.row / f"seed{run.seed}"
    model, training = project.resolve(run)
    tokens = training.steps * training.tokens_per_step
    count = parameters(model, 4096)
    trained = {
        "steps": training.steps, "parameters": count, "vocabulary": 4090, "vocabulary_rows": 4096,
        "source_tokens": tokens,
        "target_tokens": tokens, "seconds": 90.0, "flops": 6 * count * tokens,
        "dev": {"step": training.steps, "loss": math.log(ppl), "ppl": ppl}, "average": 5,
        "checkpoints": [], "precision": "fp32", "host": "somewhere", "device": "a CPU",
    }  # fmt: skip
    write_json(folder / "trained.json", trained)
    write_json(
        folder / "run.json",
        {
            "run": f"{run.pair}/{run.row}/seed{run.seed}",
            "git_commit": "0123456789abcdef0123456789abcdef01234567-dirty",
            "data_sha256": {"batches/train": "ab" * 32},
            "versions": {"python": "3.11.9"},
            "host": {"name": "somewhere", "system": "Linux"},
            "device": "a CPU",
            "precision": "fp32",
            "seconds": 90.0,
        },
    )
    _journals(folder, ppl, model.d_model, training)
    target = run.pair.partition("-")[2]
    for name in project.scored_sets(run):
        write_json(folder / f"score.{name}.json", score_json(name, target, bleu))
        texts = [f"hypothesis {number} of {run.row}" for number in range(1, LINES + 1)]
        texts[EMPTY_LINE - 1] = ""
        lines = "".join(f"{text}\n" for text in texts)
        write_text(folder / f"hypothesis.{name}.{target}", lines)
    return folder


def fabricate_significance(
    project: Project,
    results: Path,
    bleu: dict[str, tuple[float, float]],
    ppl: dict[str, tuple[float, float]] | None = None,
    *,
    base: float = 20.0,
) -> None:
    """Write ``significance.json``: by row the difference to base, with its interval, and p.

    The interval is the difference plus and minus 0.4; ``base`` is base's BLEU.
    """

    def tests(rows: dict[str, tuple[float, float]], baseline: float) -> dict[str, object]:
        systems = {
            row: {
                "score": baseline + difference, "difference": difference, "p": p,
                "low": difference - 0.4, "high": difference + 0.4,
            }
            for row, (difference, p) in rows.items()
        }  # fmt: skip
        return {"signature": SIGNATURE, "baseline": baseline, "systems": systems}

    values = {
        "set": "dev", "segments": LINES, "seeds": len(project.settings.seeds), "baseline": "base",
        "trials": 2000, "resamples": 1000, "bleu": tests(bleu, base), "ppl": tests(ppl or {}, 5.0),
    }  # fmt: skip
    write_json(results / project.name / "en-de" / "significance.json", values)


def _journals(folder: Path, ppl: float, d_model: int, training: object) -> None:
    steps, warmup, factor = training.steps, training.warmup, training.lr_factor  # type: ignore[attr-defined]
    stride = max(1, steps // 100)
    rows, valid = [], []
    for step in range(stride, steps + 1, stride):
        loss = math.log(ppl) + 4 * math.exp(-5 * step / steps)
        rate = learning_rate(step, d_model=d_model, warmup=warmup, factor=factor)
        rows.append(f"{step},1,{loss + 0.5},{loss},{rate},{step * 9},{step * 10},500.0,{step / 10}")
        if (step // stride) % 10 == 0 or step == steps:
            valid.append(f"{step},{loss},{math.exp(loss)}")
    header = "step,epoch,loss,nll,lr,source_tokens,target_tokens,tokens_per_second,seconds"
    write_text(folder / "train.csv", "\n".join([header, *rows, ""]))
    write_text(folder / "valid.csv", "\n".join(["step,loss,ppl", *valid, ""]))


def fabricate_data(project: Project, results: Path, pair: str, *, official: bool = True) -> None:
    """Write the counts of extraction and cleaning, and the raw text of the sets."""
    folder = results / project.name / pair
    corpus_pair = project.corpus_pair(pair)
    for name in corpus_pair.names:
        counts = {"read": 1_234, "kept": 1_200, "dropped": {"long": 34}, "official": official}
        write_json(folder / "raw" / f"{name}.json", counts)
    for name in (corpus_pair.dev, *corpus_pair.tests):
        for lang in pair.split("-"):
            lines = "".join(f"{lang} line {number} a|b *c*\n" for number in range(1, LINES + 1))
            write_text(folder / "raw" / f"{name}.{lang}", lines)
    for part in corpus_pair.train:
        counts = {
            "part": part, "pairs_in": 1_200, "kept": 900, "dropped": {"empty": 100, "ratio": 200},
        }  # fmt: skip
        write_json(folder / "clean" / f"{part}.json", counts)


def fabricate(project: Project, results: Path, runs: Iterable[Run] | None = None) -> None:
    """Write ``runs``, by default all that the project asks for, each with numbers of its own."""
    for number, run in enumerate(project.runs if runs is None else runs):
        fabricate_run(project, results, run, bleu=10 + number % 7, ppl=12.0 + number % 5)
    for pair in project.settings.pairs:
        fabricate_data(project, results, pair)
