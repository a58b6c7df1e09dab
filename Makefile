# make setup  make .venv, with everything of requirements.lock
# make demo   set everything up, run scale demo: Table 2 base and four rows of Table 3
# make test   set everything up, then lint, tests and the smoke DAG
# make bench  measure against JoeyNMT, torch.nn.Transformer, CTranslate2: benchmarks/RESULTS.md
# They work on a fresh machine with Python 3.11+; nothing is installed outside .venv
# (and .venv-peers, for make bench).

PYTHON ?= python3
BIN := .venv/bin
CORES ?= all
SCALE ?= demo
CORPORA_BASE ?=

.PHONY: help setup demo test test-workflow test-others lint format bench clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

setup: .venv/installed

.venv/installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

demo: setup
	$(BIN)/snakemake --cores $(CORES) --config scale=demo
	@echo "Tables, figures and translations: reports/demo/index.md"

# Two halves side by side: most of either is waiting for commands.
test: setup lint
	$(MAKE) --no-print-directory -j 2 test-workflow test-others

test-workflow: setup
	$(BIN)/python -m pytest -q tests/workflow tests/golden

test-others: setup
	$(BIN)/python -m pytest -q tests/unit tests/cluster

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	PATH="$(CURDIR)/$(BIN):$$PATH" workflow/lint.sh
	$(BIN)/lint-imports
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow

bench: setup .venv-peers/installed
	$(BIN)/python benchmarks/run.py --scale="$(SCALE)" --corpora-base="$(CORPORA_BASE)"

.venv-peers/installed: benchmarks/peers.txt
	test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers.txt
	@touch $@

clean:
	rm -rf results reports/smoke reports/demo .snakemake
