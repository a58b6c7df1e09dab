"""A step that fails says which part, file and line, in one line, and leaves nothing half-made."""

import os
import sys
from pathlib import Path

import pytest

from aiayn.cli.main import main
from aiayn.common.errors import UserError
from aiayn.text import parallel

SPECIALS = "<pad>\t0\n<s>\t0\n</s>\t0\n<unk>\t0\n"
FILES = {
    "europarl-v7.en": b"a b\nab c\nabc\n",
    "europarl-v7.de": b"A B\nAB C\nABC\n",
    "short.de": b"A B\nAB C\n",
    "latin1.de": b"A B\nAB C\n\xe4 B\n",
    "codes": b"#version: 0.2\na b</w>\n",
    "vocabulary.txt": f"{SPECIALS}a\t3\nb\t2\n".encode(),
    "headless": b"a b</w>\n",
    "twice.txt": f"{SPECIALS}a\t3\na\t2\n".encode(),
    "tabless.txt": f"{SPECIALS}a 3\n".encode(),
}
CLEAN = "clean --part europarl-v7 --output-source o.en --output-target o.de --counts o.json"
LEARN = "learn-bpe --merges 9 --codes o.codes --vocabulary o.txt"
APPLY = "apply-bpe --output o.de"
BINARIZE = "binarize --output o"
PAIR = "--source europarl-v7.en --target"

MISTAKES = {
    "tokenize --lang de --output o.de --input lost.de": "lost.de: no such file or directory",
    f"{CLEAN} {PAIR} lost.de": "lost.de: no such file",
    f"{CLEAN} {PAIR} short.de": "europarl-v7.en has 3 lines but short.de has 2",
    f"{CLEAN} {PAIR} latin1.de": "latin1.de, line 3: not UTF-8 (invalid continuation byte)",
    f"{CLEAN} {PAIR} europarl-v7.de --held-out lost.en": "lost.en: no such file",
    f"{LEARN} --input europarl-v7.en --input latin1.de": "latin1.de, line 3: not UTF-8",
    f"{LEARN} --input lost.en": "lost.en: no such file",
    f"{APPLY} --codes codes --input latin1.de": "latin1.de, line 3: not UTF-8",
    f"{APPLY} --codes headless --input short.de": "headless, line 1: expected '#version: 0.2'",
    f"{APPLY} --codes lost --input short.de": "lost: no such file",
    f"{BINARIZE} --vocabulary vocabulary.txt {PAIR} short.de": (
        "europarl-v7.en has 3 lines but short.de has 2"
    ),
    f"{BINARIZE} --vocabulary vocabulary.txt {PAIR} latin1.de": "latin1.de, line 3: not UTF-8",
    f"{BINARIZE} --vocabulary twice.txt {PAIR} europarl-v7.de": "twice.txt: a subword occurs twice",
    f"{BINARIZE} --vocabulary tabless.txt {PAIR} europarl-v7.de": (
        "tabless.txt, line 5: expected subword<TAB>count"
    ),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_bytes(content)
    return tmp_path


def run(command: str, monkeypatch) -> int:
    monkeypatch.setattr(sys, "argv", ["aiayn", *command.split()])
    with pytest.raises(SystemExit) as exit:
        main()
    return exit.value.code


@pytest.mark.parametrize(("command", "says"), MISTAKES.items())
def test_mistake_is_one_line_that_says_where(folder, monkeypatch, capsys, command, says):
    """faults A2, A3."""
    assert run(command, monkeypatch) == 2
    errors = capsys.readouterr().err.removesuffix("\n").split("\n")
    said = [line for line in errors if line.startswith("aiayn: ")]
    assert len(said) == 1
    assert says.split(", ")[0] in said[0]
    assert says in said[0]
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)


def many_blocks(path: Path) -> Path:
    path.write_text("a line\n" * 100 + "the bad line\n" + "a line\n" * 100, encoding="utf-8")
    return path


def _dying():
    return _die_at_bad_line


def _die_at_bad_line(block: parallel.Block) -> bytes:
    if b"bad" in block.data:
        os._exit(9)
    return block.data


def _failing():
    return _fail_at_bad_line


def _fail_at_bad_line(block: parallel.Block) -> bytes:
    if b"bad" in block.data:
        raise KeyError("something nobody thought of")
    return block.data


def rewrite(make_worker, source: Path, workers: int) -> None:
    output = source.with_name("out")
    parallel.rewrite_lines(make_worker, source, output, workers=workers, label="test")


def test_killed_worker_is_one_line_that_says_where(tmp_path, monkeypatch):
    """As the system kills a process when memory runs out."""
    monkeypatch.setattr(parallel, "BLOCK_BYTES", 70)
    source = many_blocks(tmp_path / "europarl-v7.en")
    with pytest.raises(UserError, match=r"europarl-v7\.en, line \d+ or after: a worker was killed"):
        rewrite(_dying, source, workers=2)
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


@pytest.mark.parametrize("workers", [1, 2])
def test_unforeseen_failure_tells_the_lines_it_met(tmp_path, monkeypatch, workers):
    """Line 101 is in the block of lines 100 to 109, ten lines and one more each."""
    monkeypatch.setattr(parallel, "BLOCK_BYTES", 70)
    source = many_blocks(tmp_path / "europarl-v7.en")
    with pytest.raises(KeyError) as failure:
        rewrite(_failing, source, workers)
    (note,) = failure.value.__notes__
    assert note.startswith(f"in {source}, lines ")
    first, last = map(int, note.rpartition("lines ")[2].split(" to "))
    assert first <= 101 <= last < first + 12
    assert [path.name for path in tmp_path.iterdir()] == [source.name]
