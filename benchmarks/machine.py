"""The machine that numbers were taken on, in Markdown."""

import os
from datetime import UTC, datetime
from pathlib import Path

import psutil
import torch

from aiayn.common.provenance import git_commit, host

FLAGS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16", "amx_int8")
"""Of /proc/cpuinfo: what decides how fast matrices are multiplied."""


def describe() -> str:
    """Date, commit, processor, memory and versions, a line each."""
    machine = host()
    memory = psutil.virtual_memory().total / 2**30
    lines = [
        f"{datetime.now(UTC):%Y-%m-%d}, commit {git_commit()}",
        f"{machine['processor']}, {os.cpu_count()} cores, {memory:.0f} GiB of memory",
        f"instructions: {', '.join(_flags()) or 'none known here'}",
        f"{machine['system']}, torch {torch.__version__}, GPUs: {torch.cuda.device_count()}",
        "load when it began (1, 5, 15 minutes): "
        + ", ".join(f"{load:.1f}" for load in os.getloadavg()),
    ]
    return "".join(f"* {line}\n" for line in lines)


def _flags() -> list[str]:
    cpuinfo = Path("/proc/cpuinfo")
    present = set(cpuinfo.read_text(encoding="utf-8").split()) if cpuinfo.exists() else set()
    return [flag for flag in FLAGS if flag in present]
