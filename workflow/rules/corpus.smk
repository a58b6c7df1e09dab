"""Corpora: archives from their hosts, parallel text out of them.

Needs   the catalogue, config/corpora.yaml, and files of the user's that it names.
Writes  results/downloads/<archive>, verified by sha256
        results/<scale>/<pair>/raw/<part or set>.{<lang>,json}
"""


localrules:
    fetch,


rule fetch:
    """Download one archive; it is used only when its sha256 is right."""
    output:
        # Kept, not deleted, should an edit of this rule rerun it: it is then only verified.
        update(f"{DOWNLOADS}/{{archive}}"),
    log:
        f"results/logs/fetch/{DOWNLOADS.rpartition('/')[2]}/{{archive}}.log",
    benchmark:
        f"results/benchmarks/fetch/{DOWNLOADS.rpartition('/')[2]}/{{archive}}.tsv"
    priority: BEFORE_TRAINING
    params:
        name=lambda wildcards: ARCHIVES[wildcards.archive],
        downloads=lambda wildcards: DOWNLOADS,
        corpora_base=PROJECT.settings.corpora_base,
    shell:
        "aiayn fetch"
        " --archive {params.name:q}"
        " --downloads {params.downloads:q}"
        " --corpora-base={params.corpora_base:q}"
        " > {log:q} 2>&1"


rule extract:
    """Take one part or set out of its archives, as raw parallel text."""
    input:
        # An archive is known by its sha256, not by its date.
        archives=ancient(archives_of),
        files=own_files_of,
        code=package("corpus"),
    output:
        "results/{scale}/{src}-{tgt}/raw/{name}.{src}",
        "results/{scale}/{src}-{tgt}/raw/{name}.{tgt}",
        "results/{scale}/{src}-{tgt}/raw/{name}.json",
    log:
        "results/{scale}/logs/extract/{src}-{tgt}.{name}.log",
    benchmark:
        "results/{scale}/benchmarks/extract/{src}-{tgt}.{name}.tsv"
    priority: BEFORE_TRAINING
    group:
        text_group
    resources:
        **LIGHT,
    params:
        downloads=DOWNLOADS,
        corpora_base=PROJECT.settings.corpora_base,
        corpus=PROJECT.scale.corpus,
        select=section(PROJECT.scale.select),
        # Not in the command: another archive, edition or member in the catalogue is another text.
        # It is not fetched for that: then, since the input is ancient, Snakemake would look at no
        # step that depends on it. The command refuses the old archive and says how to get the other.
        identities=identities_of,
        content=lambda wildcards: section(corpus_pair(wildcards).contents[wildcards.name]),
        folder=subpath(output[0], parent=True),
    shell:
        "aiayn extract"
        " --corpus {params.corpus:q}"
        " --pair {wildcards.src}-{wildcards.tgt}"
        " --part {wildcards.name:q}"
        " --downloads {params.downloads:q}"
        " --corpora-base={params.corpora_base:q}"
        " --output-dir {params.folder:q}"
        " --select {params.select:q}"
        " > {log:q} 2>&1"
