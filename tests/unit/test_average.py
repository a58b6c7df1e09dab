"""Checkpoint averaging."""

import pytest
import torch

from aiayn.common.files import read_json, sha256_of, write_json
from aiayn.config import ModelConfig, TextConfig
from aiayn.decoding.average import average_checkpoints, average_run
from aiayn.model import ModelFolder, Transformer, load_model, save_weights
from aiayn.model.weights import write_model_folder

CONFIG = ModelConfig(N=1, d_model=8, d_ff=16, h=2)


@pytest.fixture
def text_folder(tmp_path):
    folder = tmp_path / "bpe"
    folder.mkdir()
    (folder / "codes").write_text("#version: 0.2\n")
    (folder / "vocabulary.txt").write_text("<pad>\t0\n")
    return folder


@pytest.fixture
def make_run(tmp_path, text_folder):
    """A finished run whose checkpoint at step s holds s everywhere."""

    def make(*steps):
        run, model = tmp_path / "run", Transformer(CONFIG, 16)
        listed = []
        for step in steps:
            path = run / f"checkpoints/step-{step}/model.safetensors"
            tensors = {
                name: torch.full_like(value, float(step))
                for name, value in model.state_dict().items()
            }
            save_weights(path, tensors)
            listed.append({
                "step": step, "path": str(path.relative_to(run)), "sha256": sha256_of(path)
            })  # fmt: skip
        write_json(run / "trained.json", {"checkpoints": listed})
        description = ModelFolder(
            source_language="en", target_language="de", vocabulary_size=16, model=CONFIG,
            text=TextConfig(), steps=(steps[-1],),
        )  # fmt: skip
        write_model_folder(run / "last", description, model.state_dict(), text_folder)
        return run

    return make


def test_the_last_are_chosen_by_step_number_not_by_name(make_run, text_folder):
    """Faults A12: steps 900, 950, 1000, 10000, the last 2."""
    run = make_run(10000, 900, 1000, 950)
    average_run(run, 2, text_folder, run)
    model, description = load_model(run)
    assert description.steps == (1000, 10000)
    assert {float(value) for p in model.parameters() for value in p.detach().flatten()} == {5500.0}


def test_fewer_checkpoints_than_asked_for_is_an_error(make_run, text_folder):
    """Faults A12: 5 of 2."""
    run = make_run(1, 2)
    with pytest.raises(ValueError, match="5 checkpoints asked for, 2 there"):
        average_run(run, 5, text_folder, run)
    assert not (run / "model.safetensors").exists()


def test_sums_are_fp32_whatever_the_checkpoints_are(tmp_path):
    """Faults A12: one in bf16. In bf16, 256 + 1 would be 256."""
    for name, value, dtype in (("a", 256.0, torch.bfloat16), ("b", 1.0, torch.float32)):
        save_weights(tmp_path / name, {"w": torch.full((2,), value, dtype=dtype)})
    averaged = average_checkpoints([tmp_path / "a", tmp_path / "b"])
    assert averaged["w"].dtype == torch.float32
    assert averaged["w"].tolist() == [128.5, 128.5]


def test_a_checkpoint_that_training_did_not_write_is_refused(make_run, text_folder):
    run = make_run(1, 2)
    path = run / read_json(run / "trained.json")["checkpoints"][0]["path"]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"step-1/model.safetensors: missing, or not the file"):
        average_run(run, 2, text_folder, run)


def test_checkpoints_of_different_models_are_refused(tmp_path):
    save_weights(tmp_path / "a", {"w": torch.zeros(2)})
    save_weights(tmp_path / "b", {"w": torch.zeros(3)})
    with pytest.raises(ValueError, match="its tensors are not those of"):
        average_checkpoints([tmp_path / "a", tmp_path / "b"])
