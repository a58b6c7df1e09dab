#!/usr/bin/env bash
# snakemake --lint, less its wish for a conda environment or container on every rule: the software
# environment of all rules is the locked .venv that Snakemake itself runs in.
set -u  # not pipefail: snakemake --lint fails for its wish too
snakemake --lint 2>&1 | python -c '
import re
import sys

WISH = "Specify a conda environment or container for each rule."
report = sys.stdin.read()
found = []
for part in re.split(r"^(?=Lints for )", report, flags=re.MULTILINE)[1:]:
    where, _, lints = part.partition("\n")
    for lint in re.split(r"^    \* ", lints, flags=re.MULTILINE)[1:]:
        if not lint.startswith(WISH):
            found.append(f"{where}\n    * {lint.rstrip()}")
if "Lints for " not in report and "Congratulations" not in report:
    sys.exit(f"snakemake --lint failed:\n{report}")
print("\n".join(found + [f"snakemake --lint: {len(found)} findings"]))
sys.exit(bool(found))
'
