"""Starting the ranks of a training: one torchrun a machine, which starts one process a GPU.

On one machine the command is torchrun itself. On several, inside a Slurm job, it turns into
``srun``, which starts a torchrun on each, and they meet at the machine that the command was given
on. Told to stop, srun would kill the ranks before they can save, so they watch the end of their job
by the clock.
"""

import contextlib
import os
import socket
import subprocess
import sys
from datetime import datetime

from aiayn.common.errors import UserError

SECONDS_TO_SAVE = 150
"""From a signal to torchrun's kill; Slurm sends it 180 s before the end."""
PORTS = range(20_000, 30_000)
"""Where the machines of a job meet; which port, follows from the job's number."""


def started_by_torchrun() -> bool:
    """Whether this process is one of the ranks already."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def launch(ranks: int, nodes: int, command: list[str]) -> int:
    """Start ``command`` on all ranks and wait for them.

    Args:
        ranks: Processes on all machines together.
        nodes: Machines; more than 1 only inside a Slurm job of as many.
        command: Arguments of ``python -m``.

    Returns:
        The exit code: that of the first rank that failed, 75 when told to stop. With several
        machines the process turns into srun instead, which exits with 1 for either.

    Raises:
        UserError: ranks that cannot be shared evenly among the nodes, or no Slurm job around.
    """
    if ranks % nodes:
        raise UserError(f"--ranks {ranks} cannot be shared evenly among --nodes {nodes}")
    if nodes > 1:
        words = srun_command(ranks, nodes, command)
        os.execvp(words[0], words)
    return _torchrun([*_options(ranks), "--standalone", "-m", *command])


def _options(ranks_each: int) -> list[str]:
    from aiayn.training.interruption import SIGNALS

    signals = ["SIGINT", "SIGHUP", "SIGQUIT", *(number.name for number in SIGNALS)]
    return [
        f"--nproc-per-node={ranks_each}",
        # By default torchrun dies of SIGUSR1, and its ranks go on without it.
        f"--signals-to-handle={','.join(signals)}",
        f"--shutdown-timeout={SECONDS_TO_SAVE}",
    ]


def _torchrun(words: list[str]) -> int:
    from torch.distributed import run
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    from aiayn.training.interruption import EXIT_CODE

    try:
        run.run(run.parse_args(words))
    except ChildFailedError as error:
        code = error.get_first_failure()[1].exitcode
        return code if code > 0 else 128 - code  # as a shell says of a process that was killed
    except SignalException:
        return EXIT_CODE
    return 0


def srun_command(ranks: int, nodes: int, command: list[str]) -> list[str]:
    """The command line that starts a torchrun on every node of the Slurm job around.

    Raises:
        UserError: no Slurm job around.
    """
    job = os.environ.get("SLURM_JOB_ID")
    if job is None:
        raise UserError(f"--nodes {nodes}: several machines work together inside a Slurm job only")
    cpus = os.environ.get("SLURM_CPUS_PER_TASK", "1")
    srun = ["srun", "--overlap", f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1"]
    return [
        *srun,
        f"--cpus-per-task={cpus}",
        # A launcher that fails ends the others, which would wait for it.
        "--kill-on-bad-exit=1",
        *(sys.executable, "-m", "torch.distributed.run"),
        *_options(ranks // nodes),
        f"--nnodes={nodes}",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint={socket.gethostname()}:{PORTS[int(job) % len(PORTS)]}",
        f"--rdzv-id={job}",
        "-m",
        *command,
    ]


def note_end_of_job() -> None:
    """Set ``SLURM_JOB_END_TIME``, in seconds since 1970, where Slurm is too old to set it itself.

    A job without an end, or a machine without squeue, leaves it unset.
    """
    job = os.environ.get("SLURM_JOB_ID")
    if job is None or "SLURM_JOB_END_TIME" in os.environ:
        return
    squeue = ["squeue", "--noheader", f"--jobs={job}", "--format=%e"]
    with contextlib.suppress(OSError, ValueError):
        done = subprocess.run(squeue, capture_output=True, text=True, check=False)
        end = datetime.fromisoformat(done.stdout.strip())
        os.environ["SLURM_JOB_END_TIME"] = str(end.timestamp())
