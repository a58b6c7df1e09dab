"""What each step asks a cluster for: GPUs, CPUs, memory and time, from the configuration.

A training's time comes from its floating-point operations (``aiayn.config.cost``) and from what
its device is assumed to compute (config/devices.yaml); its memory from its shape and its batch.
What the other steps need grows with their corpus.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from aiayn.common.errors import UserError
from aiayn.config.cost import TokenCounts, parameters, training_flops
from aiayn.config.project import Project, Run
from aiayn.config.sections import ModelConfig, TrainingConfig
from aiayn.config.settings import Count
from aiayn.config.yaml_files import Section, read_yaml, validate

DEVICES_FILE = "config/devices.yaml"

SAFETY = 2.0
"""Time and memory asked for, over those estimated."""
MINUTES_AT_LEAST = 15
"""A node's start, imports and a slow file system take their time, however small the work."""
TORCH_MB = 600
"""A process that has imported torch; with CUDA, ten times as much."""
BYTES_PER_WEIGHT = 16
"""A weight, its gradient and Adam's two moments, in fp32."""
ACTIVATION_COPIES = 8
"""CPU memory of a training over its layers' outputs, measured at three scales: backward's
temporaries, and freed blocks that the C library keeps."""
WARNING_SECONDS = 180
"""Before its time is up a training is told to save and stop; as in ``training.interruption``."""
FAILURES = 3
"""Times that a training may fail, or halve its micro-batches for memory, and be tried again."""
MEAN_SENTENCE = 30
"""Tokens of a sentence on WMT14; enters the small quadratic share of attention only."""
LARGE_ARCHIVE = 3_000_000_000
"""Bytes; more than any archive of WMT14 whose size the catalogue does not know."""
SMALL_CORPUS = 500_000_000
"""Bytes of archives up to which all text steps together take minutes."""
TEXT_BYTES_PER_SECOND = 200_000
"""Archive bytes of the slowest text step, learning BPE: 1.2 MB of packed captions in 6 s on a core
of an AMD EPYC (multi30k scale)."""
TEXT_MB, TEXT_MB_PER_GB = 1_000, 4_000
"""Memory of a text step: at least, and for each GB of archives (counts of distinct words)."""


class Device(Section):
    """What a device is assumed to compute."""

    tflops_peak_bf16: Annotated[float, Field(gt=0.0)]
    """Peak of matrix products, in 1e12 operations a second."""
    share_base: Annotated[float, Field(gt=0.0, le=1.0)]
    """Share of the peak that training the base model reaches."""
    memory_gb: Annotated[float, Field(gt=0.0)]
    """Memory of one device."""
    source: str
    """Where the figures come from."""

    @property
    def flops_per_second(self) -> float:
        """Operations a second while training."""
        return self.tflops_peak_bf16 * 1e12 * self.share_base


class Cluster(Section):
    """What must be known of a cluster; by these names, default resources of its profile."""

    gpu_type: str = ""
    """The cluster's name of its GPUs."""
    training_nodes: Count = 1
    """Machines that share a training's ranks."""
    runtime_limit: Count | None = None
    """Minutes of the longest job that the partition takes. A training that does not fit stops with
    a checkpoint before its time is up, and goes on in a next job."""


@dataclass(frozen=True, kw_only=True)
class TrainingRequest:
    """What one training asks for, on each of its nodes where there are several."""

    gpus: int
    cpus_per_task: int
    mem_mb: int
    runtime_min: int
    jobs: int = 1
    """Jobs, one after another, that it takes where none may last long enough."""


@dataclass(frozen=True, kw_only=True)
class LightRequest:
    """What any other step asks for; at least this."""

    mem_mb: int = TEXT_MB
    runtime_min: int = MINUTES_AT_LEAST


def load_devices(root: Path | str = ".") -> dict[str, Device]:
    """Read config/devices.yaml.

    Raises:
        UserError: one line naming the file and the key.
    """
    values = read_yaml(Path(root) / DEVICES_FILE)
    return {
        name: validate(Device, value, f"{DEVICES_FILE}: {name}") for name, value in values.items()
    }


def device_for(devices: dict[str, Device], gpu_type: str) -> Device:
    """The device that a cluster's name for its GPUs means: ``nvidia_a100_80gb`` is an A100.

    An unknown or empty name is the slowest GPU of all, so that the time asked for suffices.
    """
    gpus = {name: device for name, device in devices.items() if name != "cpu"}
    named = [device for name, device in gpus.items() if name.lower() in gpu_type.lower()]
    return min(named or gpus.values(), key=lambda device: device.flops_per_second)


def load_cluster(default_resources: Mapping[str, Any]) -> Cluster:
    """The cluster as the profile describes it.

    Args:
        default_resources: Raw values by name; others than a cluster's are passed over.

    Raises:
        UserError: one line naming the key.
    """
    known = {
        name: default_resources[name]
        for name in Cluster.model_fields.keys() & default_resources.keys()
    }
    unquoted = {name: str(value).strip("'\"") for name, value in known.items()}
    return validate(Cluster, unquoted, "default-resources of the profile")


def training(
    project: Project, run: Run, devices: dict[str, Device], cluster: Cluster
) -> TrainingRequest:
    """What a training asks for; ``device`` and ``ranks`` of the configuration decide about GPUs.

    Raises:
        UserError: the ranks cannot be shared evenly among the nodes.
    """
    ranks, nodes = project.settings.ranks, cluster.training_nodes
    if ranks % nodes:
        raise UserError(f"ranks={ranks} cannot be shared evenly among training_nodes={nodes}")
    model, config = project.resolve(run)
    on_gpu = project.settings.device != "cpu"
    device = device_for(devices, cluster.gpu_type) if on_gpu else devices["cpu"]
    lanes = ranks if on_gpu else ranks * config.threads
    rows = _vocabulary_rows(project, model)
    flops = training_flops(model, rows, _tokens(config))
    minutes = max(
        MINUTES_AT_LEAST, math.ceil(SAFETY * flops / (lanes * device.flops_per_second) / 60)
    )
    local_ranks = ranks // nodes
    runtime = min(minutes, cluster.runtime_limit or minutes)
    mem_mb = (_gpu_host_mb if on_gpu else _cpu_mb)(model, config, rows)
    return TrainingRequest(
        gpus=local_ranks if on_gpu else 0,
        # On a GPU, one more than computes: it fills the queue of the GPU.
        cpus_per_task=local_ranks * (config.threads + on_gpu),
        mem_mb=math.ceil(SAFETY * local_ranks * mem_mb),
        runtime_min=runtime,
        jobs=math.ceil(minutes / runtime),
    )


def training_retries(requests: Iterable[TrainingRequest]) -> int:
    """How often a training is started again: when its time was up, and after failures."""
    return FAILURES + max((request.jobs - 1 for request in requests), default=0)


def light(project: Project, pair: str, cluster: Cluster, attempt: int = 1) -> LightRequest:
    """What a step other than training asks for, at the most, for a pair of the project's corpus.

    Args:
        project: The configuration.
        pair: Languages, source-target.
        cluster: No job is longer than it allows.
        attempt: From 1; memory and time grow with it.
    """
    size = corpus_bytes(project, pair)
    minutes = MINUTES_AT_LEAST + math.ceil(SAFETY * size / TEXT_BYTES_PER_SECOND / 60)
    return LightRequest(
        mem_mb=attempt * math.ceil(TEXT_MB + TEXT_MB_PER_GB * size / 1e9),
        runtime_min=min(attempt * minutes, cluster.runtime_limit or attempt * minutes),
    )


def is_small(project: Project) -> bool:
    """Whether steps other than training are so short that they are better run many to a job."""
    return all(corpus_bytes(project, pair) < SMALL_CORPUS for pair in project.settings.pairs)


def corpus_bytes(project: Project, pair: str) -> int:
    """Bytes of the archives of a pair's training parts, as packed."""
    corpus = project.corpus_pair(pair)
    names = {name for part in corpus.train for name in corpus.archives(part)}
    return sum(project.catalogue.archives[name].bytes or LARGE_ARCHIVE for name in names)


def _vocabulary_rows(project: Project, model: ModelConfig) -> int:
    # Merges, and as many characters again as any of the corpora has.
    return model.vocabulary_rows or project.scale.text.merges + 1_000


def _tokens(config: TrainingConfig) -> TokenCounts:
    tokens = config.steps * config.tokens_per_step
    squared = tokens * MEAN_SENTENCE
    return TokenCounts(tokens, tokens, squared, squared, squared)


def _gpu_host_mb(model: ModelConfig, _: TrainingConfig, rows: int) -> float:
    # The model's state once: a checkpoint on its way to or from the disk.
    return 10 * TORCH_MB + BYTES_PER_WEIGHT * parameters(model, rows) / 2**20


def _cpu_mb(model: ModelConfig, config: TrainingConfig, rows: int) -> float:
    encoder, decoder = (12, 20)  # outputs of d_model in a layer that backward needs
    layer = (encoder + decoder) * model.d_model + 2 * 2 * model.d_ff
    outputs = model.N * layer + 4 * rows  # logits, their logarithms, both gradients
    tokens = config.tokens_per_step / config.micro_batches
    activations = 4 * ACTIVATION_COPIES * tokens * outputs
    return TORCH_MB + (BYTES_PER_WEIGHT * parameters(model, rows) + activations) / 2**20
