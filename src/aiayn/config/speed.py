"""How fast a training goes on a device: as measured at this scale, else as assumed."""

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ConfigDict

from aiayn.common.files import read_json
from aiayn.config.devices import CPU, Device, is_called, scaling
from aiayn.config.project import Project, Run
from aiayn.config.sections import ModelConfig
from aiayn.config.yaml_files import Section, validate


@dataclass(frozen=True)
class Speed:
    """What one device does, in the operations of :mod:`aiayn.config.cost`."""

    tflops: float
    """TFLOP/s, sustained."""
    basis: str
    """Where it comes from, for the plan's reader."""


class _Trained(Section):
    """What is read of ``trained.json``."""

    model_config = ConfigDict(extra="ignore")

    flops: float
    seconds: float
    device: str
    ranks: int = 1
    stretches: tuple[Any, ...] = ()


class _Provenance(Section):
    """What is read of ``run.json``."""

    model_config = ConfigDict(extra="ignore")

    host: dict[str, str]


def assumed_speed(name: str, device: Device, model: ModelConfig) -> Speed:
    """The share of its peak that config/devices.yaml assumes."""
    share = device.share(model)
    basis = f"assumed: {share:.0%} of {name}'s {device.peak_tflops:g} TFLOP/s"
    return Speed(share * device.peak_tflops, basis)


def measured_speeds(project: Project, name: str, results: Path) -> dict[tuple[str, str], Speed]:
    """Speeds of the scale's finished trainings on a device, by (pair, row).

    Args:
        name: A device of config/devices.yaml.
        results: Folder that holds results/<scale>.

    Raises:
        UserError: a marker is not what ``aiayn train`` writes; the message names file and key.
    """
    found: dict[tuple[str, str], Speed] = {}
    for path in sorted((results / project.name).glob("*/*/seed*/trained.json")):
        trained = validate(_Trained, read_json(path), str(path))
        in_one_piece = len(trained.stretches) < 2  # the same devices from beginning to end
        if in_one_piece and _ran_on(path, trained, name) and trained.seconds:
            alone = trained.flops / trained.seconds / (trained.ranks * scaling(trained.ranks))
            run = (path.parents[2].name, path.parents[1].name)
            found[run] = Speed(alone / 1e12, f"measured: this row on {trained.device}")
    return found


def _ran_on(path: Path, trained: _Trained, name: str) -> bool:
    if name != CPU:
        return is_called(name, trained.device)
    file = path.with_name("run.json")
    provenance = validate(_Provenance, read_json(file), str(file))
    return trained.device == provenance.host.get("processor")


def best_known_speed(run: Run, measured: dict[tuple[str, str], Speed], assumed: Speed) -> Speed:
    """Of the row itself, else the median of the scale's other trainings, else as assumed."""
    own = measured.get((run.pair, run.row))
    if own:
        return own
    if measured:
        median = statistics.median(speed.tflops for speed in measured.values())
        return Speed(median, f"measured: median of {len(measured)} other trainings")
    return assumed
