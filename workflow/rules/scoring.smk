"""Scoring: every BLEU convention of a hypothesis file; paired tests of every row against base.

Needs   results/<scale>/<pair>/<row>/seed<k>/hypothesis.<set>.<tgt>
        results/<scale>/<pair>/raw/<set>.<tgt>, results/<scale>/<pair>/losses.csv
Writes  results/<scale>/<pair>/<row>/seed<k>/score.<set>.json
        results/<scale>/<pair>/significance.json
"""


rule score:
    """BLEU by every convention, with bootstrap intervals."""
    input:
        hypothesis="results/{scale}/{src}-{tgt}/{row}/seed{seed}/hypothesis.{set}.{tgt}",
        reference="results/{scale}/{src}-{tgt}/raw/{set}.{tgt}",
        code=package("scoring", "text"),
    output:
        "results/{scale}/{src}-{tgt}/{row}/seed{seed}/score.{set}.json",
    log:
        "results/{scale}/logs/score/{src}-{tgt}.{row}.seed{seed}.{set}.log",
    benchmark:
        "results/{scale}/benchmarks/score/{src}-{tgt}.{row}.seed{seed}.{set}.tsv"
    group:
        evaluation_group
    resources:
        **light(evaluation_steps, last=True),
    shell:
        "aiayn score"
        " --hyp {input.hypothesis:q}"
        " --ref {input.reference:q}"
        " --lang {wildcards.tgt}"
        " --set {wildcards.set:q}"
        " --output {output:q}"
        " > {log:q} 2>&1"


rule significance:
    """Is the difference between base and each other row, on dev, more than chance?"""
    input:
        hypotheses=hypotheses_of_dev,
        reference=reference_of_dev,
        losses="results/{scale}/{src}-{tgt}/losses.csv",
        code=package("scoring"),
    output:
        "results/{scale}/{src}-{tgt}/significance.json",
    log:
        "results/{scale}/logs/significance/{src}-{tgt}.log",
    benchmark:
        "results/{scale}/benchmarks/significance/{src}-{tgt}.tsv"
    resources:
        **light(),
    params:
        set=lambda wildcards: corpus_pair(wildcards).dev,
        systems=lambda wildcards, input: [
            f"{run.row}={file}"
            for run, file in zip(runs_of_pair(wildcards), input.hypotheses, strict=True)
        ],
    shell:
        "aiayn significance"
        " --ref {input.reference:q}"
        " --set {params.set:q}"
        " --losses {input.losses:q}"
        " --output {output:q}"
        " {params.systems:q}"
        " > {log:q} 2>&1"
