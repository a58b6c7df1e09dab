"""Raw text to raw text through a model folder, and the command around it."""

import subprocess
import sys

import pytest
import torch

from aiayn.config import DecodingConfig, ModelConfig
from aiayn.decoding import Translator
from aiayn.decoding import translator as translator_module
from tests.unit.untrained import write_untrained

CPU = torch.device("cpu")
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "saw", "an", "old", "dog", "run", "far"]
LINES = [" ".join(WORDS[n % 5 : n % 5 + 1 + n % 8]) for n in range(30)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An untrained model with real text tools; its output is gibberish, always the same."""
    letters = [*"abcdefghijklmnopqrstuvwxyz"]
    words = ["the", *(f"{x}@@" for x in letters), *letters]
    config = ModelConfig(N=1, d_model=16, d_ff=32, h=2)
    root = tmp_path_factory.mktemp("model")
    return write_untrained(root, words, "t h\nth e</w>\n", config, seed=1, gain=4)


@pytest.fixture(scope="module")
def translator(folder):
    return Translator(folder, CPU)


def translate(translator, lines, **options):
    return list(translator.translate(lines, DecodingConfig(**options)))


def test_empty_and_blank_lines_stay_where_they_are(translator):
    """Faults A14: an empty line in a batch."""
    lines = ["", "the cat", "   ", "", "a dog"]
    output = translate(translator, lines)
    assert [bool(line) for line in output] == [False, True, False, False, True]
    assert output[1] == translate(translator, ["the cat"])[0]


def test_output_does_not_depend_on_batch_size_or_order(translator):
    """Faults A13: 30 lines of mixed length, batch 1, 7 and 30, shuffled."""
    together = translate(translator, LINES)
    for tokens in (1, 40, 10_000):
        assert translate(translator, LINES, batch_tokens=tokens) == together
    shuffled = LINES[::2] + LINES[1::2]
    assert translate(translator, shuffled) == together[::2] + together[1::2]


def test_output_does_not_depend_on_threads(translator, folder):
    several = Translator(folder, CPU, threads=3)
    assert translate(several, LINES, batch_tokens=20) == translate(translator, LINES)


def test_windows_of_lines_do_not_show(translator, monkeypatch):
    together = translate(translator, LINES)
    monkeypatch.setattr(translator_module, "WINDOW_LINES", 4)
    assert translate(translator, LINES) == together


def test_no_subword_mark_is_left_however_short_the_output(translator):
    """Faults A6: decode with a length limit that cuts words in two."""
    for extra in range(3):
        for line in translate(translator, LINES, max_extra=extra):
            assert "@@" not in line
            assert "\n" not in line


def test_hostile_characters_in_a_line_do_not_make_two(translator):
    """Faults A1: line breaks other than LF stay inside their line."""
    lines = ["the cat\u2028sat\x85on\x0ba\x1cmat\rthere", "a dog"]
    assert len(translate(translator, lines)) == 2


def aiayn(*options, stdin=b""):
    command = [sys.executable, "-m", "aiayn", *options]
    return subprocess.run(command, input=stdin, capture_output=True, check=False)


def test_command_reads_standard_input_and_writes_standard_output(folder, translator):
    done = aiayn("translate", "--model", str(folder), stdin=b"the cat\n\na dog\n")
    assert done.returncode == 0
    expected = translate(translator, ["the cat", "", "a dog"])
    assert done.stdout.decode() == "".join(f"{line}\n" for line in expected)


def test_mistakes_are_one_line_and_exit_code_2(folder, tmp_path):
    """A missing model, a broken one, input that is not UTF-8, a device that there is not."""
    broken = tmp_path / "broken"
    broken.mkdir()
    for name in ("model.json", "bpe.codes", "vocabulary.txt"):
        (broken / name).write_bytes((folder / name).read_bytes())
    (broken / "model.safetensors").write_bytes(b"\0" * 10)
    output = tmp_path / "out"
    for model, device, stdin, message in (
        (tmp_path / "nowhere", "cpu", b"", "nowhere/model.json: no such file"),
        (broken, "cpu", b"", "broken/model.safetensors: not a whole safetensors file"),
        (folder, "cpu", b"the cat\n\xc3\n", "standard input, line 2: not UTF-8"),
        (folder, "tpu", b"", "--device: 'tpu' is none of auto, cpu, cuda"),
    ):
        words = ["--model", str(model), "--device", device, "--output", str(output)]
        done = aiayn("translate", *words, stdin=stdin)
        assert done.returncode == 2
        errors = done.stderr.decode().strip().split("\n")
        assert errors[-1].startswith("aiayn: ")
        assert message in errors[-1]
        assert b"Traceback" not in done.stderr
        assert not output.exists()
