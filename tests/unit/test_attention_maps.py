"""Attention weights of a model: what they are, and the file that figures are drawn from."""

import json

import pytest
import torch
from typer.testing import CliRunner

from aiayn.analysis.attention_maps import (
    LONGEST,
    PAPER_SENTENCES,
    SHORTEST,
    AttentionMaps,
    Sentence,
    chosen_sentences,
    recorded,
)
from aiayn.cli.main import app
from aiayn.config import DecodingConfig, ModelConfig, TextConfig
from aiayn.decoding import Translator
from aiayn.model import ModelFolder, Transformer
from aiayn.model.weights import write_model_folder

LETTERS = "abcdefghijklmnopqrstuvwxyzTLI,-."
SHAPE = ModelConfig(N=2, d_model=16, d_ff=32, h=4, d_k=3, d_v=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An untrained model that spells every word letter by letter, and knows no digit."""
    root = tmp_path_factory.mktemp("model")
    (root / "bpe").mkdir()
    (root / "bpe/codes").write_text("#version: 0.2\nt h\nth e</w>\n")
    entries = ["<pad>", "<s>", "</s>", "<unk>", "the", "th@@", "Th@@"]
    entries += [*(f"{letter}@@" for letter in LETTERS), *LETTERS]
    (root / "bpe/vocabulary.txt").write_text("".join(f"{entry}\t1\n" for entry in entries))
    torch.manual_seed(1)
    description = ModelFolder(
        source_language="en", target_language="de", vocabulary_size=len(entries), model=SHAPE,
        text=TextConfig(),
    )  # fmt: skip
    weights = Transformer(SHAPE, len(entries)).state_dict()
    write_model_folder(root / "out", description, weights, root / "bpe")
    return root / "out"


@torch.inference_mode()
def test_output_computed_from_the_weights_is_the_layers_own(folder):
    model = Translator(folder, torch.device("cpu")).model
    source, target = torch.tensor([[5, 6, 7, 8, 2]]), torch.tensor([[1, 9, 10]])
    layers = {
        "encoder": model.encoder[1].self_attention,
        "decoder": model.decoder[1].self_attention,
        "cross": model.decoder[1].cross_attention,
    }
    shapes = {"encoder": (4, 5, 5), "decoder": (4, 3, 3), "cross": (4, 3, 5)}
    for name, layer in layers.items():
        given = []
        handle = layer.register_forward_hook(lambda _, inputs, out: given.append((inputs, out)))  # noqa: B023
        with recorded(layer) as calls:
            model.decode(target, *model.encode(source))
        handle.remove()
        ((x, memory, _), output), (weights,) = given[0], calls
        assert weights.shape == shapes[name]
        torch.testing.assert_close(weights.sum(-1), torch.ones(shapes[name][:2]))
        values = layer.keys_values(x if memory is None else memory).values_BHMV[0]
        heads = (weights @ values).transpose(0, 1).flatten(-2)
        torch.testing.assert_close(layer.out_proj(heads), output[0])
        if name == "decoder":  # no position sees a later one (Section 3.2.3)
            assert weights.triu(1).abs().max() == 0


@torch.inference_mode()
def test_recording_ends_with_its_block(folder):
    model = Translator(folder, torch.device("cpu")).model
    with recorded(model.encoder[0].self_attention) as calls:
        model.encode(torch.tensor([[5, 2]]))
    model.encode(torch.tensor([[5, 2]]))
    assert len(calls) == 1


def test_sentences_are_the_papers_and_two_chosen_by_position():
    lines = ["short"] * 5 + [f"{n} " + "w " * 9 for n in range(9)] + ["long " * (LONGEST + 1)]
    found = chosen_sentences(lines, "test")
    assert [one.text for one in found[:2]] == list(PAPER_SENTENCES)
    assert [one.origin for one in found[2:]] == ["test, line 9", "test, line 12"]
    assert SHORTEST <= len(found[2].text.split()) <= LONGEST
    assert len(chosen_sentences(["too short"], "test")) == 2


def test_a_sentence_that_the_vocabulary_cannot_spell_has_no_weights(folder):
    maps = AttentionMaps(Translator(folder, torch.device("cpu")))
    record = maps.describe(Sentence("x", "the 9 cats"), DecodingConfig(beam=1))
    assert record["unknown"] == ["9"]
    assert "encoder" not in record


def test_the_command_writes_the_last_layer_but_one_of_every_head(folder, write_lines, tmp_path):
    text = write_lines("test.en", ["the cat sat on the mat and so on"] * 3)
    output = tmp_path / "attention.json"
    options = ["--model", folder, "--text", text, "--output", output, "--beam", "1"]
    options += ["--max-extra", "3"]
    done = CliRunner().invoke(app, ["attention", *map(str, options)])
    assert done.exit_code == 0, done.output
    found = json.loads(output.read_text())
    assert (found["layer"], found["layers"]) == (1, 2)
    paper, readable = found["sentences"][0], found["sentences"][-1]
    assert "2@@" in paper["unknown"]
    for kind, queries, keys in (
        ("encoder", "source", "source"),
        ("decoder", "target", "target"),
        ("cross", "target", "source"),
    ):
        heads = torch.tensor(readable[kind])
        sizes = [len(readable[f"{side}_tokens"]) for side in (queries, keys)]
        assert list(heads.shape) == [SHAPE.h, *sizes]
        assert (heads.sum(-1) - 1).abs().max() < 0.01  # of rounded weights


def test_a_layer_that_is_not_there_is_an_error(folder):
    with pytest.raises(ValueError, match="layers 1 to 2"):
        AttentionMaps(Translator(folder, torch.device("cpu")), layer=3)
