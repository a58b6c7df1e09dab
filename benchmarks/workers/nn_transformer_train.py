"""Trains ``torch.nn.Transformer`` in fp32 on this project's batches and times each step.

Reads the request that aiayn_train.py reads and prints the same times: same batches in the same
order, same vocabulary matrix on both sides and before the softmax, same loss, same Adam.
"""

import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from aiayn.batches import ParallelData, training_steps
from aiayn.batches.tensors import Batch, make_batch
from aiayn.common.formulas import learning_rate, sinusoids
from aiayn.config import ModelConfig, TrainingConfig
from aiayn.text import PAD
from aiayn.training.memory import keep_freed_memory
from aiayn.training.trainer import ADAM_BETAS, ADAM_EPS


class Model(nn.Module):
    """nn.Transformer between one embedding matrix and its transpose."""

    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(-(-vocabulary // 8) * 8, config.d_model, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        table = torch.from_numpy(sinusoids(config.max_positions, config.d_model)).float()
        self.register_buffer("positions", table, persistent=False)
        self.dropout, self.scale = nn.Dropout(config.p_drop), math.sqrt(config.d_model)
        self.transformer = nn.Transformer(
            config.d_model,
            config.h,
            config.N,
            config.N,
            config.d_ff,
            config.p_drop,
            batch_first=True,
        )

    def embed(self, ids_BT: Tensor) -> Tensor:
        """Embeddings times sqrt(d_model) plus positions: [B, T, D]."""
        embedded = self.embedding(ids_BT) * self.scale
        return self.dropout(embedded + self.positions[: ids_BT.shape[1]])  # type: ignore[index, no-any-return]

    def forward(self, batch: Batch) -> Tensor:
        """Scores at the positions that have a label: [N, V]."""
        length = batch.target_input.shape[1]
        hidden_BTD = self.transformer(
            self.embed(batch.source),
            self.embed(batch.target_input),
            tgt_mask=torch.ones(length, length, dtype=torch.bool).triu(1),
            src_key_padding_mask=batch.source == PAD,
            memory_key_padding_mask=batch.source == PAD,
            tgt_is_causal=True,
        )
        rows = hidden_BTD.flatten(0, 1)[batch.label_positions]
        return nn.functional.linear(rows, self.embedding.weight)


def train(
    data: ParallelData, config: ModelConfig, training: TrainingConfig
) -> dict[str, list[float]]:
    """Take the steps; returns when each began and how many target tokens it had."""
    torch.manual_seed(training.seed)
    model = Model(config, data.vocabulary_size).train()
    loss_of = nn.CrossEntropyLoss(label_smoothing=training.eps_ls)
    optimizer = torch.optim.Adam(
        model.parameters(), lr=0.0, betas=ADAM_BETAS, eps=ADAM_EPS, fused=True
    )
    result: dict[str, list[float]] = {"entered": [], "tokens": [], "losses": []}
    steps = training_steps(
        data,
        seed=training.seed,
        tokens_per_step=training.tokens_per_step,
        micro_batches=training.micro_batches,
        max_length=training.max_length,
    )
    for number, step in zip(range(1, training.steps + 1), steps, strict=False):
        result["entered"].append(time.perf_counter())
        batch = make_batch(data, step.micro_batches[0])
        loss = loss_of(model(batch), batch.labels)
        loss.backward()
        lr = learning_rate(number, d_model=config.d_model, warmup=training.warmup)
        optimizer.param_groups[0]["lr"] = lr
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        result["tokens"].append(len(batch.labels))
        result["losses"].append(loss.item())
    return result


def main() -> None:
    """Train and print the times."""
    request: dict[str, Any] = json.loads(sys.argv[1])
    training = TrainingConfig(**request["training"])
    torch.set_num_threads(training.threads)
    keep_freed_memory()
    data = ParallelData(Path(request["data"]) / "train")
    print(json.dumps(train(data, ModelConfig(**request["model"]), training)))


if __name__ == "__main__":
    main()
