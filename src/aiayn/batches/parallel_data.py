"""Binarized sentence pairs, opened in no time and read from the page cache."""

from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aiayn.common.errors import UserError
from aiayn.common.files import read_json

Ids = npt.NDArray[np.int64]


class ParallelData:
    """Read access to a folder that :func:`aiayn.batches.binarize` wrote.

    Lengths count the end token that :func:`aiayn.batches.make_batch` appends to each side.

    Raises:
        UserError: the folder or one of its files is missing; the message names it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index = read_json(folder / "index.json")
        self._ids = {side: self._open(f"{side}.ids.npy") for side in ("source", "target")}
        self._offsets = {side: self._open(f"{side}.offsets.npy") for side in ("source", "target")}

    def _open(self, name: str) -> npt.NDArray[np.integer]:
        try:
            return np.load(self.folder / name, mmap_mode="r")  # type: ignore[no-any-return]
        except (OSError, ValueError) as error:
            raise UserError(f"{self.folder / name}: {error}") from None

    def __len__(self) -> int:
        return int(self.index["pairs"])

    @cached_property
    def vocabulary_size(self) -> int:
        """Entries of the vocabulary that made the ids."""
        return int(self.index["vocabulary"])

    def lengths(self, side: str, pairs: Ids) -> Ids:
        """Tokens of the given pairs on a side, the end token included.

        Args:
            side: ``"source"`` or ``"target"``.
            pairs: [n] indices of pairs.
        """
        offsets = self._offsets[side]
        return offsets[pairs + 1] - offsets[pairs] + 1

    def sentence(self, side: str, pair: int) -> npt.NDArray[np.integer]:
        """The ids of one sentence, without begin and end tokens: [length]."""
        start, end = self._offsets[side][pair : pair + 2]
        return self._ids[side][start:end]

    def tokens(self, side: str, pairs: Ids) -> npt.NDArray[np.integer]:
        """The ids of several sentences, one after another, without begin and end tokens."""
        starts, lengths = self._offsets[side][pairs], self.lengths(side, pairs) - 1
        before = np.cumsum(lengths) - lengths
        return self._ids[side][np.repeat(starts - before, lengths) + np.arange(lengths.sum())]
