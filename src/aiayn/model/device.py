"""Which device computes, and in which type."""

from pathlib import Path

import torch


def choose_device(name: str) -> torch.device:
    """``auto`` is a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


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
