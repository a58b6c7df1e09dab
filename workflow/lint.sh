#!/usr/bin/env bash
# snakemake --lint, less its wish for a conda environment or container on every rule: the software
# environment of all rules is the locked .venv that Snakemake itself runs in.
set -uo pipefail
report=$(snakemake --lint json 2>/dev/null) || true
python - "$report" <<'PY'
import json
import sys

found = json.loads(sys.argv[1])
wishes = "Specify a conda environment or container for each rule."
lints = [
    (item["for"], lint)
    for part in ("snakefiles", "rules")
    for item in found[part]
    for lint in item["lints"]
    if lint["title"] != wishes
]
for where, lint in lints:
    print(f"{where}: {lint['title']}: {lint['body'].strip()}")
print(f"snakemake --lint: {len(lints)} findings")
sys.exit(bool(lints))
PY
