"""config/devices.yaml: how fast a device trains, as far as is known before it has been tried."""

import math
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from aiayn.common.errors import UserError
from aiayn.config.sections import ModelConfig
from aiayn.config.yaml_files import Section, read_yaml, validate

DEVICES_FILE = "config/devices.yaml"
CPU = "cpu"
SCALING = 0.944
"""Speed kept at each doubling of devices: eight A100 reach 552,000 tokens a second, one 82,000."""
BIG_WIDTH = 1024
"""d_model from which on ``share_big`` holds."""

Above0 = Annotated[float, Field(gt=0.0)]


class Device(Section):
    """One kind of device; of the CPU, one thread."""

    precision: Literal["fp32", "bf16"]
    """What ``precision: auto`` computes in there."""
    peak_tflops: Above0
    """Dense peak in that precision, TFLOP/s."""
    memory_gb: Above0
    """Memory of one device."""
    share_base: Annotated[float, Field(gt=0.0, le=1.0)]
    """Share of the peak that training reaches, below d_model 1024."""
    share_big: Annotated[float, Field(gt=0.0, le=1.0)]
    """The same from d_model 1024 on."""
    source: str
    """Where the numbers come from."""
    launch_ms: Annotated[float, Field(ge=0.0)] = 2.0
    """Milliseconds to start the kernels of an encoder and a decoder layer, forward and backward:
    a micro-batch takes no less, however small it is. Assumed."""

    def share(self, model: ModelConfig) -> float:
        """Share of the peak that training such a model reaches on one device."""
        return self.share_big if model.d_model >= BIG_WIDTH else self.share_base


def speed_up(gpus: int, micro_batches: int) -> float:
    """How many times as fast as one device several are; each takes whole micro-batches."""
    return scaling(gpus) * micro_batches / math.ceil(micro_batches / gpus)


def scaling(gpus: int) -> float:
    """Share of its speed alone that each of several devices keeps."""
    return float(SCALING ** math.log2(gpus))


def is_called(name: str, full_name: str) -> bool:
    """Whether ``A100`` is what a driver calls ``NVIDIA A100-SXM4-40GB``."""
    return bool(re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", full_name, re.I))


def load_devices(root: Path) -> dict[str, Device]:
    """Read config/devices.yaml below ``root``.

    Raises:
        UserError: one line naming the file, the device and the key.
    """
    return {
        str(name): validate(Device, value, f"{DEVICES_FILE}: {name}")
        for name, value in read_yaml(root / DEVICES_FILE).items()
    }


def find_device(root: Path, name: str) -> Device:
    """One device of config/devices.yaml.

    Raises:
        UserError: no such device; the message lists those known.
    """
    devices = load_devices(root)
    if name not in devices:
        raise UserError(
            f"--device: {DEVICES_FILE} has no {name!r}; there are: {', '.join(devices)}"
        )
    return devices[name]
