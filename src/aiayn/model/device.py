"""Which device computes, and in which type."""

from pathlib import Path

import torch

from aiayn.common.errors import UserError
from aiayn.common.provenance import host


def choose_device(name: str) -> torch.device:
    """``auto`` is a GPU where there is one.

    Raises:
        UserError: another name than auto, cpu or cuda, or no GPU that torch can use.
    """
    if name not in ("auto", "cpu", "cuda"):
        raise UserError(f"--device: {name!r} is none of auto, cpu, cuda")
    if name != "cpu" and torch.cuda.is_available():
        return torch.device("cuda")
    if name == "cuda":
        raise UserError("--device: cuda, but torch finds no GPU here (aiayn doctor says more)")
    return torch.device("cpu")


def choose_precision(name: str, device: torch.device) -> str:
    """``auto`` is bf16 where the device multiplies it natively, else fp32."""
    if name != "auto":
        return name
    if device.type == "cuda":
        native = torch.cuda.is_bf16_supported(including_emulation=False)
        return "bf16" if native else "fp32"
    cpu_flags = Path("/proc/cpuinfo")
    flags = cpu_flags.read_text(encoding="utf-8") if cpu_flags.exists() else ""
    return "bf16" if "avx512_bf16" in flags or "amx_bf16" in flags else "fp32"


def device_name(device: torch.device) -> str:
    """A GPU's model, or the processor's."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return host()["processor"]
