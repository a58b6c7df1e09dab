"""samples.md: translations of the test set, chosen by position and never by quality."""

from collections.abc import Iterable
from pathlib import Path

from aiayn.common.files import read_lines
from aiayn.reporting.measured import NOT_RUN
from aiayn.reporting.render import markdown_escape, write_markdown
from aiayn.reporting.results import Results

SAMPLES = 20
EMPTY = "*(empty)*"
RULE = (
    f"Chosen by position alone: each test set is cut into {SAMPLES} stretches of equal length and "
    "the middle line of each is shown, whatever its translation is like. The translations are "
    "those of Table 2: averaged checkpoints, {decoding}, seed {seed}."
)


def sample_lines(total: int, count: int = SAMPLES) -> list[int]:
    """Line numbers, from 1: the middle of each of ``count`` stretches; all of a short file."""
    count = min(count, total)
    return [(2 * index + 1) * total // (2 * count) + 1 for index in range(count)]


def _pick(path: Path, numbers: Iterable[int]) -> dict[int, str]:
    if not path.exists():
        return {}
    wanted = set(numbers)
    return {
        number: line for number, line in enumerate(read_lines(path), start=1) if number in wanted
    }


def _texts(results: Results, pair: str, test: str) -> dict[str, Path]:
    """What is shown, by label, in order: source, reference, then Table 2's rows, run or not."""
    source, _, target = pair.partition("-")
    raw = results.folder / pair / "raw"
    texts = {"source": raw / f"{test}.{source}", "reference": raw / f"{test}.{target}"}
    seed = results.project.settings.seeds[0]
    for row, experiment in results.project.experiments.items():
        if experiment.table2:
            folder = results.folder / pair / row / f"seed{seed}"
            texts[row] = folder / f"hypothesis.{test}.{target}"
    return texts


def _pair(results: Results, pair: str) -> str:
    test = results.set_name(pair, 2)
    texts = _texts(results, pair, test)
    heading = f"## {pair.upper()}, test set `{test}`"
    if not texts["source"].exists():
        return f"{heading}\n\n{NOT_RUN}"
    total = sum(1 for _ in read_lines(texts["source"]))
    numbers = sample_lines(total)
    picked = {label: _pick(path, numbers) for label, path in texts.items()}
    parts = [heading]
    for number in numbers:
        lines = [f"### Line {number:,} of {total:,}"]
        for label, by_number in picked.items():
            text = markdown_escape(by_number.get(number, NOT_RUN)) or EMPTY
            lines.append(f"* **{label}**: {text}")
        parts.append("\n".join(lines).replace("\n", "\n\n", 1))
    return "\n\n".join(parts)


def write_samples(results: Results, folder: Path) -> None:
    """Write ``samples.md`` into ``folder``."""
    settings = results.project.settings
    decoding = f"beam {settings.beam}, length penalty {settings.alpha:g}"
    rule = RULE.format(decoding=decoding, seed=settings.seeds[0])
    sections = [_pair(results, pair) for pair in settings.pairs]
    write_markdown(folder / "samples.md", "Sample translations", results.about, rule, *sections)
