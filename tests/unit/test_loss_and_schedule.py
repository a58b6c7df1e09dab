"""Equation 3 and label smoothing, against worked values and torch."""

import pytest
import torch

from aiayn.common.formulas import learning_rate
from aiayn.training.loss import smoothed_cross_entropy


@pytest.mark.parametrize(("step", "expected"), [(4_000, 7.0e-4), (100_000, 1.4e-4), (1, 1.75e-7)])
def test_schedule_has_the_papers_values(step, expected):
    assert learning_rate(step, d_model=512, warmup=4_000) == pytest.approx(expected, rel=0.005)


@pytest.mark.parametrize("eps", [0.0, 0.1, 0.3])
def test_smoothed_loss_is_cross_entropy_with_the_smoothed_target(eps):
    torch.manual_seed(0)
    logits = torch.randn(6, 11, dtype=torch.float64).float().requires_grad_()
    labels = torch.randint(11, (6,))
    target = torch.full((6, 11), eps / 10)
    target[torch.arange(6), labels] = 1 - eps
    expected = -(target * logits.log_softmax(-1)).sum()
    (expected_gradient,) = torch.autograd.grad(expected, logits)
    loss, nll = smoothed_cross_entropy(logits, labels, eps)
    (gradient,) = torch.autograd.grad(loss * 1.0, logits)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(gradient, expected_gradient, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(
        nll, torch.nn.functional.cross_entropy(logits, labels, reduction="sum")
    )


def test_smoothing_spreads_over_v_minus_1_others_not_over_v():
    # Uniform scores over 4 tokens cost log 4 whatever the target; a worked value tells the two.
    logits = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    log_z = torch.logsumexp(logits[0], 0)
    expected = 0.9 * (log_z - 2) + 3 * (0.1 / 3) * log_z
    loss, _ = smoothed_cross_entropy(logits, torch.tensor([0]), 0.1)
    assert float(loss) == pytest.approx(float(expected), rel=1e-6)
