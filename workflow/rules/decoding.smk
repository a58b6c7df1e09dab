"""Decoding: the averaged model translates the test sets, the last checkpoint the dev set.

Needs   a finished run folder, results/<scale>/<pair>/raw/<set>.<src>
Writes  results/<scale>/<pair>/<row>/seed<k>/{model.safetensors,model.json,...}
        results/<scale>/<pair>/<row>/seed<k>/hypothesis.<set>.<tgt>
        results/<scale>/<pair>/losses.csv
"""


rule average:
    """Average the last checkpoints (Table 2)."""
    input:
        finished="results/{scale}/{src}-{tgt}/{row}/seed{seed}/trained.json",
        last="results/{scale}/{src}-{tgt}/{row}/seed{seed}/last/model.json",
        codes="results/{scale}/{src}-{tgt}/bpe/codes",
        vocabulary="results/{scale}/{src}-{tgt}/bpe/vocabulary.txt",
        code="src/aiayn/decoding/average.py",
    output:
        model="results/{scale}/{src}-{tgt}/{row}/seed{seed}/model.safetensors",
        description="results/{scale}/{src}-{tgt}/{row}/seed{seed}/model.json",
        codes="results/{scale}/{src}-{tgt}/{row}/seed{seed}/bpe.codes",
        vocabulary="results/{scale}/{src}-{tgt}/{row}/seed{seed}/vocabulary.txt",
    log:
        "results/{scale}/logs/average/{src}-{tgt}.{row}.seed{seed}.log",
    benchmark:
        "results/{scale}/benchmarks/average/{src}-{tgt}.{row}.seed{seed}.tsv"
    group:
        evaluation_group
    resources:
        **light(evaluation_steps),
    params:
        last=lambda wildcards: resolved(wildcards)[1].average,
        run=subpath(input.finished, parent=True),
        text_folder=subpath(input.codes, parent=True),
    shell:
        "aiayn average"
        " --run {params.run:q}"
        " --last {params.last}"
        " --text-folder {params.text_folder:q}"
        " > {log:q} 2>&1"


rule translate:
    """Translate a set by beam search."""
    input:
        model=model_for,
        text="results/{scale}/{src}-{tgt}/raw/{set}.{src}",
        code=package("decoding", "model", "text"),
    output:
        "results/{scale}/{src}-{tgt}/{row}/seed{seed}/hypothesis.{set}.{tgt}",
    log:
        "results/{scale}/logs/translate/{src}-{tgt}.{row}.seed{seed}.{set}.{tgt}.log",
    benchmark:
        "results/{scale}/benchmarks/translate/{src}-{tgt}.{row}.seed{seed}.{set}.{tgt}.tsv"
    group:
        evaluation_group
    threads: 1
    resources:
        **running_models(searches, evaluation_steps),
    params:
        model=subpath(input.model, parent=True),
        beam=PROJECT.settings.beam,
        alpha=PROJECT.settings.alpha,
        max_extra=PROJECT.settings.max_extra,
        batch_tokens=PROJECT.settings.batch_tokens,
        device=PROJECT.settings.device,
    shell:
        "aiayn translate"
        " --model {params.model:q}"
        " --beam {params.beam}"
        " --alpha {params.alpha}"
        " --max-extra {params.max_extra}"
        " --batch-tokens {params.batch_tokens}"
        " --device {params.device}"
        " --threads {threads}"
        " --input {input.text:q}"
        " --output {output:q}"
        " > {log:q} 2>&1"


rule losses:
    """The loss of each dev pair under every row's last checkpoint, in one process."""
    input:
        models=last_models,
        data="results/{scale}/{src}-{tgt}/batches/dev/index.json",
        code=package("decoding", "model", "batches"),
    output:
        "results/{scale}/{src}-{tgt}/losses.csv",
    log:
        "results/{scale}/logs/losses/{src}-{tgt}.log",
    benchmark:
        "results/{scale}/benchmarks/losses/{src}-{tgt}.tsv"
    threads: 1
    resources:
        **running_models(losses_of_pair),
    params:
        models=lambda wildcards: [
            f"{run.row}={run_folder(run)}/last" for run in runs_of_pair(wildcards)
        ],
        data=subpath(input.data, parent=True),
        max_length=PROJECT.scale.training.max_length,
        device=PROJECT.settings.device,
    shell:
        "aiayn losses"
        " --data {params.data:q}"
        " --max-length {params.max_length}"
        " --device {params.device}"
        " --threads {threads}"
        " --output {output:q}"
        " {params.models:q}"
        " > {log:q} 2>&1"
