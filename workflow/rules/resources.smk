"""What jobs ask a cluster for; on one machine, whose turn it is on its cores and GPUs.

The figures are those of aiayn.config.resources. What they must know of the cluster stands among
the default resources of the profile, slurm/config.yaml: gpu_type, training_nodes, runtime_limit.
"""

from pathlib import Path

from aiayn.config import inference, resources
from aiayn.config.devices import load_devices

PROFILE = {
    name: resource.raw
    for name, resource in (workflow.resource_settings.default_resources or {}).items()
}
try:
    CLUSTER = resources.load_cluster(PROFILE)
    DEVICES = load_devices(Path())
    REQUESTS = [resources.training(PROJECT, run, DEVICES, CLUSTER) for run in PROJECT.runs]
except ValueError as error:
    sys.exit(f"aiayn: {error}")
SMALL = resources.is_small(PROJECT)


def training(name):
    """An input function: this figure of a training's request."""

    def figure(wildcards):
        request = resources.training(PROJECT, run_of(wildcards), DEVICES, CLUSTER)
        return getattr(request, name)

    return figure


def gpus(count):
    """So many GPUs on each node, in Slurm's words."""
    return ":".join(filter(None, ("gpu", CLUSTER.gpu_type, str(count)))) if count else ""


def asked(request):
    """Memory and time of a step by its request, a function of wildcards and attempt."""
    return {
        "mem_mb": lambda wildcards, attempt: request(wildcards, attempt).mem_mb,
        "runtime": lambda wildcards, attempt: request(wildcards, attempt).runtime_min,
    }


def text_steps(wildcards):
    """Minutes of the steps that are one job where they are so short that queueing outlasts them."""
    return resources.text_group(PROJECT, pair_of(wildcards), CLUSTER)


def evaluation_steps(wildcards):
    """Likewise, of averaging, translating and scoring a run."""
    return resources.evaluation_group(PROJECT, run_of(wildcards), DEVICES, CLUSTER)


def text_group(wildcards):
    """The job of all text steps of a pair."""
    return f"text.{pair_of(wildcards)}" if text_steps(wildcards) else None


def evaluation_group(wildcards):
    """The job of evaluating a run."""
    run = run_of(wildcards)
    name = f"evaluation.{run.pair}.{run.row}.{run.seed}"
    return name if evaluation_steps(wildcards) else None


def light(steps=None, last=False):
    """What a step that runs no model asks for, one of those steps or a job of its own."""

    def request(wildcards, attempt):
        group = steps(wildcards) if steps else ()
        return resources.light(
            PROJECT, pair_of(wildcards), CLUSTER, attempt, group=group, last=last
        )

    return asked(request)


def searches(wildcards):
    """The search of a translation."""
    return inference.translation(PROJECT, run_of(wildcards), wildcards.set)


def losses_of_pair(wildcards):
    """The models of a pair on its dev set."""
    return inference.losses(PROJECT, pair_of(wildcards))


def attention_searches(wildcards):
    """The searches for the sentences whose attention is drawn."""
    return inference.attention(PROJECT, pair_of(wildcards))


def running_models(passes, steps=None):
    """Likewise of a step that runs models, on a GPU if there is one, in those passes."""

    def request(wildcards, attempt):
        group = steps(wildcards) if steps else ()
        return resources.running_models(
            PROJECT, passes(wildcards), DEVICES, CLUSTER, attempt, group=group
        )

    return {**asked(request), **ONE_GPU}


# Text goes before training (whose priority is 10), in threads that a training leaves free: where
# trainings keep all cores but one busy, another pair's text would else wait until they have ended.
BEFORE_TRAINING = 20
TEXT_THREADS = 1 if SMALL else 2

SANITY = resources.LightRequest()
LIGHT = light(text_steps)

# On one machine, jobs that use its GPUs take turns: each training takes the first GPUs there are.
ON_A_CLUSTER = bool(PROFILE.keys() & resources.Cluster.model_fields.keys())
GPU_TURN = int(PROJECT.settings.uses_gpu and not ON_A_CLUSTER and resources.machine_gpus() > 0)
if GPU_TURN and "gpu_turn" not in workflow.global_resources:
    workflow.register_resource("gpu_turn", 1)
ONE_GPU = {"gres": gpus(int(PROJECT.settings.uses_gpu)), "gpu_turn": GPU_TURN}

# Where jobs end by the clock, a training goes on in its next job; elsewhere --retries counts. Within
# a job, where Snakemake runs a second time, nothing is tried again: that would multiply the tries.
TRAINING_RETRIES = (
    resources.training_retries(REQUESTS)
    if CLUSTER.runtime_limit and workflow.is_main_process
    else None
)

# On several nodes, srun would answer by killing the ranks; they watch the clock instead.
END_WARNING = f"--signal=TERM@{resources.WARNING_SECONDS}" if CLUSTER.training_nodes == 1 else ""
