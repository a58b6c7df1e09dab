"""From subword text to padded batches: memory-mapped ids, token buckets, a seeded order.

``aiayn.batches.tensors``, the one module that needs torch, is imported where it is used.
"""

from aiayn.batches.binarize import binarize
from aiayn.batches.buckets import Position, Step, epoch_order, training_steps, validation_batches
from aiayn.batches.parallel_data import ParallelData

__all__ = [
    "ParallelData",
    "Position",
    "Step",
    "binarize",
    "epoch_order",
    "training_steps",
    "validation_batches",
]
