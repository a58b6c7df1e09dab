"""JoeyNMT's configuration of a model as the paper has it: post-norm, scaled, all tied."""

from typing import Any


def configuration(
    model: dict[str, Any],
    vocabulary: str,
    folder: str,
    *,
    data: dict[str, str],
    training: dict[str, Any],
    testing: dict[str, Any],
) -> dict[str, Any]:
    """What a YAML file of JoeyNMT would say.

    Args:
        model: N, d_model, d_ff, h and p_drop.
        vocabulary: File of the subwords of both languages, without special ones.
        folder: Where JoeyNMT writes.
        data: ``train``, ``dev`` and ``test``: paths without their language; text in subwords.
        training: Further keys of that section.
        testing: Likewise.
    """
    side = {"level": "word", "max_length": 256, "voc_file": vocabulary}
    return {
        "name": "benchmark",
        "model_dir": folder,
        "use_cuda": False,
        "data": {
            **data,
            "dataset_type": "plain",
            "src": {"lang": "en", **side},
            "trg": {"lang": "de", **side},
        },
        "testing": testing,
        "training": {
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "scheduling": "noam",
            "learning_rate_warmup": 500,
            "learning_rate_min": 0.0,  # below it JoeyNMT stops
            "label_smoothing": 0.1,
            "normalization": "tokens",
            "logging_freq": 10,
            "validation_freq": 1_000_000,
            **training,
        },
        "model": _model_section(model),
    }


def _model_section(model: dict[str, Any]) -> dict[str, Any]:
    stack = {
        "type": "transformer",
        "num_layers": model["N"],
        "num_heads": model["h"],
        "hidden_size": model["d_model"],
        "ff_size": model["d_ff"],
        "dropout": model["p_drop"],
        "layer_norm": "post",
        "embeddings": {
            "embedding_dim": model["d_model"],
            "scale": True,
            "dropout": model["p_drop"],
        },
    }
    return {
        "tied_embeddings": True,
        "tied_softmax": True,
        "encoder": stack,
        "decoder": dict(stack),
    }
