"""A model folder: weights and all else that translating needs.

``model.safetensors`` (fp32), ``model.json``, ``bpe.codes``, ``vocabulary.txt``.
"""

import shutil
from pathlib import Path
from typing import Annotated

import torch
from pydantic import Field
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from aiayn.common.errors import UserError
from aiayn.common.files import atomic_write, read_json, write_json
from aiayn.config.sections import ModelConfig, TextConfig
from aiayn.config.yaml_files import Section, validate
from aiayn.model.transformer import Transformer

WEIGHTS, DESCRIPTION, CODES, VOCABULARY = (
    "model.safetensors",
    "model.json",
    "bpe.codes",
    "vocabulary.txt",
)


class ModelFolder(Section):
    """What ``model.json`` says."""

    source_language: str
    target_language: str
    vocabulary_size: Annotated[int, Field(ge=4)]
    model: ModelConfig
    text: TextConfig
    steps: tuple[int, ...] = ()
    """Training steps of the checkpoints averaged; a single one is a checkpoint as it was."""


def save_weights(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Write tensors as safetensors, whole or not at all.

    Raises:
        UserError: they cannot be written (the disk is full); the message names the file.
    """
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    # safetensors writes by name; the temporary file is renamed and synced by atomic_write.
    with atomic_write(path, "wb") as stream:
        try:
            save_file(contiguous, stream.name)
        except SafetensorError as error:  # what it makes of an OSError
            raise UserError(f"{path}: {error}") from None


def load_weights(path: Path) -> dict[str, torch.Tensor]:
    """Read a safetensors file.

    Raises:
        UserError: it is missing or broken; the message names it.
    """
    if not path.exists():
        raise UserError(f"{path}: no such file")
    try:
        return load_file(path)
    except Exception as error:  # safetensors has its own exception type for each cause
        raise UserError(f"{path}: not a whole safetensors file ({error})") from None


def write_model_folder(
    folder: Path, description: ModelFolder, tensors: dict[str, torch.Tensor], text_folder: Path
) -> None:
    """Write all files of a model folder; ``text_folder`` holds ``codes`` and ``vocabulary.txt``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, original in ((CODES, "codes"), (VOCABULARY, VOCABULARY)):
        with (
            (text_folder / original).open("rb") as source,
            atomic_write(folder / name, "wb") as out,
        ):
            shutil.copyfileobj(source, out)
    save_weights(folder / WEIGHTS, tensors)
    write_json(folder / DESCRIPTION, description.model_dump(mode="json"))


def read_description(folder: Path) -> ModelFolder:
    """Read ``model.json``.

    Raises:
        UserError: it is missing or wrong; the message names file and key.
    """
    path = folder / DESCRIPTION
    return validate(ModelFolder, read_json(path), str(path))


def load_model(folder: Path) -> tuple[Transformer, ModelFolder]:
    """Build the model of a folder, ready to translate (no dropout).

    Raises:
        UserError: a file is missing, broken or does not fit the others; the message names it.
    """
    description = read_description(folder)
    model = Transformer(description.model, description.vocabulary_size)
    tensors = {name: tensor.float() for name, tensor in load_weights(folder / WEIGHTS).items()}
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        first = str(error).split("\n")[1].strip()
        raise UserError(f"{folder / WEIGHTS}: does not fit {DESCRIPTION}: {first}") from None
    return model.eval(), description
