"""A checkout whose smoke trainings last long enough to be caught half-way, and runs of it."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.slurm_node import SlurmNode, missing
from tests.workflow.conftest import Checkout, copy_checkout

STEPS, CHECKPOINT_EVERY = 60, 10
CAUGHT_AFTER = 20
"""Step whose checkpoint is waited for before a training is interrupted."""


def longer_checkout(folder: Path) -> Checkout:
    """A copy of the checkout with more steps at the smoke scale."""
    checkout = copy_checkout(folder)
    scale = "config/scales/smoke.yaml"
    checkout.edit(scale, "steps: 20\n", f"steps: {STEPS}\n")
    checkout.edit(scale, "checkpoint_every: 4\n", f"checkpoint_every: {CHECKPOINT_EVERY}\n")
    return checkout


def wait_for(what: str, condition: Callable[[], object], seconds: float = 120) -> None:
    """Return when the condition holds; fail when it takes too long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {seconds:.0f} s"
        time.sleep(0.1)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The checkout after two rows on this machine, with nothing in their way."""
    checkout = longer_checkout(tmp_path_factory.mktemp("undisturbed") / "checkout")
    checkout.snakemake()
    return checkout


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    """A running Slurm of one node with two pretend GPUs."""
    reason = missing()
    if reason:
        pytest.skip(f"no Slurm can be started here: {reason} (apt-get install slurm-wlm munge)")
    with SlurmNode(tmp_path_factory.mktemp("slurm")) as node:
        yield node
