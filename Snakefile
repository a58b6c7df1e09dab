"""Attention Is All You Need, from corpus to Tables 2 and 3.

    snakemake --cores all                            the scale of config/config.yaml
    snakemake --cores all --config scale=smoke       another one
    snakemake --cores all --profile slurm            on a cluster

Every rule calls one `aiayn` command; docs/stages.md says what each reads and writes. The software
environment of all rules is the locked .venv that Snakemake itself runs in (see `make setup`).
"""

from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/inputs.smk"
include: "workflow/rules/resources.smk"
include: "workflow/rules/corpus.smk"
include: "workflow/rules/text.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/decoding.smk"
include: "workflow/rules/scoring.smk"
include: "workflow/rules/analysis.smk"
include: "workflow/rules/reporting.smk"
include: "workflow/rules/report_html.smk"


onsuccess:
    write_report_html()


rule all:
    """Both tables, the figures and everything else in reports/<scale>, and the models."""
    default_target: True
    input:
        REPORT_FILES,
        RELEASE,
