"""data.md: where the text came from and how much of it was dropped, by reason."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aiayn.common.errors import UserError
from aiayn.common.files import read_json
from aiayn.reporting.measured import NOT_RUN
from aiayn.reporting.render import Cell, markdown_escape, markdown_table, write_markdown
from aiayn.reporting.results import Results


def _counts(path: Path, *keys: str) -> dict[str, Any] | None:
    if not path.exists():
        return None
    counts = read_json(path)
    for key in keys:
        if key not in counts:
            raise UserError(f"{path}: {key}: missing")
    return dict(counts)


def _reasons(dropped: dict[str, int]) -> str:
    return ", ".join(f"{reason}: {count:,}" for reason, count in dropped.items() if count)


def _extracted(results: Results, pair: str) -> Iterator[dict[str, Cell]]:
    corpus_pair = results.project.corpus_pair(pair)
    for name in corpus_pair.names:
        path = results.folder / pair / "raw" / f"{name}.json"
        counts = _counts(path, "read", "kept", "dropped", "official")
        if counts is None:
            yield {"part or set": name, "read": NOT_RUN, "kept": "", "dropped": "", "data": ""}
            continue
        yield {
            "part or set": name,
            "read": f"{counts['read']:,}",
            "kept": f"{counts['kept']:,}",
            "dropped": _reasons(counts["dropped"]),
            "data": _origin(counts["official"], bool(corpus_pair.files(name))),
        }


def _origin(official: bool, own: bool) -> str:
    if own:
        return "your own files"
    return "official" if official else "**not the official ones**"


def _cleaned(results: Results, pair: str) -> Iterator[dict[str, Cell]]:
    pairs_in, kept, dropped = 0, 0, Counter[str]()
    parts = results.project.corpus_pair(pair).train
    for part in parts:
        path = results.folder / pair / "clean" / f"{part}.json"
        counts = _counts(path, "pairs_in", "kept", "dropped")
        if counts is None:
            yield {"part": part, "pairs in": NOT_RUN, "kept": "", "share kept": "", "dropped": ""}
            continue
        yield _cleaned_record(part, counts["pairs_in"], counts["kept"], counts["dropped"])
        pairs_in, kept = pairs_in + counts["pairs_in"], kept + counts["kept"]
        dropped.update(counts["dropped"])
    if len(parts) > 1:
        yield _cleaned_record("**all parts**", pairs_in, kept, dropped)


def _cleaned_record(
    part: str, pairs_in: int, kept: int, dropped: dict[str, int]
) -> dict[str, Cell]:
    return {
        "part": part,
        "pairs in": f"{pairs_in:,}",
        "kept": f"{kept:,}",
        "share kept": f"{kept / pairs_in:.1%}" if pairs_in else "",
        "dropped": _reasons(dropped),
    }


def _archives(results: Results) -> str:
    """The archives that the asked-for pairs are made of, as the catalogue describes them."""
    project = results.project
    names = {
        archive: None
        for pair in project.settings.pairs
        for content in project.corpus_pair(pair).names
        for archive in project.corpus_pair(pair).archives(content)
    }
    records: list[dict[str, Cell]] = []
    for archive in (project.catalogue.archives[name] for name in names):
        records.append(
            {
                "archive": markdown_escape(archive.file),
                "version": markdown_escape(archive.version),
                "bytes": "" if archive.bytes is None else f"{archive.bytes:,}",
                "SHA-256": f"`{archive.sha256}`" if archive.sha256 else "of the first download",
                "licence": markdown_escape(archive.licence),
            }
        )
    if not records:
        return "## Archives\n\nNone: the text is your own files."
    about = "By config/corpora.yaml; each is checked when it is downloaded:"
    if project.settings.corpora_base:
        about = (
            "The official ones, by config/corpora.yaml. This run's came from a mirror and were "
            "checked against its SHA256SUMS, where it has their sums:"
        )
    return f"## Archives\n\n{about}\n\n{markdown_table(records)}"


def _pair(results: Results, pair: str) -> str:
    return (
        f"## {pair.upper()}\n\nAfter the scale's selection:\n\n"
        f"{markdown_table(list(_extracted(results, pair)))}\n\n"
        "Training parts after cleaning; a pair counts under the first reason that applies:\n\n"
        f"{markdown_table(list(_cleaned(results, pair)))}"
    )


def write_data(results: Results, folder: Path) -> None:
    """Write ``data.md`` into ``folder``.

    Raises:
        UserError: a file of counts lacks a key; the message names both.
    """
    project = results.project
    about, licence = (text.rstrip(".") for text in (project.corpus.about, project.corpus.licence))
    lines = f"Corpus `{project.scale.corpus}`: {about}. Licence: {licence}."
    if project.settings.corpora_base:
        lines += "\n\nDownloaded from a mirror given as `corpora_base`."
    sections = [_pair(results, pair) for pair in project.settings.pairs]
    write_markdown(folder / "data.md", "Data", results.about, lines, *sections, _archives(results))
