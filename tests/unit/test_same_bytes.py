"""The same bytes from tokenize to binarize, whatever the workers and the hash seed (faults A5)."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

WORKERS = (1, 2, 4)
FILES = 15
"""Two sides each of tokenized, clean and bpe, the counts, codes, vocabulary, words and five
of batches."""

CHAIN = """
import sys
from pathlib import Path
from aiayn.batches.binarize import binarize
from aiayn.config import CleaningConfig
from aiayn.corpus.clean import clean
from aiayn.text import apply_bpe_file, learn, learn_bpe, parallel, streams, tokenize_file

parallel.BLOCK_BYTES = streams.BPE_BLOCK_BYTES = learn.BLOCK_BYTES = 2_000  # many blocks
raw, *outputs = map(Path, sys.argv[1:])
for output in outputs:
    workers = int(output.name)
    sides = {}
    for stage in ("tokenized", "clean", "bpe"):
        sides[stage] = [output / f"{stage}.{lang}" for lang in ("en", "de")]
    for lang, tokenized in zip(("en", "de"), sides["tokenized"]):
        options = {"aggressive_hyphens": False, "workers": workers}
        tokenize_file(raw / f"raw.{lang}", tokenized, lang, **options)
    counts = output / "clean.json"
    clean(*sides["tokenized"], *sides["clean"], counts, part="p", config=CleaningConfig())
    codes, vocabulary = output / "codes", output / "vocabulary.txt"
    words = output / "words.txt"
    learn_bpe(sides["clean"], codes, vocabulary, words, merges=150, workers=workers)
    for tokens, subwords in zip(sides["clean"], sides["bpe"]):
        apply_bpe_file(tokens, subwords, codes, words, workers=workers)
    binarize(sides["bpe"][:1], sides["bpe"][1:], vocabulary, output / "batches")
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """400 pairs of words that are equally frequent, so that every order has ties to break."""
    folder = tmp_path_factory.mktemp("raw")
    chance = random.Random(7)
    syllables = ["ba", "ko", "lü", "mé", "nst", "ra", "ti", "wo", "ße", "“x”", "1.5", "\u2028"]
    for lang in ("en", "de"):
        sentences = [
            " ".join("".join(chance.choices(syllables, k=chance.randint(1, 3))) for _ in range(9))
            for _ in range(400)
        ]
        text = "".join(f"{sentence}.\n" for sentence in sentences)
        (folder / f"raw.{lang}").write_text(text, encoding="utf-8", newline="\n")
    return folder


def run_chain(corpus: Path, output: Path, hash_seed: str) -> list[dict[str, bytes]]:
    """Content by name of the files of each number of workers."""
    folders = [output / str(workers) for workers in WORKERS]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-c", CHAIN, str(corpus), *map(str, folders)]
    subprocess.run(command, env=environment, check=True)
    return [
        {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        for folder in folders
    ]


def test_output_depends_on_neither_workers_nor_hash_seed(corpus, tmp_path):
    """faults A5: 1, 2 and 4 workers under PYTHONHASHSEED 0 and 1."""
    runs = [run for seed in ("0", "1") for run in run_chain(corpus, tmp_path / seed, seed)]
    expected = runs[0]
    assert len(expected) == FILES
    assert len(expected["tokenized.en"]) > 10 * 2_000  # ten blocks or more
    assert expected["clean.en"].count(b"\n") == 400
    for run in runs[1:]:
        assert run.keys() == expected.keys()
        differing = [name for name in expected if run[name] != expected[name]]
        assert differing == []
