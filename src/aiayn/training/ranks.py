"""One training on several processes: who am I, and what do we agree on (Section 5.2).

torchrun starts one process a GPU (or, on CPUs, as many as asked for) and tells each its rank. A
step is the same whatever their number: rank r takes micro-batches r, r + world, ... of it, and
gradients are summed, never averaged, since each loss is already divided by the target tokens of
all ranks.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from aiayn.batches import Step
from aiayn.common.errors import UserError

TIMEOUT = timedelta(minutes=5)
"""A rank that is silent for so long is dead; the others then end with an error."""


@dataclass(frozen=True)
class Ranks:
    """This process among all of one training."""

    rank: int = 0
    world: int = 1
    local_rank: int = 0
    """Rank on this machine; the number of its GPU."""

    @property
    def first(self) -> bool:
        """Whether this process writes files and logs for all."""
        return self.rank == 0

    def share(self, step: Step) -> list[int]:
        """Numbers of the micro-batches of a step that this rank computes."""
        return list(range(self.rank, len(step.micro_batches), self.world))

    def sum(self, values: Tensor) -> Tensor:
        """Sum over ranks, the same on all."""
        if self.world > 1:
            dist.all_reduce(values)
        return values

    def any(self, flag: bool) -> bool:
        """Whether the flag is up on any rank."""
        if self.world == 1:
            return flag
        votes = torch.tensor([int(flag)])
        dist.all_reduce(votes, group=_cpu_group())
        return bool(votes)

    def from_first(self, number: int) -> int:
        """The first rank's number, on every rank."""
        if self.world == 1:
            return number
        numbers = torch.tensor([number])
        dist.broadcast(numbers, src=0, group=_cpu_group())
        return int(numbers)

    def wait(self) -> None:
        """Go on when every rank is here."""
        if self.world > 1:
            dist.monitored_barrier(group=_cpu_group(), timeout=TIMEOUT)

    def device(self, device: torch.device) -> torch.device:
        """This rank's own device."""
        return torch.device("cuda", self.local_rank) if device.type == "cuda" else device

    def parallel(self, model: nn.Module, device: torch.device) -> nn.Module:
        """The model, its gradients summed over ranks at the end of each backward pass."""
        if self.world == 1:
            return model
        device_ids = [device] if device.type == "cuda" else None
        parallel = DistributedDataParallel(
            model, device_ids=device_ids, broadcast_buffers=False, gradient_as_bucket_view=True
        )
        parallel.register_comm_hook(None, _sum_gradients)
        return parallel


def _sum_gradients(_: object, bucket: dist.GradBucket) -> torch.futures.Future[Tensor]:
    """DDP's own hook divides by the number of ranks; our loss already is a share of the whole."""
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


_GROUPS: dict[str, dist.ProcessGroup] = {}


def _cpu_group() -> dist.ProcessGroup | None:
    """A group that agrees over the network, without waiting for GPUs."""
    if dist.get_backend() == "gloo":
        return None
    if "cpu" not in _GROUPS:
        _GROUPS["cpu"] = dist.new_group(backend="gloo", timeout=TIMEOUT)
    return _GROUPS["cpu"]


@contextlib.contextmanager
def joined_ranks(device: torch.device) -> Iterator[Ranks]:
    """Join the other processes that torchrun started; alone, there is nothing to join.

    Args:
        device: Its type decides between NCCL and gloo.

    Raises:
        UserError: more ranks on this machine than GPUs.
    """
    # Container images set WORLD_SIZE as well; it means something under torchrun alone.
    world = int(os.environ["WORLD_SIZE"]) if dist.is_torchelastic_launched() else 1
    if world == 1:
        yield Ranks()
        return
    ranks = Ranks(int(os.environ["RANK"]), world, int(os.environ["LOCAL_RANK"]))
    if device.type == "cuda":
        if ranks.local_rank >= torch.cuda.device_count():
            raise UserError(
                f"rank {ranks.rank}: this machine has {torch.cuda.device_count()} GPUs, "
                f"fewer than ranks; start as many ranks as GPUs"
            )
        torch.cuda.set_device(ranks.local_rank)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=TIMEOUT)
    try:
        yield ranks
    except BaseException:
        # NCCL takes leave of all ranks together. They may be waiting for this one in a step, so it
        # goes without: torchrun ends them.
        if device.type != "cuda":
            _leave()
        raise
    _leave()


def _leave() -> None:
    _GROUPS.clear()
    dist.destroy_process_group()
