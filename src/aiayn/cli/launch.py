"""Starting the ranks of a training: one torchrun a machine, which starts one process a GPU.

On one machine the command turns into torchrun. On several, inside a Slurm job, ``srun`` starts a
torchrun on each, and they meet at the machine that the command was given on. Told to stop, srun
would kill the ranks before they can save, so they watch the end of their job by the clock.
"""

import contextlib
import os
import socket
import subprocess
import sys
from datetime import datetime

from aiayn.common.errors import UserError

PORTS = range(20_000, 30_000)
"""Where the machines of a job meet; which port, follows from the job's number."""


def started_by_torchrun() -> bool:
    """Whether this process is one of the ranks already."""
    return "WORLD_SIZE" in os.environ


def launch_command(ranks: int, nodes: int, command: list[str]) -> list[str]:
    """The command line that starts ``command`` on all ranks.

    Args:
        ranks: Processes on all machines together.
        nodes: Machines; more than 1 only inside a Slurm job of as many.
        command: Arguments of ``python -m``.

    Raises:
        UserError: ranks that cannot be shared evenly among the nodes, or no Slurm job around.
    """
    if ranks % nodes:
        raise UserError(f"--ranks {ranks} cannot be shared evenly among --nodes {nodes}")
    torchrun = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={ranks // nodes}"]
    if nodes == 1:
        return [*torchrun, "--standalone", "-m", *command]
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
        *torchrun,
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
