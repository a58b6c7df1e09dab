"""Training: the copy task first, then one run for each pair, row and seed.

Needs   results/<scale>/<pair>/batches/{train,dev}/, results/<scale>/<pair>/bpe/
Writes  results/sanity.json
        results/<scale>/<pair>/<row>/seed<k>/{last/,trained.json,train.csv,valid.csv,run.json}
        (and, undeclared so that nobody deletes them, checkpoints/ beside these)
"""


rule sanity:
    """A tiny model must learn to copy before anything larger trains."""
    input:
        # No more than `train` depends on, or an edit of the decoder would retrain everything.
        code=package("batches", "model", "training"),
    output:
        "results/sanity.json",
    log:
        "results/logs/sanity.log",
    benchmark:
        "results/benchmarks/sanity.tsv"
    priority: BEFORE_TRAINING
    resources:
        mem_mb=SANITY.mem_mb,
        runtime=SANITY.runtime_min,
    shell:
        "aiayn sanity" " --output {output:q}" " > {log:q} 2>&1"


rule train:
    """Train one model, or go on from its newest checkpoint."""
    input:
        sanity="results/sanity.json",
        train="results/{scale}/{src}-{tgt}/batches/train/index.json",
        dev="results/{scale}/{src}-{tgt}/batches/dev/index.json",
        codes="results/{scale}/{src}-{tgt}/bpe/codes",
        vocabulary="results/{scale}/{src}-{tgt}/bpe/vocabulary.txt",
        code=package("batches", "model", "training"),
    output:
        model="results/{scale}/{src}-{tgt}/{row}/seed{seed}/last/model.safetensors",
        description="results/{scale}/{src}-{tgt}/{row}/seed{seed}/last/model.json",
        codes="results/{scale}/{src}-{tgt}/{row}/seed{seed}/last/bpe.codes",
        vocabulary="results/{scale}/{src}-{tgt}/{row}/seed{seed}/last/vocabulary.txt",
        steps="results/{scale}/{src}-{tgt}/{row}/seed{seed}/train.csv",
        validation="results/{scale}/{src}-{tgt}/{row}/seed{seed}/valid.csv",
        provenance="results/{scale}/{src}-{tgt}/{row}/seed{seed}/run.json",
        finished="results/{scale}/{src}-{tgt}/{row}/seed{seed}/trained.json",
    log:
        "results/{scale}/logs/train/{src}-{tgt}.{row}.seed{seed}.log",
    benchmark:
        "results/{scale}/benchmarks/train/{src}-{tgt}.{row}.seed{seed}.tsv"
    priority: 10
    retries: TRAINING_RETRIES
    threads: lambda wildcards: resolved(wildcards)[1].threads * PROJECT.settings.ranks
    resources:
        # Not parameters: on other numbers of GPUs the same steps are taken, and nothing reruns.
        ranks=PROJECT.settings.ranks,
        nodes=CLUSTER.training_nodes,
        gres=lambda wildcards: gpus(training("gpus")(wildcards)),
        gpu_turn=GPU_TURN,
        # Without GPUs, Slurm has to be told of one task a node; with them, it would count by GPU.
        tasks=lambda wildcards: None if training("gpus")(wildcards) else CLUSTER.training_nodes,
        cpus_per_task=training("cpus_per_task"),
        mem_mb=training("mem_mb"),
        runtime=training("runtime_min"),
        slurm_extra=END_WARNING,
    params:
        model=lambda wildcards: section(resolved(wildcards)[0]),
        training=lambda wildcards: section(resolved(wildcards)[1]),
        text=section(PROJECT.scale.text),
        device=PROJECT.settings.device,
        data=subpath(input.train, ancestor=2),
        text_folder=subpath(input.codes, parent=True),
        folder=subpath(output.finished, parent=True),
    shell:
        # In the shell's place, so that Slurm's signals reach the training and nothing else ends.
        "exec aiayn train"
        " --data {params.data:q}"
        " --text-folder {params.text_folder:q}"
        " --output {params.folder:q}"
        " --pair {wildcards.src}-{wildcards.tgt}"
        " --label {wildcards.src}-{wildcards.tgt}/{wildcards.row}/seed{wildcards.seed}"
        " --model {params.model:q}"
        " --training {params.training:q}"
        " --text {params.text:q}"
        " --device {params.device}"
        " --ranks {resources.ranks}"
        " --nodes {resources.nodes}"
        " > {log:q} 2>&1"
