"""Reporting: tables, figures and pages of the scale.

Needs   all of the scale's run folders, with scores
Writes  reports/<scale>/
"""

PAGES = [
    "index.md",
    "table2.md",
    "table2.csv",
    "table2.tex",
    "table3.md",
    "table3.csv",
    "table3.tex",
    "claims.md",
    "deviations.md",
    "samples.md",
    "data.md",
    "provenance.md",
    "metrics.json",
    "curves.csv",
]
FIGURES = [
    "ablation_A",
    "ablation_B",
    "ablation_C",
    "ablation_D",
    "ablation_E",
    "bleu_against_cost",
    "learning_loss",
    "learning_ppl",
    "learning_rate",
    "positional_dot_products",
    "positional_encoding",
]
MODEL_FILES = ["model.safetensors", "model.json", "bpe.codes", "vocabulary.txt"]
REPORT_FILES = [f"reports/{SCALE}/{page}" for page in PAGES] + [
    f"reports/{SCALE}/figures/{figure}.{kind}" for figure in FIGURES for kind in ("png", "svg")
]


localrules:
    all,
    release,
    report,


def trained_and_scored(_):
    """The marker and every score of each run."""
    return [
        f"{run_folder(run)}/{file}"
        for run in PROJECT.runs
        for file in (
            "trained.json",
            *(f"score.{name}.json" for name in PROJECT.scored_sets(run)),
        )
    ]


def counts_of_pairs(_):
    """What extraction and cleaning kept and dropped."""
    return [
        f"results/{SCALE}/{pair}/{file}"
        for pair in PROJECT.settings.pairs
        for names in [PROJECT.corpus_pair(pair)]
        for file in (
            *(f"raw/{name}.json" for name in (*names.train, names.dev, *names.tests)),
            *(f"clean/{part}.json" for part in names.train),
        )
    ]


def release_files():
    """Averaged models, hypotheses and scores, by their paths below results/<scale>."""
    return [
        f"{run_folder(run)}/{file}".removeprefix(f"results/{SCALE}/")
        for run in PROJECT.runs
        for file in (
            *(MODEL_FILES if PROJECT.experiments[run.row].table2 else ()),
            *(
                file
                for name in PROJECT.scored_sets(run)
                for file in (f"hypothesis.{name}.{run.pair[-2:]}", f"score.{name}.json")
            ),
        )
    ]


rule release:
    """Copies of what a run is for, at the end of the DAG, where DVC may delete them."""
    input:
        [f"results/{SCALE}/{file}" for file in release_files()],
    output:
        directory(f"results/{SCALE}/release"),
    log:
        f"results/{SCALE}/logs/release.log",
    benchmark:
        f"results/{SCALE}/benchmarks/release.tsv"
    params:
        results=f"results/{SCALE}",
        files=release_files(),
    shell:
        "mkdir -p {output:q}"
        " && tar -C {params.results:q} -cf - {params.files:q} | tar -C {output:q} -xf - 2> {log:q}"


rule report:
    """Tables 2 and 3 beside the paper's, figures, samples, where every number came from."""
    input:
        runs=trained_and_scored,
        counts=counts_of_pairs,
        published="config/published.yaml",
        code=package("reporting"),
    output:
        REPORT_FILES,
    log:
        f"results/{SCALE}/logs/report.log",
    benchmark:
        f"results/{SCALE}/benchmarks/report.tsv"
    params:
        settings=PROJECT.settings.model_dump_json(),
    shell:
        "{AIAYN} report" " --settings {params.settings:q}" " > {log:q} 2>&1"
