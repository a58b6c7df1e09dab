"""Analysis: what figures show of a model itself.

Needs   results/<scale>/<pair>/base/seed<k>/model.safetensors, results/<scale>/<pair>/raw/<set>.<src>
Writes  results/<scale>/<pair>/attention.json
        results/<scale>/layer_times.json
"""


rule attention:
    """Attention weights on the paper's two sentences and two of the test set."""
    input:
        model=attention_model,
        text=attention_text,
        code=[*package("decoding", "model", "text"), "src/aiayn/analysis/attention_maps.py"],
    output:
        "results/{scale}/{src}-{tgt}/attention.json",
    log:
        "results/{scale}/logs/attention/{src}-{tgt}.log",
    benchmark:
        "results/{scale}/benchmarks/attention/{src}-{tgt}.tsv"
    threads: 1
    resources:
        **running_models(attention_searches),
    params:
        model=subpath(input.model, parent=True),
        beam=PROJECT.settings.beam,
        alpha=PROJECT.settings.alpha,
        max_extra=PROJECT.settings.max_extra,
        device=PROJECT.settings.device,
    shell:
        "aiayn attention"
        " --model {params.model:q}"
        " --text {input.text:q}"
        " --beam {params.beam}"
        " --alpha {params.alpha}"
        " --max-extra {params.max_extra}"
        " --device {params.device}"
        " --threads {threads}"
        " --output {output:q}"
        " > {log:q} 2>&1"


rule layer_times:
    """Table 1 measured: time of a layer by its kind and sequence length."""
    input:
        code=["src/aiayn/analysis/layer_times.py", "src/aiayn/model/attention.py"],
    output:
        "results/{scale}/layer_times.json",
    log:
        "results/{scale}/logs/layer_times.log",
    benchmark:
        "results/{scale}/benchmarks/layer_times.tsv"
    threads: 1
    resources:
        **ONE_GPU,
        mem_mb=resources.process_mb(PROJECT),
        runtime=SANITY.runtime_min,
    params:
        device=PROJECT.settings.device,
    shell:
        "aiayn layer-times"
        " --device {params.device}"
        " --threads {threads}"
        " --output {output:q}"
        " > {log:q} 2>&1"
