"""What the trainings of a scale cost, before any of them is started.

Costs follow from the configuration alone (:mod:`aiayn.config.cost`) and from the speed of a device
(:mod:`aiayn.config.speed`). Validation, decoding and data preparation are not counted.
"""

import math
from dataclasses import dataclass
from pathlib import Path

from aiayn.common.errors import UserError
from aiayn.config.cost import TokenCounts, parameters, training_flops
from aiayn.config.devices import Device, find_device, speed_up
from aiayn.config.project import TABLE3_PAIR, Project, Run
from aiayn.config.sections import ModelConfig, TrainingConfig, check_ranks
from aiayn.config.speed import Speed, assumed_speed, best_known_speed, measured_speeds

SENTENCE_TOKENS = 30
"""Subwords of a sentence, for the cost of attention scores: 1% of base's operations at that."""
BYTES_A_WEIGHT = 4
"""Everything on disk is fp32; Adam keeps two moments a weight."""
ADAM_STATES = 2
STATE_BYTES_A_WEIGHT = (2 + ADAM_STATES) * BYTES_A_WEIGHT
"""In memory: the weight, its gradient and Adam's moments."""
OPTIMIZERS_KEPT = 2
"""Of the newest checkpoints (training/checkpoints.py)."""
BYTES_A_PAIR = 1_500
"""A training pair as raw, tokenized, cleaned and BPE text and as ids; the Bible's take 1,000."""
PAPER_GPUS, PAPER_TFLOPS = 8, 9.5
"""8 P100, each with 9.5 TFLOP/s sustained by the paper's estimate (Section 5.2 and footnote 5)."""
PAPER_HOURS = {"base": 12.0, "big": 3.5 * 24}
"""Training time (Section 5.2)."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One training."""

    run: Run
    parameters: int
    steps: int
    tokens: TokenCounts
    flops: int
    hours: float
    """On all its devices."""
    gpu_hours: float
    speed: Speed
    disk_bytes: int
    """Checkpoints and models."""
    memory_bytes: int
    """Weights, gradients and Adam's moments on each device; activations come on top."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All trainings that a configuration asks for, on so many devices of a kind each."""

    project: Project
    device_name: str
    device: Device
    gpus: int
    trainings: tuple[Estimate, ...]

    @property
    def gpu_hours(self) -> float:
        """Of all trainings."""
        return math.fsum(each.gpu_hours for each in self.trainings)

    @property
    def disk_bytes(self) -> int:
        """Archives, data, checkpoints and models of everything planned."""
        return data_bytes(self.project) + sum(each.disk_bytes for each in self.trainings)


def make_plan(
    project: Project,
    *,
    device_name: str,
    gpus: int,
    tflops: float | None = None,
    root: Path = Path(),
    results: Path = Path("results"),
) -> Plan:
    """Estimate every training of a project.

    Args:
        project: The configuration.
        device_name: A device of config/devices.yaml.
        gpus: Devices of each training.
        tflops: Sustained TFLOP/s of one device, in place of what is measured or assumed.
        root: The checkout.
        results: Folder that holds results/<scale>, for measured speeds.

    Raises:
        UserError: no such device, nothing to train, or more devices than a step has
            micro-batches.
    """
    device = find_device(root, device_name)
    if not project.runs:
        rows, pairs = ", ".join(project.rows), ", ".join(project.settings.pairs)
        raise UserError(f"rows: {rows} are trained for {TABLE3_PAIR} alone, pairs: {pairs}")
    measured = {} if tflops else measured_speeds(project, device_name, results)
    trainings = []
    for run in project.runs:
        model, training = project.resolve(run)
        check_ranks(gpus, training, "--gpus", f"{run.pair}/{run.row}")
        assumed = assumed_speed(device_name, device, model)
        speed = best_known_speed(run, measured, assumed)
        speed = Speed(tflops, "given: --tflops") if tflops else speed
        trainings.append(_estimate(project, run, device, gpus, speed))
    return Plan(
        project=project,
        device_name=device_name,
        device=device,
        gpus=gpus,
        trainings=tuple(trainings),
    )


def _estimate(project: Project, run: Run, device: Device, gpus: int, speed: Speed) -> Estimate:
    model, training = project.resolve(run)
    weights = parameters(model, vocabulary_rows(project, model))
    hours = training_hours(project, run, device, gpus, speed.tflops)
    return Estimate(
        run=run,
        parameters=weights,
        steps=training.steps,
        tokens=planned_tokens(training),
        flops=planned_flops(project, run),
        hours=hours,
        gpu_hours=hours * gpus,
        speed=speed,
        disk_bytes=run_bytes(weights, training, averaged=project.experiments[run.row].table2),
        memory_bytes=STATE_BYTES_A_WEIGHT * weights,
    )


def training_hours(
    project: Project, run: Run, device: Device, gpus: int, tflops: float | None = None
) -> float:
    """Hours that a training takes on so many devices; the Slurm request comes from here as well.

    Args:
        tflops: Sustained TFLOP/s of one device; the device's assumption when not given.
    """
    model, training = project.resolve(run)
    tflops = tflops or device.share(model) * device.peak_tflops
    seconds = planned_flops(project, run) / (tflops * 1e12 * speed_up(gpus, training.micro_batches))
    rounds = training.steps * math.ceil(training.micro_batches / gpus)
    return max(seconds, rounds * model.N * device.launch_ms / 1000) / 3600


def planned_tokens(training: TrainingConfig) -> TokenCounts:
    """Tokens of a whole training, were every step full and every sentence equally long."""
    tokens = training.steps * training.tokens_per_step
    return TokenCounts(tokens, tokens, *3 * (tokens * SENTENCE_TOKENS,))


def planned_flops(project: Project, run: Run) -> int:
    """Operations of a whole training, by our count."""
    model, training = project.resolve(run)
    return training_flops(model, vocabulary_rows(project, model), planned_tokens(training))


def vocabulary_rows(project: Project, model: ModelConfig) -> int:
    """As configured; else about the BPE merges, since the data may not be there yet."""
    return model.vocabulary_rows or -(-project.scale.text.merges // 8) * 8


def run_bytes(weights: int, training: TrainingConfig, *, averaged: bool) -> int:
    """Disk of a run folder: kept checkpoints, one being written, ``last/``, the averaged model."""
    models = training.average + 1 + 1 + averaged
    optimizers = OPTIMIZERS_KEPT + 1
    return BYTES_A_WEIGHT * weights * (models + ADAM_STATES * optimizers)


def data_bytes(project: Project) -> int:
    """Disk of the archives and of all that is made of them on the way to batches.

    Archives of unknown size, which are small, are not counted.
    """
    catalogue, archives, pairs = project.catalogue, set[str](), 0
    for name in project.settings.pairs:
        pair = project.corpus_pair(name)
        archives |= {*pair.all_archives}
        pairs += min(pair.expected_pairs, project.scale.select.train_pairs or pair.expected_pairs)
    found = (catalogue.archives[name] for name in archives)
    return sum(each.bytes or each.about_bytes or 0 for each in found) + BYTES_A_PAIR * pairs


def paper_flops(row: str) -> float | None:
    """The paper's cost of base or big by its own method: time x GPUs x sustained TFLOP/s."""
    hours = PAPER_HOURS.get(row)
    return hours * 3600 * PAPER_GPUS * PAPER_TFLOPS * 1e12 if hours else None
