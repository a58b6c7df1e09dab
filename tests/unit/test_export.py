"""A model written for CTranslate2 computes what it computes here, and translates to the same text.

CTranslate2 is no dependency: it is taken from where it is installed, or from the environment that
``make bench`` makes.
"""

import io
import re
import sys
from pathlib import Path

import pytest
import torch

from aiayn.batches.tensors import pad_sources
from aiayn.common.errors import UserError
from aiayn.config import DecodingConfig, ModelConfig
from aiayn.decoding import beam_search
from aiayn.decoding.export import export_ctranslate2
from aiayn.model.weights import load_model
from aiayn.text import BOS, EOS
from aiayn.training import train
from tests.unit.training_fixtures import make_job, write_corpus
from tests.unit.untrained import write_untrained

PEERS = Path(__file__).parents[2] / ".venv-peers/lib"
WORDS = [f"w{number}" for number in range(20)]
SMALL = ModelConfig(N=2, d_model=16, d_ff=32, h=2)


@pytest.fixture(scope="module")
def ctranslate2():
    """CTranslate2, or the test is skipped."""
    places = [str(place) for place in PEERS.glob("python3.*/site-packages")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path, *places])
        yield pytest.importorskip("ctranslate2", reason="ctranslate2 is not installed")


def model_folder(root, config=SMALL):
    """An untrained model that prefers some words to others."""
    return write_untrained(root, WORDS, "w 1</w>\n", config, seed=5, gain=3)


def sentences(count, length):
    generator = torch.Generator().manual_seed(7)
    return torch.randint(4, 4 + len(WORDS), (count, length), generator=generator).tolist()


def words(ids):
    return [WORDS[number - 4] for number in ids]


SOURCES = [ids for length in range(2, 12) for ids in sentences(4, length)]


def ours(folder):
    model, _ = load_model(folder)
    outputs = beam_search(model, pad_sources(SOURCES), DecodingConfig())
    return [words(ids) for ids in outputs]


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_log_probabilities_are_the_same(ctranslate2, tmp_path, positions):
    config = SMALL.model_copy(update={"positions": positions, "max_positions": 64})
    folder = model_folder(tmp_path, config)
    export_ctranslate2(folder, tmp_path / "exported")
    translator = ctranslate2.Translator(str(tmp_path / "exported"), compute_type="float32")
    model, _ = load_model(folder)
    sources, targets = sentences(6, 9), sentences(6, 11)
    scored = translator.score_batch([words(ids) for ids in sources], [words(t) for t in targets])
    inputs = torch.tensor([[BOS, *target] for target in targets])
    with torch.no_grad():
        logits = model(pad_sources(sources), inputs, torch.arange(inputs.numel()))
    labels = torch.tensor([[*target, EOS] for target in targets])
    expected = logits.log_softmax(-1).gather(1, labels.view(-1, 1)).view(labels.shape)
    got = torch.tensor([result.log_probs for result in scored])
    torch.testing.assert_close(got, expected, atol=2e-4, rtol=0)


@pytest.fixture(scope="module")
def trained(ctranslate2, tmp_path_factory):
    """A model that has begun to learn to copy: it ends its sentences, and makes mistakes."""
    text = write_corpus(tmp_path_factory.mktemp("text") / "corpus", train=400)
    output = tmp_path_factory.mktemp("run")
    model = ModelConfig(N=1, d_model=32, d_ff=64, h=2, p_drop=0.0)
    steps = 120
    train(make_job(text, output, model, steps=steps, warmup=40, tokens_per_step=800, lr_factor=2.0,
                   checkpoint_every=steps, validate_every=steps, average=1))  # fmt: skip
    return output / "last"


def test_the_readmes_example_gives_the_text_of_our_beam_search(
    ctranslate2, trained, tmp_path, monkeypatch, capsys
):
    exported = tmp_path / "exported"
    export_ctranslate2(trained, exported)
    example = re.search(r"```python\n(.*?)```", (exported / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(exported)
    lines = "".join(f"{' '.join(words(ids))}\n" for ids in SOURCES)
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    exec(compile(example[1], "README.md", "exec"), {})
    got = [line.split() for line in capsys.readouterr().out.split("\n")[:-1]]
    pairs = list(zip(got, ours(trained), strict=True))
    # This model is so unsure that the share of <unk>, which CTranslate2 gives to the other
    # words, decides between some translations; of a trained model there is nothing to share.
    assert sum(theirs == expected for theirs, expected in pairs) >= 0.9 * len(pairs)


def test_what_ctranslate2_cannot_compute_is_refused(ctranslate2, tmp_path):
    """Rows (B) of Table 3 have narrower keys than values."""
    folder = model_folder(tmp_path, SMALL.model_copy(update={"d_k": 4}))
    with pytest.raises(UserError, match="d_k=4"):
        export_ctranslate2(folder, tmp_path / "exported")
    assert not (tmp_path / "exported").exists()


def test_a_folder_that_is_there_is_left_alone(ctranslate2, tmp_path):
    folder = model_folder(tmp_path)
    before = (folder / "model.json").read_bytes()
    with pytest.raises(UserError, match=f"{folder}: is there already"):
        export_ctranslate2(folder, folder)
    assert (folder / "model.json").read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_without_ctranslate2_the_message_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    monkeypatch.setitem(sys.modules, "ctranslate2.specs", None)
    with pytest.raises(UserError, match="pip install ctranslate2"):
        export_ctranslate2(model_folder(tmp_path), tmp_path / "exported")
    assert not (tmp_path / "exported").exists()
