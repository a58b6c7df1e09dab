"""What each step asks a cluster for: GPUs, CPUs, memory and time, from the configuration.

A training's time comes from the estimate that ``aiayn plan`` prints too, its memory from its shape
and its batch. Steps that run a finished model take what its shape and the sentences make; what the
others need grows with their corpus.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiayn.common.errors import UserError
from aiayn.config import inference
from aiayn.config.catalogue import Archive
from aiayn.config.cost import parameters
from aiayn.config.devices import CPU, Device, is_called
from aiayn.config.inference import Pass
from aiayn.config.plan import STATE_BYTES_A_WEIGHT, training_hours, vocabulary_rows
from aiayn.config.project import Project, Run
from aiayn.config.sections import ModelConfig, TrainingConfig
from aiayn.config.settings import Count
from aiayn.config.yaml_files import Section, validate

SAFETY = 2.0
"""Time and memory asked for, over those estimated."""
MINUTES_AT_LEAST = 15
"""A node's start, imports and a slow file system take their time, however small the work."""
TORCH_MB = 600
"""A process that has imported torch."""
CUDA_MB = 10 * TORCH_MB
"""One that uses a GPU."""
ACTIVATION_COPIES = 8
"""CPU memory of a training over its layers' outputs, measured at three scales: backward's
temporaries, and freed blocks that the C library keeps."""
WARNING_SECONDS = 180
"""Before its time is up a training is told to save and stop; as in ``training.interruption``."""
FAILURES = 3
"""Times that a training may fail, or halve its micro-batches for memory, and be tried again."""
SMALL_CORPUS = 500_000_000
"""Bytes of packed text up to which all text steps together take minutes. A corpus of which nobody
knows how large it is counts as larger."""
TIMES_PACKED = 3
"""Bytes of text over those of its archive: 2.8 to 3.2 for the Bible's two sides in gzip."""
TEXT_BYTES_PER_SECOND = 200_000
"""Packed bytes of the slowest text step, learning BPE: 1.2 MB of packed captions in 6 s on a core
of an AMD EPYC (multi30k scale)."""
TEXT_MB, TEXT_MB_PER_GB = 1_000, 4_000
"""Memory of a text step: at least, and for each packed GB (counts of distinct words)."""


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


def device_for(devices: dict[str, Device], gpu_type: str) -> Device:
    """The device that a cluster's name for its GPUs means: ``nvidia_a100_80gb`` is an A100.

    An unknown or empty name is the slowest GPU of all, so that the time asked for suffices.
    """
    gpus = {name: device for name, device in devices.items() if name != CPU}
    named = [device for name, device in gpus.items() if is_called(name, gpu_type)]
    return min(named or gpus.values(), key=lambda device: device.share_base * device.peak_tflops)


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
    on_gpu = project.settings.uses_gpu
    device = device_for(devices, cluster.gpu_type) if on_gpu else devices[CPU]
    threads = 1 if on_gpu else config.threads
    hours = training_hours(
        project, run, device, ranks, threads * device.share(model) * device.peak_tflops
    )
    minutes = max(MINUTES_AT_LEAST, math.ceil(60 * SAFETY * hours))
    local_ranks = ranks // nodes
    runtime = min(minutes, cluster.runtime_limit or minutes)
    mem_mb = (_gpu_host_mb if on_gpu else _cpu_mb)(model, config, vocabulary_rows(project, model))
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


def light(
    project: Project,
    pair: str,
    cluster: Cluster,
    attempt: int = 1,
    *,
    group: Sequence[int] = (),
    last: bool = False,
) -> LightRequest:
    """What a step that runs no model asks for, at the most, for a pair of the project's corpus.

    Args:
        project: The configuration.
        pair: Languages, source-target.
        cluster: No job is longer than it allows.
        attempt: From 1; memory and time grow with it.
        group: Minutes of all steps of its job; none when it is a job of its own.
        last: Whether nothing of its job comes after it.
    """
    minutes = _minutes(_text_seconds(project, pair), starts=last or not group)
    return LightRequest(
        mem_mb=attempt * math.ceil(TEXT_MB + TEXT_MB_PER_GB * corpus_bytes(project, pair) / 1e9),
        runtime_min=_runtime(minutes, cluster, attempt, group),
    )


def running_models(
    project: Project,
    passes: Sequence[Pass],
    devices: dict[str, Device],
    cluster: Cluster,
    attempt: int = 1,
    *,
    group: Sequence[int] = (),
) -> LightRequest:
    """What a step asks for that runs finished models, one after another; it ends no group."""
    minutes = _minutes(_model_seconds(project, passes, devices), starts=not group)
    memory = max(_model_mb(project, each.run) for each in passes)
    return LightRequest(
        mem_mb=attempt * math.ceil(memory),
        runtime_min=_runtime(minutes, cluster, attempt, group),
    )


def text_group(project: Project, pair: str, cluster: Cluster) -> Sequence[int]:
    """Minutes of all text steps of a pair; none where they are jobs of their own."""
    corpus = project.corpus_pair(pair)
    parts, tests = len(corpus.train), len(corpus.tests)
    # Extract all; tokenize both sides, of tests one; clean; learn; segment both sides.
    others = len(corpus.contents) + (2 * parts + 2 + tests) + parts + 1 + (2 * parts + 2)
    step, last = (_minutes(_text_seconds(project, pair), starts=starts) for starts in (False, True))
    return _as_one_job([*others * [step], *2 * [last]], project, cluster)  # binarize train and dev


def evaluation_group(
    project: Project, run: Run, devices: dict[str, Device], cluster: Cluster
) -> Sequence[int]:
    """Likewise, of averaging, translating and scoring a run."""
    average, score = (
        _minutes(_text_seconds(project, run.pair), starts=starts) for starts in (False, True)
    )
    steps = [average]
    for name in project.scored_sets(run):
        seconds = _model_seconds(project, inference.translation(project, run, name), devices)
        steps += [_minutes(seconds, starts=False), score]
    return _as_one_job(steps, project, cluster)


def _as_one_job(minutes: list[int], project: Project, cluster: Cluster) -> Sequence[int]:
    # Snakemake adds up the steps of a group that it takes to run one after another: the longest
    # chain, or all of them where the host that submits has a single core.
    limit = cluster.runtime_limit
    return minutes if is_small(project) and (limit is None or sum(minutes) <= limit) else ()


def _minutes(seconds: float, *, starts: bool) -> int:
    """Minutes to ask for, with those until a job has started where they belong to this step.

    In a group they belong to the last one: whatever part of a group is run, that is among it.
    """
    return max(1, math.ceil(SAFETY * seconds / 60)) + (MINUTES_AT_LEAST if starts else 0)


def _runtime(minutes: int, cluster: Cluster, attempt: int, group: Sequence[int]) -> int:
    limit = cluster.runtime_limit
    if limit is None:
        return attempt * minutes
    return minutes * min(attempt, limit // sum(group)) if group else min(attempt * minutes, limit)


def _text_seconds(project: Project, pair: str) -> float:
    """Seconds of the slowest text step; a scale that takes fewer pairs has as much less to do."""
    corpus, taken = project.corpus_pair(pair), project.scale.select.train_pairs
    known = corpus.expected_pairs
    share = min(1.0, taken * len(corpus.train) / known) if taken and known else 1.0
    return share * corpus_bytes(project, pair) / TEXT_BYTES_PER_SECOND


def _model_seconds(project: Project, passes: Iterable[Pass], devices: dict[str, Device]) -> float:
    # On any GPU as on the slowest: what the entries of faster ones count on is bf16, and full GPUs.
    device = device_for(devices, "") if project.settings.uses_gpu else devices[CPU]
    return inference.seconds(project, passes, device)


def _model_mb(project: Project, run: Run) -> float:
    # On a GPU, a batch is in the GPU's own memory, which is not asked for.
    batch = 0 if project.settings.uses_gpu else inference.batch_bytes(project, run)
    return process_mb(project) + SAFETY * (inference.weight_bytes(project, run) + batch) / 2**20


def process_mb(project: Project) -> int:
    """Memory of a process that runs a model, without the model."""
    return CUDA_MB if project.settings.uses_gpu else math.ceil(SAFETY * TORCH_MB)


def machine_gpus(devices: Path = Path("/dev")) -> int:
    """NVIDIA GPUs of this machine, as the driver shows them."""
    return len(list(devices.glob("nvidia[0-9]*")))


def is_small(project: Project) -> bool:
    """Whether steps other than training are so short that they are better run many to a job."""
    return all(corpus_bytes(project, pair) < SMALL_CORPUS for pair in project.settings.pairs)


def corpus_bytes(project: Project, pair: str) -> int:
    """Bytes of a pair's training parts, as packed: archives, and own files as if they were."""
    corpus = project.corpus_pair(pair)
    names = {name for part in corpus.train for name in corpus.archives(part)}
    files = {file for part in corpus.train for file in corpus.files(part)}
    archives = (project.catalogue.archives[name] for name in names)
    packed = sum(_archive_bytes(archive, Path(project.downloads)) for archive in archives)
    return packed + sum(_packed_bytes(Path(file)) for file in files)


def _archive_bytes(archive: Archive, downloads: Path) -> int:
    fetched = downloads / archive.file
    if archive.bytes or archive.about_bytes or not fetched.exists():
        return archive.bytes or archive.about_bytes or SMALL_CORPUS
    return fetched.stat().st_size


def _packed_bytes(file: Path) -> int:
    size = file.stat().st_size if file.exists() else 0  # Snakemake tells what is missing
    return size if file.suffix == ".gz" else size // TIMES_PACKED


def _gpu_host_mb(model: ModelConfig, _: TrainingConfig, rows: int) -> float:
    # The model's state once: a checkpoint on its way to or from the disk.
    return CUDA_MB + STATE_BYTES_A_WEIGHT * parameters(model, rows) / 2**20


def _cpu_mb(model: ModelConfig, config: TrainingConfig, rows: int) -> float:
    encoder, decoder = (12, 20)  # outputs of d_model in a layer that backward needs
    layer = (encoder + decoder) * model.d_model + 2 * 2 * model.d_ff
    outputs = model.N * layer + 4 * rows  # logits, their logarithms, both gradients
    tokens = config.tokens_per_step / config.micro_batches
    activations = 4 * ACTIVATION_COPIES * tokens * outputs
    return TORCH_MB + (STATE_BYTES_A_WEIGHT * parameters(model, rows) + activations) / 2**20
