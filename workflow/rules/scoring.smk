"""Scoring: every BLEU convention of one hypothesis file against the raw reference.

Needs   results/<scale>/<pair>/<row>/seed<k>/hypothesis.<set>.<tgt>
        results/<scale>/<pair>/raw/<set>.<tgt>
Writes  results/<scale>/<pair>/<row>/seed<k>/score.<set>.json
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
    shell:
        "aiayn score"
        " --hyp {input.hypothesis:q}"
        " --ref {input.reference:q}"
        " --lang {wildcards.tgt}"
        " --set {wildcards.set:q}"
        " --output {output:q}"
        " > {log:q} 2>&1"
