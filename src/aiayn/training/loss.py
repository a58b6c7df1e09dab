"""Label-smoothed cross-entropy (Section 5.4), fused with its gradient.

The target gives 1 - eps to the right token and eps / (V - 1) to every other of the V rows.
"""

from typing import Any

import torch
from torch import Tensor


class _SmoothedCrossEntropy(torch.autograd.Function):
    """Sum over tokens; the gradient is made in the forward pass, while the softmax is at hand."""

    @staticmethod
    def forward(ctx: Any, logits_NV: Tensor, labels_N: Tensor, eps: float) -> tuple[Tensor, Tensor]:
        others = eps / (logits_NV.shape[-1] - 1)
        gradient_NV = torch.empty_like(logits_NV) if ctx.needs_input_grad[0] else None
        nll = logits_NV.new_zeros((), dtype=torch.float32)
        sum_log_p = torch.zeros_like(nll)
        for start in range(0, len(labels_N), chunk := _chunk_rows(logits_NV)):
            rows = slice(start, start + chunk)
            log_p_CV = logits_NV[rows].float().log_softmax(-1)
            gold_C1 = labels_N[rows, None]
            nll -= log_p_CV.gather(-1, gold_C1).sum()
            if eps:
                sum_log_p += log_p_CV.sum()
            if gradient_NV is not None:
                log_p_CV.exp_().sub_(others)
                on_gold_C1 = log_p_CV.new_full(gold_C1.shape, others - (1 - eps))
                gradient_NV[rows] = log_p_CV.scatter_add_(-1, gold_C1, on_gold_C1)
        loss = (1 - eps - others) * nll - others * sum_log_p
        ctx.gradient = gradient_NV
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    def backward(ctx: Any, grad_loss: Tensor, _: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[override]
        return ctx.gradient.mul_(grad_loss), None, None


def _chunk_rows(logits_NV: Tensor) -> int:
    """Rows in fp32 at a time: few enough for a CPU's cache, enough to fill a GPU."""
    return 4096 if logits_NV.is_cuda else 128


def smoothed_cross_entropy(
    logits_NV: Tensor, labels_N: Tensor, eps: float
) -> tuple[Tensor, Tensor]:
    """Loss and negative log-likelihood, each summed over tokens, in fp32.

    Args:
        logits_NV: [N, V] scores, one row a target token; no padding.
        labels_N: [N] right tokens.
        eps: Label smoothing.

    Returns:
        The smoothed loss, to be minimized, and the plain -log p of the right tokens in nats.
    """
    return _SmoothedCrossEntropy.apply(logits_NV, labels_N, eps)  # type: ignore[no-any-return]
