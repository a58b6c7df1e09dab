"""A catalogue of toy archives, built in a folder."""

import gzip
import hashlib
import io
import tarfile
from pathlib import Path
from typing import Any

from aiayn.config.catalogue import Catalogue


def tar_bytes(members: dict[str, bytes], mode: str = "w:gz") -> bytes:
    """A tar archive of plain files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def toy_catalogue(base: str, archives: dict[str, bytes | None], **contents: Any) -> Catalogue:
    """A catalogue of archives ``<name>`` at ``sub/<name>.tgz``; ``None``: sum not known.

    Args:
        base: Address of the host.
        archives: Content by name, for its sum and size.
        contents: The parts ``p``, ``d`` and ``t`` of the corpus ``toy``, EN-DE.
    """
    entries = {}
    for name, content in archives.items():
        path = f"sub/{name}.tgz"
        entries[name] = {"file": path, "host": "h", "path": path, "version": "1", "licence": "-"}
        if content is not None:
            entries[name] |= {"bytes": len(content), "sha256": sha256(content)}
    first = next(iter(archives))
    plain = {"format": "tar", "archive": first, "source": "x.en", "target": "x.de"}
    pair = {"train": ["p"], "dev": "d", "tests": ["t"]}
    pair["contents"] = {name: contents.get(name, plain) for name in ("p", "d", "t")}
    corpus = {"about": "toy", "licence": "-", "pairs": {"en-de": pair}}
    return Catalogue.model_validate(
        {"hosts": {"h": {"base": base}}, "archives": entries, "corpora": {"toy": corpus}}
    )


def put(folder: Path, name: str, content: bytes) -> Path:
    """Write an archive where the catalogue expects it."""
    path = folder / "sub" / f"{name}.tgz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def gzipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)
