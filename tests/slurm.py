# SPDX-License-Identifier: BSD-3-Clause
"""Slurm on this machine alone: Debian's daemons with folders, ports and a key of the test's own."""

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

PROGRAMS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client"}
"""Each with its package."""
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
PATIENCE_S = 60.0

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={controller}
SlurmdPort={daemon}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=4096
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """Packages of the programs that are not here."""
    return sorted({package for program, package in PROGRAMS.items() if shutil.which(program, path=PATH) is None})


@contextmanager
def cluster(folder: Path) -> Iterator[dict[str, str]]:
    """One node, this machine; what its clients need in their environment."""
    folder.chmod(0o755)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(secrets.token_bytes(128))
    (folder / "munge.key").chmod(0o400)
    host = socket.gethostname().partition(".")[0]
    user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    numbers = {"controller": _free_port(), "daemon": _free_port(), "cpus": os.cpu_count()}
    (folder / "slurm.conf").write_text(CONFIGURATION.format(folder=folder, host=host, user=user, **numbers))
    env = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{_srun(folder)}:{PATH}"}
    files = ("key-file", "socket", "pid-file", "log-file", "seed-file")
    munge = [f"--{name}={folder}/munge.{name.partition('-')[0]}" for name in files]
    with ExitStack() as daemons:
        daemons.enter_context(_daemon(["munged", "--foreground", "--force", *munge], env, folder))
        _wait(folder / "munge.socket")
        daemons.enter_context(_daemon(["slurmctld", "-D"], env, folder))
        daemons.enter_context(_daemon(["slurmd", "-D", "-N", host], env, folder))
        deadline = time.monotonic() + PATIENCE_S
        while "idle" not in _nodes(env):
            assert time.monotonic() < deadline, (folder / "slurmctld.log").read_text()
            time.sleep(0.2)
        yield env


def _srun(folder: Path) -> Path:
    """Snakemake's plugin clears Slurm's variables for srun, which then looks for /etc/slurm/slurm.conf."""
    (folder / "bin").mkdir()
    program = folder / "bin" / "srun"
    found = shutil.which("srun", path=PATH)
    program.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {found} "$@"\n')
    program.chmod(0o755)
    return program.parent


@contextmanager
def _daemon(words: list[str], env: Mapping[str, str], folder: Path) -> Iterator[None]:
    with (folder / f"{words[0]}.out").open("wb") as out:
        found = shutil.which(words[0], path=PATH)
        assert found
        child = subprocess.Popen([found, *words[1:]], env={**os.environ, **env}, stdout=out, stderr=out)
        try:
            yield
        finally:
            child.terminate()
            child.wait()


def _nodes(env: Mapping[str, str]) -> str:
    return subprocess.run(
        ["sinfo", "--noheader", "--format=%T"], env={**os.environ, **env}, capture_output=True, text=True, check=False
    ).stdout


def _wait(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
