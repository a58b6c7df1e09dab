"""GPUs as torch sees them, and NCCL between them."""

import shutil
from collections.abc import Iterator

from aiayn.config.plan import Plan
from aiayn.doctor.finding import Finding, fail, ok, output_of, warn


def check_gpus(plan: Plan) -> Iterator[Finding]:
    """Whether training finds the GPUs that the configuration asks for."""
    import torch  # seconds to load, and needed here alone

    settings = plan.project.settings
    if not settings.uses_gpu:
        yield ok("gpus: not asked for (device: cpu)")
        return
    if not torch.cuda.is_available():
        yield _no_gpu(required=settings.device == "cuda", has_cuda=torch.version.cuda is not None)
        return
    count = torch.cuda.device_count()
    name = torch.cuda.get_device_name(0)
    what = f"gpus: {count} x {name}"
    if count < settings.ranks:
        yield fail(f"{what}, ranks: {settings.ranks}", "set ranks to the number of GPUs at most")
    else:
        yield ok(what)
    yield _check_gpu_memory(plan, torch.cuda.get_device_properties(0).total_memory)
    if not torch.cuda.is_bf16_supported(including_emulation=False):
        yield warn(f"bf16: {name} has none", "trainings take several times as long, in fp32")
    if settings.ranks > 1:
        yield _check_nccl(torch.distributed.is_nccl_available())


def _no_gpu(*, required: bool, has_cuda: bool) -> Finding:
    driver = output_of("nvidia-smi", "--list-gpus") if shutil.which("nvidia-smi") else None
    if driver and driver.succeeded and driver.text:
        what = f"gpus: nvidia-smi lists {driver.text.count('GPU ')}, torch finds none"
        reason = "update the driver" if has_cuda else "install a build of torch with CUDA"
        return fail(what, reason) if required else warn(what, f"{reason}, or set device: cpu")
    if required:
        return fail("gpus: none here, config.yaml asks for cuda", "run this on a machine with GPUs")
    return ok("gpus: none here; training runs on the CPU, or on GPUs that Slurm gives")


def _check_gpu_memory(plan: Plan, memory: int) -> Finding:
    needed = max(each.memory_bytes for each in plan.trainings)
    what = (
        f"gpu memory: {memory / 1e9:.0f} GB, {needed / 1e9:.1f} GB for weights, gradients and Adam"
    )
    if needed > memory / 2:
        return warn(what, "activations may not fit; micro-batches are cut when they do not")
    return ok(what)


def _check_nccl(available: bool) -> Finding:
    if not available:
        return fail("nccl: this torch has none", "install a build of torch with CUDA, or ranks: 1")
    import torch

    return ok(f"nccl: {'.'.join(map(str, torch.cuda.nccl.version()))}")
