"""Training (Section 5): schedule, loss, loop, checkpoints, resume."""

from aiayn.training.run import Job, check_data, train

__all__ = ["Job", "check_data", "train"]
