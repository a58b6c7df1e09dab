"""Which checkpoints stay: those that averaging needs, and the newest."""

import torch

from aiayn.training.checkpoints import (
    OPTIMIZER,
    list_checkpoints,
    prune_checkpoints,
    save_checkpoint,
)


def kept_of(folder, steps, **options):
    """Save a checkpoint at each step, pruning after each; returns the steps that are left."""
    for step in steps:
        save_checkpoint(folder, step, {"w": torch.zeros(1)}, {"w/step": torch.zeros(1)}, {})
        prune_checkpoints(folder, **options)
    return [checkpoint.step for checkpoint in list_checkpoints(folder)]


def test_the_last_of_the_schedule_stay(tmp_path):
    assert kept_of(tmp_path, [900, 950, 1000, 10_000], keep=2, every=50) == [1000, 10_000]


def test_an_interruption_takes_no_place_of_a_scheduled_checkpoint(tmp_path):
    """At step 21 a signal came; the mean is that of an undisturbed run."""
    assert kept_of(tmp_path / "a", [10, 20, 21], keep=2, every=10) == [10, 20, 21]
    assert kept_of(tmp_path / "b", [10, 20, 21, 30, 40], keep=3, every=10) == [20, 30, 40]


def test_a_last_step_off_the_schedule_stays(tmp_path):
    assert kept_of(tmp_path, [10, 20, 30, 35], keep=2, every=10) == [20, 30, 35]


def test_the_newest_two_can_be_resumed(tmp_path):
    kept_of(tmp_path, [10, 20, 30, 40], keep=3, every=10)
    resumable = [(c.path / OPTIMIZER).exists() for c in list_checkpoints(tmp_path)]
    assert resumable == [False, True, True]
