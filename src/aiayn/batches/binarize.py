"""Subword text to memory-mapped ids, in two streaming passes: count, then write."""

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from aiayn.common.errors import UserError
from aiayn.common.files import (
    errors_naming,
    fsync_directory,
    read_lines,
    scratch,
    sha256_of,
    write_json,
)
from aiayn.common.progress import Meter
from aiayn.text import Vocabulary

BLOCK_LINES = 50_000
_RESERVES_NOTHING = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)
"""What file systems say that cannot reserve bytes."""


def binarize(
    sources: Sequence[Path], targets: Sequence[Path], vocabulary_file: Path, output: Path
) -> None:
    """Write the folder ``output`` that :class:`ParallelData` opens.

    Args:
        sources, targets: Subword files, the parts in order; ``sources[i]`` and ``targets[i]``
            are aligned line by line.
        vocabulary_file: ``vocabulary.txt`` that gives the ids.
        output: Folder to make; replaced as a whole when it exists.

    Raises:
        UserError: two sides have unequal line counts, a line is not UTF-8, or nothing is there.
        OSError: the disk is full; nothing is left behind.
    """
    vocabulary = Vocabulary.load(vocabulary_file)
    counts = [_count(source, target) for source, target in zip(sources, targets, strict=True)]
    pairs, source_tokens, target_tokens = (sum(column) for column in zip(*counts, strict=True))
    if not pairs:
        raise UserError(f"{sources[0]}: no sentence pairs to binarize")
    with errors_naming(output), scratch(output) as temporary:
        temporary.mkdir(parents=True)
        for side, files, tokens in (
            ("source", sources, source_tokens),
            ("target", targets, target_tokens),
        ):
            _write_side(temporary, side, files, vocabulary, pairs, tokens)
        index = {
            "pairs": pairs,
            "source_tokens": source_tokens,
            "target_tokens": target_tokens,
            "vocabulary": len(vocabulary),
            "vocabulary_sha256": sha256_of(vocabulary_file),
            "sha256": {path.name: sha256_of(path) for path in sorted(temporary.glob("*.npy"))},
        }
        write_json(temporary / "index.json", index)
        shutil.rmtree(output, ignore_errors=True)
        temporary.rename(output)
        fsync_directory(output.parent)


def _count(source: Path, target: Path) -> tuple[int, int, int]:
    """Pairs, source tokens and target tokens of two aligned files."""
    lines = [0, 0]
    tokens = [0, 0]
    for pair in zip_longest(read_lines(source), read_lines(target)):
        for side, line in enumerate(pair):
            if line is not None:
                lines[side] += 1
                tokens[side] += len(line.split())
    if lines[0] != lines[1]:
        raise UserError(f"{source} has {lines[0]:,} lines but {target} has {lines[1]:,}")
    return lines[0], tokens[0], tokens[1]


def _write_side(
    folder: Path, side: str, files: Sequence[Path], vocabulary: Vocabulary, pairs: int, tokens: int
) -> None:
    dtype = np.uint16 if len(vocabulary) <= np.iinfo(np.uint16).max + 1 else np.uint32
    offsets = _new_array(folder / f"{side}.offsets.npy", np.int64, pairs + 1)
    ids = _new_array(folder / f"{side}.ids.npy", dtype, max(tokens, 1))
    sentence = position = 0
    offsets[0] = 0
    with Meter(f"binarize {side}", total=pairs, unit="sentences") as meter:
        for block in _blocks(files):
            encoded = [vocabulary.encode(line.split()) for line in block]
            ends = position + np.cumsum([len(sentence_ids) for sentence_ids in encoded])
            offsets[sentence + 1 : sentence + 1 + len(encoded)] = ends
            flat = [token for sentence_ids in encoded for token in sentence_ids]
            ids[position : position + len(flat)] = flat
            sentence, position = sentence + len(encoded), position + len(flat)
            meter.advance(len(encoded))
    for array in (offsets, ids):
        array.flush()


def _new_array(path: Path, dtype: type[np.integer], length: int) -> np.memmap[Any, np.dtype[Any]]:
    """A file of so many numbers, mapped into memory.

    Raises:
        OSError: the disk has no room for all of them.
    """
    array = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(length,))
    with path.open("r+b") as stream:
        try:
            # Were the file sparse, a disk that fills up later would kill the process (SIGBUS).
            os.posix_fallocate(stream.fileno(), 0, path.stat().st_size)
        except OSError as error:
            if error.errno not in _RESERVES_NOTHING:
                raise
    return array


def _blocks(files: Sequence[Path]) -> Iterator[list[str]]:
    """Lines of the files one after another, some thousand at a time."""
    block: list[str] = []
    for file in files:
        for line in read_lines(file):
            block.append(line)
            if len(block) == BLOCK_LINES:
                yield block
                block = []
    if block:
        yield block
