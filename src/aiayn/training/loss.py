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
        gold = torch.arange(len(labels_N), device=labels_N.device), labels_N
        gold_scores_N = logits_NV[gold].float()
        log_z_N, sum_log_p_N = torch.empty((2, len(labels_N)), device=logits_NV.device)
        for start in range(0, len(labels_N), chunk := _chunk_rows(logits_NV)):
            rows = slice(start, start + chunk)
            scores_CV = logits_NV[rows].float()
            p_CV = scores_CV.softmax(-1)
            # The likeliest token's score and probability give log Z without more exponentials.
            log_z_N[rows] = scores_CV.amax(-1) - p_CV.amax(-1).log_()
            sum_log_p_N[rows] = scores_CV.sum(-1) - scores_CV.shape[-1] * log_z_N[rows]
            if gradient_NV is not None:
                gradient_NV[rows] = p_CV.sub_(others)
        log_p_N = gold_scores_N - log_z_N
        if gradient_NV is not None:
            gradient_NV[gold] = (log_p_N.exp() - (1 - eps)).to(gradient_NV.dtype)
        nll = -log_p_N.sum()
        loss = (1 - eps - others) * nll - others * sum_log_p_N.sum()
        ctx.gradient = gradient_NV
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    def backward(ctx: Any, grad_loss: Tensor, _: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[override]
        return ctx.gradient.mul_(grad_loss), None, None


def _chunk_rows(logits_NV: Tensor) -> int:
    """Rows in fp32 at a time: few enough for a CPU's cache, enough to fill a GPU."""
    return 4096 if logits_NV.is_cuda else 64


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
