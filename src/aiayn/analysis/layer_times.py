"""Table 1 measured: seconds of a forward pass of one layer, by kind of layer and sequence length.

Shape suffixes: B batch, T positions, D d_model, H heads, K d_k, N blocks, R positions of a block.
"""

import time
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from aiayn.common.errors import UserError
from aiayn.common.progress import track
from aiayn.common.provenance import host
from aiayn.config import ModelConfig
from aiayn.model.attention import MultiHeadAttention
from aiayn.model.device import device_name

Layer = Callable[[Tensor], Tensor]

KERNEL = 3
"""k of the convolution."""
BLOCK = 64
"""Positions of a block in restricted self-attention."""
SECONDS = 0.1
"""At least so long, and ``REPEATS`` times, is a layer timed at a length; the best time counts."""
REPEATS = 3


class RestrictedSelfAttention(nn.Module):
    """Self-attention to a neighbourhood (Section 4): a block sees itself and the one before.

    So a position sees r = ``BLOCK`` to 2 ``BLOCK`` - 1 others, and the cost is linear in length.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """[B, T, D] to [B, T, D]; T must be a multiple of ``BLOCK`` or at most ``BLOCK``."""
        if x_BTD.shape[1] <= BLOCK:
            return self.attention(x_BTD, None, None)  # type: ignore[no-any-return]
        q_BHTK, past = self.attention.project_self(x_BTD)
        heads = F.scaled_dot_product_attention(
            q_BHTK.unflatten(2, (-1, BLOCK)),
            _with_block_before(past.keys_BHMK),
            _with_block_before(past.values_BHMV),
        )
        joined = heads.flatten(2, 3).transpose(1, 2).flatten(-2)
        return self.attention.out_proj(joined)  # type: ignore[no-any-return]


def _with_block_before(x_BHTK: Tensor) -> Tensor:
    """Each block after the one before it (the first twice): [B, H, N, 2R, K]."""
    blocks = x_BHTK.unflatten(2, (-1, BLOCK))
    before = torch.cat((blocks[:, :, :1], blocks[:, :, :-1]), dim=2)
    return torch.cat((before, blocks), dim=3)


def make_layers(d_model: int, h: int) -> dict[str, Layer]:
    """One layer of each of Table 1's kinds, d_model wide in and out, projections and all."""
    config = ModelConfig(d_model=d_model, h=h)
    attention, restricted = MultiHeadAttention(config), RestrictedSelfAttention(config)
    lstm = nn.LSTM(d_model, d_model, batch_first=True)
    convolution = nn.Conv1d(d_model, d_model, KERNEL, padding=KERNEL // 2)
    return {
        "self-attention": lambda x_BTD: attention(x_BTD, None, None),
        "recurrent": lambda x_BTD: lstm(x_BTD)[0],
        "convolutional": lambda x_BTD: convolution(x_BTD.transpose(1, 2)).transpose(1, 2),
        "self-attention (restricted)": restricted,
    }


def best_seconds(layer: Layer, x_BTD: Tensor) -> float:
    """The best time of several passes: what the machine can do when nothing else is in its way."""
    times: list[float] = []
    layer(x_BTD)  # the first pass allocates
    while len(times) < REPEATS or sum(times) < SECONDS:
        _wait(x_BTD.device)
        started = time.perf_counter()
        layer(x_BTD)
        _wait(x_BTD.device)
        times.append(time.perf_counter() - started)
    return min(times)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def parse_lengths(text: str) -> list[int]:
    """Read ``16,128``.

    Raises:
        UserError: one is no length that every kind of layer takes.
    """
    lengths = [int(part) if part.strip().isdecimal() else 0 for part in text.split(",")]
    for part, length in zip(text.split(","), lengths, strict=True):
        if length < 1 or (length > BLOCK and length % BLOCK):
            raise UserError(
                f"--lengths: {part!r} is neither 1 to {BLOCK} nor a multiple of {BLOCK}"
            )
    return sorted(set(lengths))


@torch.inference_mode()
def measure(
    lengths: list[int], device: torch.device, *, d_model: int = 512, h: int = 8
) -> dict[str, Any]:
    """Time every kind of layer at every length, one sequence, fp32; the paper's base width.

    Returns:
        What ``aiayn layer-times`` writes: ``seconds`` by kind, in the order of ``lengths``.
    """
    torch.manual_seed(1)
    with device:
        layers = make_layers(d_model, h)
    seconds: dict[str, list[float]] = {kind: [] for kind in layers}
    points = [(kind, length) for kind in layers for length in lengths]
    for kind, length in track(points, "layer times", total=len(points), unit="points"):
        x_1TD = torch.randn(1, length, d_model, device=device)
        seconds[kind].append(best_seconds(layers[kind], x_1TD))
    return {
        "d_model": d_model,
        "h": h,
        "k": KERNEL,
        "block": BLOCK,
        "threads": torch.get_num_threads(),
        "device": device_name(device),
        "host": host(),
        "torch": torch.__version__,
        "lengths": lengths,
        "seconds": seconds,
    }
