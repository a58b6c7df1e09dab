"""Training (Section 5): schedule, loss, loop, checkpoints, resume."""

from aiayn.training.run import Job, train

__all__ = ["Job", "train"]
