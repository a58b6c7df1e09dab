"""Parallel text out of verified archives: ``<part>.<source>``, ``<part>.<target>``, counts."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from aiayn.common.errors import UserError
from aiayn.common.files import atomic_write, scratch, write_json
from aiayn.common.progress import Meter, log
from aiayn.config.catalogue import (
    Catalogue,
    CorpusPair,
    GzipLines,
    TarMembers,
    TextFiles,
    Verses,
)
from aiayn.config.scales import SelectionConfig
from aiayn.corpus.bible import read_verses, select_verses
from aiayn.corpus.members import file_lines, gzip_lines, sgml_lines, tar_lines, unzip_member
from aiayn.corpus.pairs import Counts, align, longer_than
from aiayn.corpus.sums import verify

Pairs = Iterator[tuple[bytes, bytes]]


def extract(
    catalogue: Catalogue,
    corpus: str,
    pair: str,
    name: str,
    *,
    downloads: Path,
    output: Path,
    select: SelectionConfig,
    corpora_base: str = "",
) -> Counts:
    """Write a part or set as raw parallel text, and its counts.

    Args:
        catalogue: The catalogue.
        corpus, pair, name: The part or set.
        downloads: Folder of the archives; each is verified before it is used.
        output: Folder for ``<name>.<lang>`` of both languages and ``<name>.json``.
        select: How much to take.
        corpora_base: The mirror that the archives come from, for what an error advises.

    Raises:
        UserError: an archive or file is missing, wrong or broken, the two sides have unequal line
            counts, or official data have another count than the catalogue says. Nothing is left
            behind.
    """
    corpus_pair = _lookup(catalogue, corpus, pair, name)
    archives = {key: catalogue.archives[key] for key in corpus_pair.archives(name)}
    verified = [verify(key, archive, downloads, corpora_base) for key, archive in archives.items()]
    paths = {key: downloads / archive.file for key, archive in archives.items()}
    label = f"{corpus} {pair} {name}"
    counts = Counts()
    with ExitStack() as stack:
        streams = [
            stack.enter_context(atomic_write(output / f"{name}.{lang}", "wb"))
            for lang in pair.split("-")
        ]
        stack.enter_context(_naming(label))
        meter = stack.enter_context(Meter(f"extract {label}", unit="pairs"))
        for sentences in _pairs(corpus_pair, name, paths, output, select, counts):
            for stream, sentence in zip(streams, sentences, strict=True):
                stream.write(sentence.removesuffix(b"\n") + b"\n")
            meter.advance()
        _check_count(corpus_pair.contents[name].pairs, counts, label, official=all(verified))
    result = {"read": counts.read} | counts.as_json() | {"official": all(verified)}
    write_json(output / f"{name}.json", result)
    return counts


def _lookup(catalogue: Catalogue, corpus: str, pair: str, name: str) -> CorpusPair:
    for value, known, what in (
        (corpus, catalogue.corpora, "corpus"),
        (pair, catalogue.corpora[corpus].pairs if corpus in catalogue.corpora else {}, "pair"),
    ):
        if value not in known:
            raise UserError(f"no {what} {value!r}; there are: {', '.join(known)}")
    corpus_pair = catalogue.corpora[corpus].pairs[pair]
    if name not in corpus_pair.contents:
        known_names = ", ".join(corpus_pair.contents)
        raise UserError(f"{corpus} {pair} has no part or set {name!r}; it has: {known_names}")
    return corpus_pair


@contextmanager
def _naming(label: str) -> Iterator[None]:
    """Put the part or set before an error: an archive holds several."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{label}: {error}") from None


def _check_count(expected: int | None, counts: Counts, label: str, *, official: bool) -> None:
    if not counts.kept:
        raise UserError(f"no pairs: {counts.read:,} read, none of them kept")
    if not official:
        log(f"{label}: not the official data; {counts.read:,} pairs")
    elif expected and counts.read != expected:
        raise UserError(f"{counts.read:,} pairs, the catalogue says {expected:,}")


def _pairs(
    corpus_pair: CorpusPair,
    name: str,
    paths: dict[str, Path],
    output: Path,
    select: SelectionConfig,
    counts: Counts,
) -> Pairs:
    content = corpus_pair.contents[name]
    if isinstance(content, Verses):
        yield from _verses(content, paths[content.archive], output, select, counts)
        return
    limits = {"train_pairs": select.train_pairs}
    if name == corpus_pair.dev:
        limits = {"dev_pairs": select.dev_pairs}
    elif name not in corpus_pair.train:
        limits = {"test_pairs": select.test_pairs}
    yield from _first(_sides(content, paths), limits, select.max_words, counts)


def _sides(content: GzipLines | TarMembers | TextFiles, paths: dict[str, Path]) -> Pairs:
    if isinstance(content, TextFiles):
        files = (Path(content.source), Path(content.target))
        return align(file_lines(files[0]), file_lines(files[1]), files)
    if isinstance(content, GzipLines):
        files = (paths[content.source], paths[content.target])
        return align(gzip_lines(files[0]), gzip_lines(files[1]), files)
    path = paths[content.archive]
    names = (f"{path}: {content.source}", f"{path}: {content.target}")
    source, target = (tar_lines(path, member) for member in (content.source, content.target))
    if content.format == "tar-sgml":
        source, target = sgml_lines(source, names[0]), sgml_lines(target, names[1])
    return align(source, target, names)


def _first(
    pairs: Pairs, limits: dict[str, int | None], max_words: int | None, counts: Counts
) -> Pairs:
    """Pairs that are short enough, the first so many of them."""
    ((key, limit),) = limits.items()
    for source, target in pairs:
        counts.read += 1
        if longer_than(max_words, source, target):
            counts.drop("longer than max_words")
        elif limit is not None and counts.kept > limit:
            counts.drop(f"beyond {key}")
        else:
            yield source, target


def _verses(
    content: Verses, archive: Path, output: Path, select: SelectionConfig, counts: Counts
) -> Pairs:
    # SQLite reads files only, so the database is unzipped beside the output for as long as needed.
    with scratch(output / f"{content.split}.db") as database:
        with database.open("wb") as stream:
            unzip_member(archive, content.member, stream)
        verses = list(read_verses(database, content, counts))
    for verse in select_verses(verses, content, select, counts):
        yield verse.source.encode("utf-8"), verse.target.encode("utf-8")
