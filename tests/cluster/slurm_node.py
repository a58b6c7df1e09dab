"""A real Slurm of one node on this machine, with two pretend GPUs and nothing outside its folder.

It has no accounting, as many small clusters. Its GPUs are /dev/null and /dev/zero: Slurm hands
them out like real ones, and torch, which finds no driver, trains on the CPU. The CPUs and the
memory that it says it has are pretended too, so that any machine will do.
"""

import os
import shlex
import shutil
import socket
import subprocess
import time
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
CLIENTS = ("sbatch", "srun", "squeue", "scontrol", "scancel")

SLURM_CONF = """\
ClusterName=rehearsal
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0
MpiDefault=none
GresTypes=gpu
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=30
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=64000 Gres=gpu:2
PartitionName=rehearsal Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
GRES_CONF = "Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n"


def missing() -> str:
    """Why a Slurm cannot be started here; empty when it can."""
    if os.geteuid() != 0:
        return "not root: slurmd cannot start jobs"
    path = os.environ["PATH"] + ":/usr/sbin"
    lacking = [name for name in (*DAEMONS, *CLIENTS) if shutil.which(name, path=path) is None]
    return f"not installed: {', '.join(lacking)}" if lacking else ""


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class SlurmNode:
    """Starts the daemons in ``folder`` and ends them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": f"{folder}/bin:{os.environ['PATH']}:/usr/sbin",
        }
        self._daemons: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "SlurmNode":
        try:
            self._configure()
            self._start_munge()
            self._start("slurmctld", "-D")
            self._start("slurmd", "-D", "-N", socket.gethostname())
            self._wait_until_idle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in reversed(self._daemons):
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def _configure(self) -> None:
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        text = SLURM_CONF.format(
            host=socket.gethostname(),
            folder=self.folder,
            controller_port=_free_port(),
            node_port=_free_port(),
        )
        (self.folder / "slurm.conf").write_text(text, encoding="utf-8")
        (self.folder / "gres.conf").write_text(GRES_CONF, encoding="utf-8")
        self._keep_configuration_in_job_steps()

    def _keep_configuration_in_job_steps(self) -> None:
        # Snakemake's job steps drop SLURM_CONF: on a cluster, the file is where srun looks anyway.
        srun = self.folder / "bin/srun"
        srun.parent.mkdir()
        configuration = f"SLURM_CONF={shlex.quote(str(self.folder / 'slurm.conf'))}"
        srun.write_text(f'#!/bin/sh\n{configuration} exec {shutil.which("srun")} "$@"\n')
        srun.chmod(0o755)

    def _start_munge(self) -> None:
        key = self.folder / "munge.key"
        key.touch(mode=0o400)
        key.write_bytes(os.urandom(128))
        self._start(
            "munged",
            "--foreground",
            "--force",
            f"--key-file={key}",
            f"--socket={self.folder}/munge.socket",
            f"--pid-file={self.folder}/munged.pid",
            f"--seed-file={self.folder}/munged.seed",
        )
        self._wait_for("munged's socket", lambda: (self.folder / "munge.socket").exists())

    def _start(self, *command: str) -> None:
        with (self.folder / f"{command[0]}.out").open("wb") as output:
            daemon = subprocess.Popen(
                command, env=self.environment, stdout=output, stderr=subprocess.STDOUT
            )
        self._daemons.append(daemon)

    def _wait_until_idle(self) -> None:
        self._wait_for("an idle node", lambda: "idle" in self.run("sinfo", "-h", "-o", "%T"))

    def _wait_for(self, what: str, ready, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > end:
                logs = [
                    f"{path.name}: {path.read_text()[-2000:]}" for path in self.folder.glob("*.out")
                ]
                raise AssertionError(
                    f"{what} did not come up in {seconds:.0f} s\n" + "\n".join(logs)
                )
            time.sleep(0.2)

    def run(self, *command: str) -> str:
        """Standard output of a client command; empty when it fails."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False
        )
        return done.stdout
