"""A tiny training takes the steps that it took when its curve was recorded."""

import pandas as pd
import pytest

from tests.golden.loss_curve import CURVE, STEPS, curve

TOLERANCE = 1e-5
"""Relative. The same bytes cannot be asked of another processor, whose kernels sum in other orders;
plain C++, AVX2 and AVX-512 kernels differed by 3e-7 at most."""


def test_losses_are_the_recorded_ones():
    recorded, now = pd.read_csv(CURVE), curve()
    assert len(recorded) == STEPS
    for column in ("without_dropout", "with_dropout"):
        expected = pytest.approx(recorded[column].to_numpy(), rel=TOLERANCE)
        assert now[column].to_numpy() == expected, (
            f"{column} left its recorded course. If that is meant: "
            ".venv/bin/python -m tests.golden.loss_curve"
        )


def test_the_recorded_training_learns():
    recorded = pd.read_csv(CURVE)
    for column in ("without_dropout", "with_dropout"):
        assert recorded[column].tail(10).mean() < recorded[column].head(10).mean() - 1.0
