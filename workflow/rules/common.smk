"""The configuration, checked as a whole when Snakemake starts; paths and wildcards from it."""

import glob
import json
import os
import re
import shlex
import sys

from aiayn.config import Run, load_project
from aiayn.config.project import TABLE3_PAIR

try:
    PROJECT = load_project(config)
except ValueError as error:
    sys.exit(f"aiayn: {error}")

# The environment that runs Snakemake also runs every step, whether its .venv is activated or not.
shell.prefix(f'export PATH={shlex.quote(os.path.dirname(sys.executable))}:"$PATH"; ')

SCALE = PROJECT.name
DOWNLOADS = PROJECT.downloads
TRAIN_PARTS = sorted({part for pair in PROJECT.corpus.pairs.values() for part in pair.train})
SETS = sorted(
    {
        name
        for pair in PROJECT.corpus.pairs.values()
        for name in (pair.dev, *pair.tests, *pair.optional)
    }
)
MODEL_FILES = ["model.safetensors", "model.json", "bpe.codes", "vocabulary.txt"]
ARCHIVES = {archive.file: name for name, archive in PROJECT.catalogue.archives.items()}


def one_of(names):
    """A regular expression that matches these names alone."""
    return "|".join(re.escape(name) for name in names)


wildcard_constraints:
    scale=one_of([SCALE]),
    src="[a-z]{2,3}",
    tgt="[a-z]{2,3}",
    lang="[a-z]{2,3}",
    part=one_of(TRAIN_PARTS),
    set=one_of(SETS),
    use="train|dev",
    name=one_of(TRAIN_PARTS + SETS),
    archive=one_of(ARCHIVES),
    row=one_of(PROJECT.experiments),
    seed=r"\d+",


# What sub-packages take from elsewhere that decides about their output: the learning rate and the
# sinusoids, which models and figures share, and parameters, for Table 3. Training counts its
# operations by the last as well, but is not repeated for that.
BESIDE = {
    "model": ["src/aiayn/common/formulas.py"],
    "reporting": ["src/aiayn/common/formulas.py", "src/aiayn/config/cost.py"],
}


def package(*names):
    """Source files of sub-packages: a rule reruns when the code it calls has changed."""
    own = [path for name in names for path in sorted(glob.glob(f"src/aiayn/{name}/*.py"))]
    return own + [path for name in names for path in BESIDE.get(name, [])]


def section(model, *keys):
    """A configuration section, or those keys of it, as a command-line option."""
    return json.dumps(model.model_dump(mode="json", exclude_none=True, include=set(keys) or None))


def pair_of(wildcards):
    """The wildcards' language pair."""
    return f"{wildcards.src}-{wildcards.tgt}"


def corpus_pair(wildcards):
    """The parts and sets of the corpus for the wildcards' languages."""
    return PROJECT.corpus_pair(pair_of(wildcards))


def pair_folder(wildcards):
    """results/<scale>/<pair>"""
    return f"results/{SCALE}/{pair_of(wildcards)}"


def run_of(wildcards):
    """The wildcards' training."""
    return Run(pair_of(wildcards), wildcards.row, int(wildcards.seed))


def resolved(wildcards):
    """The model and training sections of the wildcards' run."""
    return PROJECT.resolve(run_of(wildcards))


def run_folder(run):
    """results/<scale>/<pair>/<row>/seed<k>"""
    return f"results/{SCALE}/{run.pair}/{run.row}/seed{run.seed}"
