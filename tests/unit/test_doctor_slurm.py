"""``aiayn doctor`` on a cluster, made of stub commands."""

import pytest

from aiayn.doctor import State
from aiayn.doctor.slurm import check_slurm
from tests.unit.doctor_fixtures import commands, line

__all__ = ["commands"]


@pytest.fixture
def cluster(commands, tmp_path):
    """A function that stubs a cluster and writes a profile; returns what doctor says of them."""

    def examine(profile="", *, accounting="accounting_storage/slurmdbd", accounts=("mine",)):
        for name in ("sbatch", "scancel"):
            commands(name)
        commands("sinfo", "gpu", "cpu")
        commands("squeue", "1 R", "2 PD")
        commands("scontrol", "AccountingStorageHost = x", f"AccountingStorageType = {accounting}")
        commands("sacctmgr", *accounts)
        (tmp_path / "slurm").mkdir(exist_ok=True)
        (tmp_path / "slurm/config.yaml").write_text(profile, encoding="utf-8")
        return list(check_slurm(tmp_path))

    return examine


def test_a_machine_without_slurm_is_well(commands, tmp_path):
    (finding,) = check_slurm(tmp_path)
    assert str(finding) == "ok   slurm: not on this machine; trainings run here"


def test_half_an_installation_names_what_is_missing(commands, tmp_path):
    commands("sinfo", "gpu")
    commands("squeue")
    (finding,) = check_slurm(tmp_path)
    assert finding.state == State.FAIL
    assert finding.what == "slurm: no sbatch, scancel, scontrol here"


def test_a_cluster_that_is_down_says_what_slurm_said(cluster, commands, tmp_path):
    cluster()
    commands("sinfo", "slurm_load_partitions: Unable to contact slurm controller", code=1)
    (finding,) = check_slurm(tmp_path)
    assert finding.state == State.WARN
    assert "Unable to contact slurm controller" in finding.what


def test_partition_and_account_of_the_profile_are_looked_up(cluster):
    findings = cluster("default-resources: {slurm_partition: gpu, slurm_account: mine}\n")
    assert {each.state for each in findings} == {State.OK}
    assert line(findings, "partition").what == "partition: gpu"
    assert line(findings, "account:").what == "account: mine"
    assert line(findings, "slurm: squeue").what == "slurm: squeue answers, 2 jobs of yours"


def test_an_unknown_partition_lists_those_there_are(cluster):
    findings = cluster('default-resources: ["slurm_partition=big", "mem_mb=1"]\n')
    found = line(findings, "partition")
    assert found.state == State.FAIL
    assert found.remedy == "set slurm_partition in slurm/config.yaml to one of: gpu, cpu"


def test_an_account_of_others_lists_ones_own(cluster):
    profile = "default-resources: {slurm_account: theirs}\n"
    found = line(cluster(profile, accounts=("mine", "ours")), "account:")
    assert found.state == State.FAIL
    assert found.remedy == "set slurm_account in slurm/config.yaml to: mine, ours"


@pytest.mark.parametrize("storage", ["accounting_storage/none", "(null)", ""])
def test_without_accounting_the_default_status_command_would_wait_for_ever(cluster, storage):
    """faults A20: sacct never answers, and finished jobs count as running."""
    found = line(cluster("executor: slurm\n", accounting=storage), "accounting:")
    assert found.state == State.FAIL
    assert "slurm-status-command: squeue" in found.remedy
    findings = cluster("slurm-status-command: squeue\n", accounting=storage)
    assert line(findings, "accounting").state == State.OK
