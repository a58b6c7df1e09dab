"""The Transformer (Section 3), its weights on disk and nothing else."""

from aiayn.model.transformer import Transformer
from aiayn.model.weights import ModelFolder, load_model, save_weights

__all__ = ["ModelFolder", "Transformer", "load_model", "save_weights"]
