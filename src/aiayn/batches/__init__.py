"""From subword text to padded batches: memory-mapped ids, token buckets, a seeded order."""

from aiayn.batches.binarize import binarize
from aiayn.batches.buckets import Position, Step, epoch_order, training_steps, validation_batches
from aiayn.batches.parallel_data import ParallelData
from aiayn.batches.tensors import Batch, make_batch

__all__ = [
    "Batch",
    "ParallelData",
    "Position",
    "Step",
    "binarize",
    "epoch_order",
    "make_batch",
    "training_steps",
    "validation_batches",
]
