"""Reporting: tables, figures and pages of the scale, out of the release.

Needs   all of the scale's run folders, with scores; config/, which the pages print
Writes  results/release/<scale>/
        reports/<scale>/
"""

RELEASE = f"results/release/{SCALE}"

TABLES, CLAIMS, FIGURES, ORIGINS, FILES = (
    "1. Tables",
    "2. Claims, BLEU and samples",
    "3. Figures",
    "4. Where the numbers come from",
    "5. Files for tools",
)

# Each file that report.html shows: caption (workflow/report/<caption>.rst), category, title.
SHOWN = {
    "html/table2.html": ("table2", TABLES, "Table 2: BLEU and training cost"),
    "html/table3.html": ("table3", TABLES, "Table 3: variations on base"),
    "html/claims.html": ("claims", CLAIMS, "The paper's claims"),
    "html/bleu.html": ("bleu", CLAIMS, "BLEU by every convention"),
    "html/samples.html": ("samples", CLAIMS, "Sample translations"),
    "html/provenance.html": ("provenance", ORIGINS, "Provenance of every run"),
    "html/deviations.html": ("deviations", ORIGINS, "Deviations from the paper"),
    "html/data.html": ("data", ORIGINS, "Data kept and dropped"),
    "table2.csv": ("table2", FILES, "Table 2, CSV"),
    "table2.tex": ("table2", FILES, "Table 2, LaTeX"),
    "table3.csv": ("table3", FILES, "Table 3, CSV"),
    "table3.tex": ("table3", FILES, "Table 3, LaTeX"),
    "metrics.json": ("metrics", FILES, "Metrics, JSON"),
    "curves.csv": ("curves", FILES, "Learning curves, CSV"),
}
DRAWN = {
    "ablation_A": ("ablation", "(A) attention heads"),
    "ablation_B": ("ablation", "(B) key size"),
    "ablation_C": ("ablation", "(C) model size"),
    "ablation_D": ("ablation", "(D) regularization"),
    "ablation_E": ("ablation", "(E) positional encoding"),
    "bleu_against_cost": ("cost", "BLEU against training cost"),
    "learning_loss": ("learning", "Training loss"),
    "learning_ppl": ("learning", "Perplexity on dev"),
    "attention_encoder": ("attention", "Attention: encoder"),
    "attention_decoder": ("attention", "Attention: decoder"),
    "attention_cross": ("attention", "Attention: decoder over encoder"),
    "layer_times": ("layer_times", "Table 1 measured"),
    "learning_rate": ("learning_rate", "Learning rate"),
    "label_smoothing": ("label_smoothing", "Label smoothing"),
    "positional_encoding": ("positions", "Positional encoding"),
    "positional_dot_products": ("positions", "Positions against offset"),
}
REPORTED = [
    *(in_report(file, *shown) for file, shown in SHOWN.items()),
    *(
        in_report(f"figures/{name}.svg", caption, FIGURES, title)
        for name, (caption, title) in DRAWN.items()
    ),
    *(f"reports/{SCALE}/figures/{name}.png" for name in DRAWN),
    *(
        f"reports/{SCALE}/{page}.md"
        for page in (
            "index",
            "table2",
            "table3",
            "claims",
            "bleu",
            "deviations",
            "samples",
            "data",
            "provenance",
        )
    ),
    *(f"reports/{SCALE}/runs/{run.pair}.{run.row}.seed{run.seed}.json" for run in PROJECT.runs),
]
# The same paths without captions, which `all` would take for files of its own.
REPORT_FILES = [str(file) for file in REPORTED]


localrules:
    all,
    release,
    report,


rule release:
    """Copies of what a run is for, at the end of the DAG, where DVC may delete them."""
    input:
        [f"results/{SCALE}/{file}" for file in release_files()],
    output:
        directory(RELEASE),
    log:
        f"results/{SCALE}/logs/release.log",
    benchmark:
        f"results/{SCALE}/benchmarks/release.tsv"
    params:
        results=subpath(input[0], parent=True),  # layer_times.json lies at the top
        files=release_files(),
    shell:
        "mkdir -p {output:q}"
        " && tar -C {params.results:q} -cf - {params.files:q} | tar -C {output:q} -xf - 2> {log:q}"


rule report:
    """Tables 2 and 3 beside the paper's, figures, samples, where every number came from."""
    input:
        release=RELEASE,
        published="config/published.yaml",
        # What decides about results is a parameter of the rules before; this prints the rest as well.
        configuration=[
            f"config/scales/{PROJECT.settings.scale}.yaml",
            "config/experiments.yaml",
            "config/corpora.yaml",
        ],
        # Only report.html shows them, which is made anew when this rule has run.
        captions=sorted(glob.glob("workflow/report/*.rst")),
        code=package("reporting"),
    output:
        REPORTED,
    log:
        f"results/{SCALE}/logs/report.log",
    benchmark:
        f"results/{SCALE}/benchmarks/report.tsv"
    params:
        settings=PROJECT.settings.model_dump_json(),
        results=subpath(input.release, parent=True),
    shell:
        "aiayn report"
        " --settings {params.settings:q}"
        " --results {params.results:q}"
        " > {log:q} 2>&1"
