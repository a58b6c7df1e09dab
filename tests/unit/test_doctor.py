"""``aiayn doctor`` on a machine with stub commands and pretended GPUs."""

import os
import shutil
from types import SimpleNamespace

import pytest
import torch

from aiayn.cli.main import main
from aiayn.config import load_project
from aiayn.config.plan import make_plan
from aiayn.doctor import State
from aiayn.doctor.gpus import check_gpus
from aiayn.doctor.machine import check_disk, check_git, check_locale, check_memory, check_writing
from aiayn.doctor.packages import check_packages
from tests.conftest import ROOT
from tests.unit.doctor_fixtures import commands, line

__all__ = ["commands"]


@pytest.fixture
def plan():
    def make(**settings):
        project = load_project({"scale": "paper", **settings}, ROOT)
        return make_plan(project, device_name="cpu", gpus=1, root=ROOT)

    return make


def test_packages_are_compared_with_the_lock_file(tmp_path):
    lock = tmp_path / "requirements.lock"
    assert check_packages(tmp_path).state == State.WARN
    lock.write_text(f"# made from x==1\ntorch=={torch.__version__.partition('+')[0]}\n")
    assert str(check_packages(tmp_path)) == "ok   packages: the 1 of requirements.lock"
    lock.write_text("torch==1.0\nno-such-package==1\n")
    assert check_packages(tmp_path).what == "packages: no-such-package not installed"
    lock.write_text("torch==1.0\n")
    found = check_packages(tmp_path)
    assert found.state == State.WARN
    assert "instead of 1.0" in found.what
    assert found.remedy.endswith("-m pip install -r requirements.lock")


def test_a_disk_too_small_for_the_scale_fails(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=50e9))
    assert check_disk(plan(pairs="en-de", rows="base"), tmp_path / "results").state == State.OK
    found = check_disk(plan(), tmp_path / "results")
    assert found.state == State.FAIL
    assert "50.0 GB free for results/, about 188." in found.what


def test_what_is_on_disk_already_need_not_be_written_again(plan, tmp_path):
    one = plan(pairs="en-de", rows="base")
    before = check_disk(one, tmp_path).what
    (tmp_path / "paper").mkdir()
    with (tmp_path / "paper/checkpoint").open("wb") as sparse:
        sparse.truncate(one.disk_bytes)
    assert "about 0.0 GB to be written" in check_disk(one, tmp_path).what != before


def test_memory_is_compared_with_the_largest_model(plan, monkeypatch):
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1_000_000}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
    assert check_memory(plan(rows="base")).state == State.OK
    assert check_memory(plan()).state == State.WARN


def test_a_folder_that_cannot_be_written_fails(tmp_path, monkeypatch):
    def denied(**_):
        raise PermissionError(13, "Permission denied")

    assert check_writing(tmp_path / "not/yet/there").state == State.OK
    monkeypatch.setattr("tempfile.TemporaryFile", denied)
    found = check_writing(tmp_path / "results")
    assert found.state == State.FAIL
    assert found.remedy == f"chown or chmod {tmp_path}"


def test_a_file_system_without_locks_fails(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", unsupported)
    found = check_writing(tmp_path)
    assert (found.state, found.what) == (State.FAIL, f"{tmp_path}/: Operation not supported")


def test_a_locale_without_utf_8_is_a_warning(monkeypatch):
    monkeypatch.setattr("locale.getencoding", lambda: "ANSI_X3.4-1968")
    assert check_locale().remedy == "export LC_ALL=C.UTF-8"
    monkeypatch.setattr("locale.getencoding", lambda: "UTF-8")
    assert check_locale().state == State.OK


def test_without_git_the_commit_cannot_be_named(commands):
    assert check_git().state == State.WARN
    commands("git", "0123456789abcdef")
    assert str(check_git()) == "ok   git: commit 0123456789ab"


@pytest.fixture
def gpus(monkeypatch):
    """A function that pretends GPUs."""

    def pretend(count, *, name="NVIDIA A100-SXM4-40GB", memory=40e9, bf16=True, nccl=True):
        properties = SimpleNamespace(total_memory=int(memory))
        for function, value in {
            "is_available": count > 0,
            "device_count": count,
            "get_device_name": name,
            "get_device_properties": properties,
            "is_bf16_supported": bf16,
        }.items():
            monkeypatch.setattr(torch.cuda, function, lambda *_, value=value, **__: value)
        monkeypatch.setattr(torch.distributed, "is_nccl_available", lambda: nccl)
        monkeypatch.setattr(torch.cuda.nccl, "version", lambda: (2, 27, 3))

    return pretend


def test_gpus_are_named_and_measured_against_the_models(gpus, plan):
    gpus(8)
    findings = list(check_gpus(plan(ranks=8)))
    assert [str(each) for each in findings] == [
        "ok   gpus: 8 x NVIDIA A100-SXM4-40GB",
        "ok   gpu memory: 40 GB, 3.5 GB for weights, gradients and Adam",
        "ok   nccl: 2.27.3",
    ]


def test_fewer_gpus_than_ranks_and_no_nccl_fail(gpus, plan):
    gpus(2, nccl=False)
    findings = list(check_gpus(plan(ranks=8)))
    assert line(findings, "gpus").state == line(findings, "nccl").state == State.FAIL


def test_an_old_gpu_is_a_warning(gpus, plan):
    gpus(1, name="Tesla P100", memory=4e9, bf16=False)
    findings = list(check_gpus(plan()))
    assert line(findings, "gpu memory").state == line(findings, "bf16").state == State.WARN


@pytest.mark.parametrize(
    ("device", "driver", "state"),
    [
        ("cpu", True, State.OK),
        ("auto", False, State.OK),
        ("auto", True, State.WARN),
        ("cuda", False, State.FAIL),
        ("cuda", True, State.FAIL),
    ],
)
def test_gpus_that_torch_does_not_find(gpus, plan, commands, device, driver, state):
    gpus(0)
    if driver:
        commands("nvidia-smi", "GPU 0: NVIDIA A100", "GPU 1: NVIDIA A100")
    (finding,) = check_gpus(plan(device=device))
    assert finding.state == state
    if driver and device != "cpu":
        assert finding.what == "gpus: nvidia-smi lists 2, torch finds none"


def run_doctor(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["aiayn", "doctor", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code


def test_the_exit_code_says_whether_something_fails(monkeypatch, commands, capsys, tmp_path):
    folders = ["--results", str(tmp_path / "results"), "--reports", str(tmp_path / "reports")]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert run_doctor(monkeypatch, "--scale", "demo", "--offline", *folders) == 0
    lines = capsys.readouterr().out.strip().split("\n")
    assert {text.split()[0] for text in lines} <= {"ok", "warn"}
    wants = "{device: cuda}"
    assert run_doctor(monkeypatch, "--offline", "--settings", wants, *folders) == 1
    assert "fail gpus: none here, config.yaml asks for cuda" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [tmp_path / "bin"]


def test_a_mistake_in_the_options_is_one_line_and_exit_code_2(monkeypatch, capsys):
    assert run_doctor(monkeypatch, "--scale", "huge") == 2
    assert "scale: no scale 'huge'" in capsys.readouterr().err
