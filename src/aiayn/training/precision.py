"""Training in bf16 with fp32 weights."""

import torch
from torch import Tensor, nn
from torch.func import functional_call

from aiayn.model import Transformer


class InPrecision(nn.Module):
    """The model computed in a given type; its weights and their gradients stay fp32.

    Each weight is cast once a pass, however often the pass uses it.
    """

    def __init__(self, model: Transformer, precision: str) -> None:
        super().__init__()
        self.model = model
        self.dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]

    def forward(self, source_BS: Tensor, target_BT: Tensor, positions_N: Tensor) -> Tensor:
        """As :meth:`Transformer.forward`."""
        inputs = (source_BS, target_BT, positions_N)
        if self.dtype == torch.float32:
            return self.model(*inputs)  # type: ignore[no-any-return]
        cast = {name: weight.to(self.dtype) for name, weight in self.model.named_parameters()}
        return functional_call(self.model, cast, inputs)  # type: ignore[no-any-return]
