"""Text: tokens, cleaning, joint BPE, memory-mapped ids.

Needs   results/<scale>/<pair>/raw/<part or set>.<lang>
Writes  results/<scale>/<pair>/tokenized/<part or set>.<lang>
        results/<scale>/<pair>/clean/<part>.{<lang>,json}
        results/<scale>/<pair>/bpe/{codes,vocabulary.txt,<part or set>.<lang>}
        results/<scale>/<pair>/batches/{train,dev}/
"""

BATCH_FILES = [
    "index.json",
    "source.ids.npy",
    "source.offsets.npy",
    "target.ids.npy",
    "target.offsets.npy",
]


rule tokenize:
    """Normalize punctuation and tokenize, line for line."""
    input:
        text="results/{scale}/{src}-{tgt}/raw/{name}.{lang}",
        code=package("text"),
    output:
        "results/{scale}/{src}-{tgt}/tokenized/{name}.{lang}",
    log:
        "results/{scale}/logs/tokenize/{src}-{tgt}.{name}.{lang}.log",
    benchmark:
        "results/{scale}/benchmarks/tokenize/{src}-{tgt}.{name}.{lang}.tsv"
    priority: BEFORE_TRAINING
    group:
        text_group
    threads: TEXT_THREADS
    resources:
        **LIGHT,
    params:
        text=section(PROJECT.scale.text, "aggressive_hyphens"),
    shell:
        "aiayn tokenize"
        " --lang {wildcards.lang}"
        " --config {params.text:q}"
        " --workers {threads}"
        " --input {input.text:q}"
        " --output {output:q}"
        " > {log:q} 2>&1"


rule clean:
    """Drop training pairs that would do harm, and count them by reason."""
    input:
        source="results/{scale}/{src}-{tgt}/tokenized/{part}.{src}",
        target="results/{scale}/{src}-{tgt}/tokenized/{part}.{tgt}",
        held_out=held_out_sources,
        code=package("corpus"),
    output:
        source="results/{scale}/{src}-{tgt}/clean/{part}.{src}",
        target="results/{scale}/{src}-{tgt}/clean/{part}.{tgt}",
        counts="results/{scale}/{src}-{tgt}/clean/{part}.json",
    log:
        "results/{scale}/logs/clean/{src}-{tgt}.{part}.log",
    benchmark:
        "results/{scale}/benchmarks/clean/{src}-{tgt}.{part}.tsv"
    priority: BEFORE_TRAINING
    group:
        text_group
    resources:
        **LIGHT,
    params:
        cleaning=section(PROJECT.scale.cleaning),
        held_out=lambda wildcards, input: [f"--held-out={file}" for file in input.held_out],
    shell:
        "aiayn clean"
        " --part {wildcards.part:q}"
        " --source {input.source:q}"
        " --target {input.target:q}"
        " --output-source {output.source:q}"
        " --output-target {output.target:q}"
        " --counts {output.counts:q}"
        " --config {params.cleaning:q}"
        " {params.held_out:q}"
        " > {log:q} 2>&1"


rule learn_bpe:
    """Learn one set of BPE merges for both languages, and the vocabulary it makes."""
    input:
        text=clean_parts,
        code=package("text"),
    output:
        codes="results/{scale}/{src}-{tgt}/bpe/codes",
        vocabulary="results/{scale}/{src}-{tgt}/bpe/vocabulary.txt",
        words="results/{scale}/{src}-{tgt}/bpe/words.txt",
    log:
        "results/{scale}/logs/learn_bpe/{src}-{tgt}.log",
    benchmark:
        "results/{scale}/benchmarks/learn_bpe/{src}-{tgt}.tsv"
    priority: BEFORE_TRAINING
    group:
        text_group
    threads: TEXT_THREADS
    resources:
        **LIGHT,
    params:
        input=lambda wildcards, input: [f"--input={file}" for file in input.text],
        merges=PROJECT.scale.text.merges,
    shell:
        "aiayn learn-bpe"
        " {params.input:q}"
        " --merges {params.merges}"
        " --codes {output.codes:q}"
        " --vocabulary {output.vocabulary:q}"
        " --words {output.words:q}"
        " --workers {threads}"
        " > {log:q} 2>&1"


rule apply_bpe:
    """Segment words into subwords, line for line."""
    input:
        text=tokens_of,
        codes="results/{scale}/{src}-{tgt}/bpe/codes",
        words="results/{scale}/{src}-{tgt}/bpe/words.txt",
        code=package("text"),
    output:
        "results/{scale}/{src}-{tgt}/bpe/{name}.{lang}",
    log:
        "results/{scale}/logs/apply_bpe/{src}-{tgt}.{name}.{lang}.log",
    benchmark:
        "results/{scale}/benchmarks/apply_bpe/{src}-{tgt}.{name}.{lang}.tsv"
    priority: BEFORE_TRAINING
    group:
        text_group
    threads: TEXT_THREADS
    resources:
        **LIGHT,
    shell:
        "aiayn apply-bpe"
        " --codes {input.codes:q}"
        " --words {input.words:q}"
        " --workers {threads}"
        " --input {input.text:q}"
        " --output {output:q}"
        " > {log:q} 2>&1"


rule binarize:
    """Memory-mapped ids of the training parts, one after another, or of the dev set."""
    input:
        source=lambda wildcards: subwords_of(wildcards, wildcards.src),
        target=lambda wildcards: subwords_of(wildcards, wildcards.tgt),
        vocabulary="results/{scale}/{src}-{tgt}/bpe/vocabulary.txt",
        code=package("batches"),
    output:
        expand(
            "results/{{scale}}/{{src}}-{{tgt}}/batches/{{use}}/{file}",
            file=BATCH_FILES,
        ),
    log:
        "results/{scale}/logs/binarize/{src}-{tgt}.{use}.log",
    benchmark:
        "results/{scale}/benchmarks/binarize/{src}-{tgt}.{use}.tsv"
    priority: BEFORE_TRAINING
    group:
        text_group
    resources:
        **light(text_steps, last=True),
    params:
        folder=subpath(output[0], parent=True),
        source=lambda wildcards, input: [f"--source={file}" for file in input.source],
        target=lambda wildcards, input: [f"--target={file}" for file in input.target],
    shell:
        "aiayn binarize"
        " {params.source:q}"
        " {params.target:q}"
        " --vocabulary {input.vocabulary:q}"
        " --output {params.folder:q}"
        " > {log:q} 2>&1"
