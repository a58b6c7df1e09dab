"""config/corpora.yaml: archives, where each comes from, and what of it makes a corpus.

A *part* is a piece of training text, a *set* is held out; both are described by a ``Content``.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, StringConstraints, model_validator

from aiayn.common.errors import UserError
from aiayn.config.sections import Positive
from aiayn.config.yaml_files import Section, read_yaml, validate

CATALOGUE_FILE = "config/corpora.yaml"

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
Name = Annotated[str, StringConstraints(pattern=rf"^{_NAME}$")]
RelativePath = Annotated[str, StringConstraints(pattern=rf"^({_NAME}/)*{_NAME}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
FilePath = Annotated[str, StringConstraints(pattern=r"^[^\n]*[^/\n]$")]
PairName = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}-[a-z]{2,3}$")]
Address = Annotated[str, StringConstraints(pattern=r"^(https?://|file:).*[^/]$")]


class Host(Section):
    """Addresses below which the same archives lie."""

    base: Address
    """The official address, without a slash at its end."""
    mirrors: tuple[Address, ...] = ()
    """Tried in this order when it does not answer."""


class Archive(Section):
    """A file to download: from a package index with pip, or from a host."""

    file: RelativePath
    """Where it lies below the folder of downloads."""
    pip: str | None = None
    """Requirement with an exact version, when pip is the transport."""
    host: Name | None = None
    """Otherwise, a host of the catalogue."""
    path: RelativePath | None = None
    """Its path below the host's address."""
    version: str
    """Version or date, as its publisher names it."""
    licence: str
    """Terms of use."""
    bytes: Positive | None = None
    """Size, when known."""
    about_bytes: Positive | None = None
    """Size for estimates, where it is known roughly."""
    sha256: Sha256 | None = None
    """SHA-256; an archive without one is pinned by its first download."""

    @model_validator(mode="after")
    def _one_transport(self) -> Self:
        if (self.pip is None) == (self.host is None) or (self.host is None) != (self.path is None):
            raise ValueError("give either pip, or host and path")
        return self


class Verses(Section):
    """Two editions in the SQLite database of a wheel, aligned by book, chapter and verse."""

    format: Literal["verses"]
    archive: Name
    member: RelativePath
    """The database inside the wheel."""
    source: str
    """Edition (``bbName``) of the source language."""
    target: str
    """Edition of the target language."""
    split: Literal["train", "dev", "test"]
    """Which share of the verses; held-out verses are chosen by a hash of the source text."""
    pairs: Positive | None = None
    """Verses in an edition, before anything is dropped."""


class GzipLines(Section):
    """Two gzip files, a sentence a line."""

    format: Literal["gzip"]
    source: Name
    """Archive of the source side."""
    target: Name
    """Archive of the target side."""
    pairs: Positive | None = None
    """Expected lines of a side."""


class TarMembers(Section):
    """Two members of a tar archive; a member in ``.gz`` is gunzipped."""

    format: Literal["tar", "tar-sgml"]
    """A sentence a line, or SGML with one ``<seg id="...">`` a sentence."""
    archive: Name
    source: RelativePath
    """Member with the source side."""
    target: RelativePath
    """Member with the target side."""
    pairs: Positive | None = None
    """Expected sentences of a side."""


class TextFiles(Section):
    """Two files of your own, a sentence a line; one that ends in ``.gz`` is gunzipped."""

    format: Literal["files"]
    source: FilePath
    """File of the source side, from the root of the checkout or absolute."""
    target: FilePath
    """File of the target side."""
    pairs: Positive | None = None
    """Expected lines of a side."""


Content = Annotated[Verses | GzipLines | TarMembers | TextFiles, Field(discriminator="format")]


class CorpusPair(Section):
    """The parts and sets of a corpus for one language pair."""

    train: tuple[Name, ...] = Field(min_length=1)
    """Training parts, in the order in which they are joined."""
    dev: Name
    """The set for validation and Table 3."""
    tests: tuple[Name, ...] = Field(min_length=1)
    """The sets for Table 2."""
    optional: tuple[Name, ...] = ()
    """Further test sets, for users who have their archives or files; nothing needs them."""
    contents: dict[Name, Content]
    """How each part and set is read."""
    about_pairs: Positive | None = None
    """Training pairs for estimates, where the contents do not say how many."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every part and set but the optional ones."""
        return (*self.train, self.dev, *self.tests)

    @property
    def expected_pairs(self) -> int:
        """Training pairs, for estimates."""
        return self.about_pairs or sum(self.contents[part].pairs or 0 for part in self.train)

    def archives(self, name: str) -> tuple[str, ...]:
        """Keys of the archives needed to extract a part or set; your own files are in none."""
        content = self.contents[name]
        if isinstance(content, TextFiles):
            return ()
        if isinstance(content, GzipLines):
            return (content.source, content.target)
        return (content.archive,)

    @property
    def all_archives(self) -> tuple[str, ...]:
        """Keys of the archives of :attr:`names`, each once."""
        return tuple(dict.fromkeys(key for name in self.names for key in self.archives(name)))

    def files(self, name: str) -> tuple[str, ...]:
        """Files of your own that a part or set is read from."""
        content = self.contents[name]
        return (content.source, content.target) if isinstance(content, TextFiles) else ()

    @model_validator(mode="after")
    def _names_match(self) -> Self:
        names = (*self.names, *self.optional)
        if len(set(names)) != len(names):
            raise ValueError("a name occurs twice among train, dev, tests and optional")
        if set(names) != set(self.contents):
            odd = ", ".join(sorted(set(names) ^ set(self.contents)))
            raise ValueError(f"train, dev, tests, optional and contents must name the same: {odd}")
        return self


class Corpus(Section):
    """Parallel text for one or more language pairs."""

    about: str
    """One line: what it is."""
    licence: str
    """Terms of use of the text."""
    pairs: dict[PairName, CorpusPair] = Field(min_length=1)
    """By language pair, source-target."""


class Transport(NamedTuple):
    """How to get an archive: a pip requirement, or addresses in the order to try."""

    pip: str | None
    addresses: tuple[str, ...]


class Catalogue(Section):
    """Everything that can be downloaded and what is made of it."""

    hosts: dict[Name, Host]
    archives: dict[Name, Archive]
    corpora: dict[Name, Corpus]

    def transport(self, name: str, corpora_base: str = "") -> Transport:
        """How to get archive ``name``; ``corpora_base`` replaces its host and the mirrors.

        pip's index is no host of the catalogue: a user sets another one in pip's configuration.
        """
        archive = self.archives[name]
        if archive.pip or not archive.host:
            return Transport(archive.pip, ())
        host = self.hosts[archive.host]
        bases = (corpora_base.rstrip("/"),) if corpora_base else (host.base, *host.mirrors)
        return Transport(None, tuple(f"{base}/{archive.path}" for base in bases))

    def optional_sets(self, pair: CorpusPair, downloads: Path) -> tuple[str, ...]:
        """Optional sets of a pair whose archives lie in the folder of downloads, or whose own
        files are there."""
        return tuple(name for name in pair.optional if self._is_there(name, pair, downloads))

    def _is_there(self, name: str, pair: CorpusPair, downloads: Path) -> bool:
        archives = [downloads / self.archives[key].file for key in pair.archives(name)]
        return all(path.exists() for path in (*archives, *map(Path, pair.files(name))))


def load_catalogue(root: Path) -> Catalogue:
    """Read config/corpora.yaml below ``root``.

    Raises:
        UserError: one line naming the file and the key, also for a name that is nowhere defined.
    """
    catalogue = validate(Catalogue, read_yaml(root / CATALOGUE_FILE), CATALOGUE_FILE)
    for problem in _problems(catalogue):
        raise UserError(f"{CATALOGUE_FILE}: {problem}")
    return catalogue


def _problems(catalogue: Catalogue) -> Iterator[str]:
    """References that lead nowhere, and two archives in one place."""
    files: dict[str, str] = {}
    for name, archive in catalogue.archives.items():
        if archive.host and archive.host not in catalogue.hosts:
            yield f"archives.{name}.host: no host {archive.host!r}"
        if archive.pip and not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", archive.pip):
            yield f"archives.{name}.pip: {archive.pip!r} is not package==version"
        if archive.file in files:
            yield f"archives.{name}.file: {archive.file!r} is also {files[archive.file]}'s"
        files[archive.file] = name
    for corpus_name, corpus in catalogue.corpora.items():
        for pair_name, pair in corpus.pairs.items():
            key = f"corpora.{corpus_name}.pairs.{pair_name}.contents"
            for name in pair.contents:
                for archive_name in pair.archives(name):
                    if archive_name not in catalogue.archives:
                        known = ", ".join(catalogue.archives)
                        yield f"{key}.{name}: no archive {archive_name!r}; there are: {known}"
