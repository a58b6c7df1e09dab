"""Where a result came from: code, packages, machine."""

import hashlib
import platform
import socket
import subprocess
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("torch", "numpy", "sacremoses", "subword-nmt", "sacrebleu", "safetensors")


def git_commit() -> str | None:
    """The commit of the checkout that the package runs from, ``-dirty`` when files differ."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--abbrev=40"]
    try:
        done = subprocess.run([*command, "--dirty"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def package_versions() -> dict[str, str]:
    """Python and the packages that results depend on."""
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def host() -> dict[str, str]:
    """The machine's name, system and processor."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").split("\n"):
            if line.startswith("model name"):
                processor = line.partition(":")[2].strip()
                break
    return {"name": socket.gethostname(), "system": platform.platform(), "processor": processor}


def sources_sha256(*patterns: str) -> str:
    """One SHA-256 over source files of aiayn, by name and content.

    Args:
        patterns: Relative to the package, ``model/*.py``.
    """
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(path for pattern in patterns for path in root.glob(pattern)):
        name = path.relative_to(root).as_posix()
        digest.update(f"{name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()
