"""A seeded permutation of any length in constant memory.

Shuffling 36 million pairs as an array would take a third of a gigabyte a rank. A Feistel network
over just enough bits is a bijection that maps index to index on the fly; indices that fall outside
``[0, n)`` are mapped again until they fall inside (cycle walking, Black and Rogaway 2002).
"""

import hashlib

import numpy as np
import numpy.typing as npt

ROUNDS = 6
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def derive_seed(seed: int, *purpose: object) -> int:
    """A 64-bit seed for one purpose: the one seed of a run, split without correlation."""
    text = "/".join(str(part) for part in (seed, *purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


class Permutation:
    """A bijection of ``range(n)`` that depends on ``seed`` alone."""

    def __init__(self, n: int, seed: int) -> None:
        self.n = n
        half_bits = max(1, (max(n - 1, 1).bit_length() + 1) // 2)
        self._half_bits = np.uint64(half_bits)
        self._mask = np.uint64((1 << half_bits) - 1)
        self._keys = [np.uint64(derive_seed(seed, "round", number)) for number in range(ROUNDS)]

    def __call__(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Map positions [k] in ``range(n)`` to distinct indices [k] in ``range(n)``."""
        values = self._network(positions.astype(np.uint64))
        while (outside := values >= self.n).any():
            values[outside] = self._network(values[outside])
        return values.astype(np.int64)

    def _network(self, values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        left, right = values >> self._half_bits, values & self._mask
        for key in self._keys:
            mixed = (right + key) * _MULTIPLIER
            mixed = (mixed ^ (mixed >> np.uint64(29))) * _MULTIPLIER
            left, right = right, left ^ ((mixed >> np.uint64(32)) & self._mask)
        return (left << self._half_bits) | right
