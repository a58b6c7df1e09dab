"""Files that are whole or absent; errors in one line."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aiayn.common.files import atomic_write, read_json, read_lines, write_json, write_text
from aiayn.common.progress import Meter


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail():
        with atomic_write(path) as stream:
            stream.write("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_names_the_file(tmp_path):
    def fill():
        with atomic_write(tmp_path / "file"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left") as caught:
        fill()
    assert caught.value.filename == str(tmp_path / "file")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def small_disk(tmp_path):
    """An empty file system of 64 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("mounting a small disk is not allowed here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_command_on_a_full_disk_is_one_line(small_disk, tmp_path):
    """Also where the files are mapped into memory: there the system would kill the process."""
    (tmp_path / "text").write_text("a line of text\n" * 20_000)
    (tmp_path / "vocabulary").write_text("<pad>\t0\n<s>\t0\n</s>\t0\n<unk>\t0\n")
    out, text = small_disk / "out", tmp_path / "text"
    for command in (
        ["tokenize", "--lang", "en", "--input", text],
        ["binarize", "--source", text, "--target", text, "--vocabulary", tmp_path / "vocabulary"],
    ):
        arguments = [sys.executable, "-m", "aiayn", *command, "--output", out]
        done = subprocess.run(arguments, capture_output=True, check=False)
        assert done.returncode == 2, command
        last = done.stderr.decode().strip().split("\n")[-1]
        assert last == f"aiayn: {out}: No space left on device"
        assert not list(small_disk.iterdir())


def test_what_is_no_file_is_written_to_and_stays_what_it_is(tmp_path):
    """For root, a rename would replace /dev/null itself."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "text\n")
        assert os.read(reader, 100) == b"text\n"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize("links", [1, 0])
def test_an_open_file_of_a_process_is_written_to(tmp_path, links):
    """/dev/stdout is a link to /proc/self/fd/1, which is one to the file that the shell opened."""
    with (tmp_path / "opened").open("wb") as stream:
        path = Path(f"/proc/self/fd/{stream.fileno()}")
        if links:
            (tmp_path / "stdout").symlink_to(path)
            path = tmp_path / "stdout"
        write_text(path, "text\n")
        assert str(path.readlink()).startswith("/proc/" if links else str(tmp_path))
        assert os.fstat(stream.fileno()).st_size == 5


def test_a_link_to_a_file_is_replaced_and_the_file_stays(tmp_path):
    """DVC links outputs to its cache, which nobody may write to."""
    (tmp_path / "cached").write_text("old")
    (tmp_path / "out").symlink_to("cached")
    write_text(tmp_path / "out", "new")
    assert (tmp_path / "cached").read_text() == "old"
    assert (tmp_path / "out").read_text() == "new"


def test_what_killed_processes_left_is_removed_and_no_other_file(tmp_path):
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    folder = tmp_path / f".a[1].{killed.pid}.tmp"
    folder.mkdir()
    (folder / "large").touch()
    kept = [f".a[1].{os.getppid()}.tmp", f".a.b.{killed.pid}.tmp", ".a[1].mine.tmp"]
    for name in kept:
        (tmp_path / name).touch()
    write_text(tmp_path / "a[1]", "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, "a[1]"])


def test_lines_end_at_lf_alone(tmp_path):
    """Faults A1: every other character that some program takes for a line end."""
    path = tmp_path / "text"
    lines = ["a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei\rj", "", "last"]
    path.write_bytes("\n".join(lines).encode())  # no final LF, as in faults A3
    assert list(read_lines(path)) == lines


def test_json_comes_back_and_errors_name_the_file(tmp_path):
    write_json(tmp_path / "a.json", {"ü": [1, None]})
    assert read_json(tmp_path / "a.json") == {"ü": [1, None]}
    (tmp_path / "b.json").write_text("{")
    with pytest.raises(ValueError, match=r"b\.json: not valid JSON"):
        read_json(tmp_path / "b.json")
    with pytest.raises(ValueError, match=r"c\.json: no such file"):
        read_json(tmp_path / "c.json")


def test_progress_in_a_log_has_rate_and_time_left(capfd, monkeypatch):
    monkeypatch.setattr("aiayn.common.progress.SECONDS_BETWEEN_LINES", 0.0)
    with Meter("work", total=1000, unit="lines") as meter:
        meter.advance(250, note="loss 1.5")
    lines = capfd.readouterr().err.strip().split("\n")
    assert lines[0].startswith("work: 250 of 1,000 lines, ")
    assert "/s, 0:00:00 left, loss 1.5" in lines[0]
    assert lines[1] == "work: 250 lines in 0:00:00"


def test_an_unknown_command_or_option_exits_with_2():
    for options in (["no-such-command"], ["score", "--nothing"]):
        done = subprocess.run(
            [sys.executable, "-m", "aiayn", *options], capture_output=True, check=False
        )
        assert done.returncode == 2
        assert b"Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    text = tmp_path / "text"
    text.write_text("some words\n" * 50_000)
    command = f"{sys.executable} -m aiayn tokenize --lang en --input {text} | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, check=False)
    assert done.stdout == b"some words\n"
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr
