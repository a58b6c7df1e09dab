"""What a finished training leaves for the next stages."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from aiayn.batches import ParallelData
from aiayn.common.files import write_json
from aiayn.common.provenance import git_commit, host, package_versions
from aiayn.config.cost import training_flops
from aiayn.model.device import device_name
from aiayn.model.transformer import parameter_count
from aiayn.model.weights import ModelFolder, write_model_folder
from aiayn.training.checkpoints import MODEL, Checkpoint, list_checkpoints, read_sha256

if TYPE_CHECKING:
    from aiayn.training.loop import Loop
    from aiayn.training.run import Job


def write_results(job: "Job", loop: "Loop") -> None:
    """Write ``last/``, ``run.json`` and, last of all, the marker ``trained.json``."""
    trainer, progress, validation = loop.trainer, loop.progress, loop.validation
    assert validation is not None
    source, _, target = job.pair.partition("-")
    description = ModelFolder(
        source_language=source,
        target_language=target,
        vocabulary_size=trainer.model.vocabulary_size,
        model=job.model,
        text=job.text,
        steps=(progress.step,),
    )
    tensors = {name: tensor.cpu() for name, tensor in trainer.model.state_dict().items()}
    write_model_folder(job.output / "last", description, tensors, job.text_folder)
    write_json(job.output / "run.json", _provenance(job, loop))
    stretches = [stretch for stretch in progress.stretches if stretch.seconds]
    model, rows = trainer.model, trainer.model.embedding.weight.shape[0]
    marker = {
        "steps": progress.step,
        "parameters": parameter_count(model),
        "vocabulary": model.vocabulary_size,
        "vocabulary_rows": rows,
        "source_tokens": progress.tokens.source,
        "target_tokens": progress.tokens.target,
        "seconds": round(progress.seconds, 3),
        "flops": training_flops(job.model, rows, progress.tokens),
        "dev": {"step": progress.step, "loss": validation.loss, "ppl": validation.ppl},
        "average": job.training.average,
        "checkpoints": [_listed(checkpoint) for checkpoint in list_checkpoints(job.checkpoints)],
        "parts": trainer.parts,
        "stretches": [asdict(stretch) for stretch in stretches],
        "precision": stretches[-1].precision,
        "ranks": stretches[-1].ranks,
        "host": host()["name"],
        "device": stretches[-1].device,
    }
    write_json(job.output / "trained.json", marker)


def _listed(checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "step": checkpoint.step,
        "path": f"checkpoints/{checkpoint.path.name}/{MODEL}",
        "sha256": read_sha256(checkpoint, MODEL),
    }


def _provenance(job: "Job", loop: "Loop") -> dict[str, Any]:
    data = {
        str(folder): ParallelData(folder).index["sha256"]
        for folder in (job.train_data, job.dev_data)
    }
    return {
        "run": job.label,
        "pair": job.pair,
        "config": {
            "model": job.model.model_dump(mode="json"),
            "training": job.training.model_dump(mode="json"),
            "text": job.text.model_dump(mode="json"),
        },
        "git_commit": git_commit(),
        "data_sha256": data,
        "versions": package_versions(),
        "host": host(),
        "device": device_name(loop.device),
        "ranks": loop.ranks.world,
        "precision": loop.precision,
        "threads": job.training.threads,
        "seconds": round(loop.progress.seconds, 3),
    }
