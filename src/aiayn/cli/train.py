"""``aiayn train``: train one model, or go on where it stopped.

Example:
    aiayn train --data R/batches --text-folder R/bpe --pair en-de --output runs/mine \\
        --model '{N: 3, d_model: 256, d_ff: 1024}' --training '{steps: 2000, warmup: 800}'

Writes into the run folder: ``checkpoints/``, ``last/``, ``train.csv``, ``valid.csv``, ``run.json``
and, when the last step is done, ``trained.json``. Told to stop (SIGTERM, SIGUSR1, the end of the
Slurm job near) it saves after the step at hand, says when and why in
``checkpoints/interruptions.log``, and exits with 75; the same command goes on.
"""

import os
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from aiayn.cli.launch import launch, note_end_of_job, started_by_torchrun
from aiayn.cli.options import Device
from aiayn.common.progress import log


def train(
    data: Annotated[Path, typer.Option(help="Folder with train/ and dev/ of aiayn binarize.")],
    text_folder: Annotated[Path, typer.Option(help="Folder with codes and vocabulary.txt.")],
    output: Annotated[Path, typer.Option(help="Run folder.")],
    pair: Annotated[str, typer.Option(help="Languages, source-target.")],
    model: Annotated[str, typer.Option(help="Model section: {key: value} or a YAML file.")] = "",
    training: Annotated[str, typer.Option(help="Training section, likewise.")] = "",
    text: Annotated[str, typer.Option(help="Text section that made the data.")] = "",
    label: Annotated[str, typer.Option(help="Name of the run in logs.")] = "",
    device: Device = "auto",
    ranks: Annotated[int, typer.Option(min=1, help="Processes: one a GPU.")] = 1,
    nodes: Annotated[int, typer.Option(min=1, help="Machines of a Slurm job that share them.")] = 1,
) -> None:
    """Train a model, or go on where it stopped."""
    from aiayn.config import ModelConfig, TextConfig, TrainingConfig, parse_section
    from aiayn.config.sections import check_ranks
    from aiayn.training import Job, check_data
    from aiayn.training import train as run
    from aiayn.training.interruption import EXIT_CODE, InterruptedTrainingError

    job = Job(
        train_data=data / "train",
        dev_data=data / "dev",
        text_folder=text_folder,
        output=output,
        pair=pair,
        label=label or str(output),
        model=parse_section(ModelConfig, model, "--model"),
        training=parse_section(TrainingConfig, training, "--training"),
        text=parse_section(TextConfig, text, "--text"),
        device=device,
    )
    check_ranks(ranks, job.training, "--ranks")
    if ranks > 1 and not started_by_torchrun():
        check_data(job)  # else every rank would say what is wrong
        note_end_of_job()
        raise typer.Exit(launch(ranks, nodes, ["aiayn", *sys.argv[1:]]))
    try:
        run(job)
    except InterruptedTrainingError as error:
        message = f"{job.label}: {error}; the same command goes on from there"
        log(message)
        _note(job.checkpoints / "interruptions.log", message)
        raise typer.Exit(EXIT_CODE) from None


def _note(file: Path, message: str) -> None:
    """Keep when and why training stopped; Snakemake empties the log once it goes on."""
    if os.environ.get("RANK", "0") == "0":
        with file.open("a", encoding="utf-8") as stream:
            stream.write(f"{datetime.now().astimezone().isoformat(timespec='seconds')} {message}\n")
