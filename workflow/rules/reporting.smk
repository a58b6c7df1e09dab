"""Reporting: tables, figures and pages of the scale.

Needs   all of the scale's run folders, with scores
Writes  reports/<scale>/
"""

# Each file of the report and the caption, workflow/report/<caption>.rst, that explains it.
PAGES = {
    "index.md": "index",
    "table2.md": "table2",
    "table2.csv": "table2",
    "table2.tex": "table2",
    "table3.md": "table3",
    "table3.csv": "table3",
    "table3.tex": "table3",
    "claims.md": "claims",
    "bleu.md": "bleu",
    "deviations.md": "deviations",
    "samples.md": "samples",
    "data.md": "data",
    "provenance.md": "provenance",
    "metrics.json": "metrics",
    "curves.csv": "curves",
}
FIGURES = {
    "ablation_A": "ablation",
    "ablation_B": "ablation",
    "ablation_C": "ablation",
    "ablation_D": "ablation",
    "ablation_E": "ablation",
    "bleu_against_cost": "cost",
    "learning_loss": "learning",
    "learning_ppl": "learning",
    "learning_rate": "learning_rate",
    "positional_dot_products": "positions",
    "positional_encoding": "positions",
}


REPORT_FILES = [
    *(in_report(page, caption, "Tables and pages") for page, caption in PAGES.items()),
    *(in_report(f"figures/{name}.svg", caption, "Figures") for name, caption in FIGURES.items()),
    *(f"reports/{SCALE}/figures/{name}.png" for name in FIGURES),
    *(f"reports/{SCALE}/runs/{run.pair}.{run.row}.seed{run.seed}.json" for run in PROJECT.runs),
]


localrules:
    all,
    release,
    report,


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
        results=subpath(output[0], parent=True),
        files=release_files(),
    shell:
        "mkdir -p {output:q}"
        " && tar -C {params.results:q} -cf - {params.files:q} | tar -C {output:q} -xf - 2> {log:q}"


rule report:
    """Tables 2 and 3 beside the paper's, figures, samples, where every number came from."""
    input:
        runs=trained_and_scored,
        significance=paired_tests,
        counts=counts_of_pairs,
        published="config/published.yaml",
        code=[*package("reporting"), FORMULAS],
    output:
        REPORT_FILES,
    log:
        f"results/{SCALE}/logs/report.log",
    benchmark:
        f"results/{SCALE}/benchmarks/report.tsv"
    params:
        settings=PROJECT.settings.model_dump_json(),
    shell:
        "aiayn report" " --settings {params.settings:q}" " > {log:q} 2>&1"
