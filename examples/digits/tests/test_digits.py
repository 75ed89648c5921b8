"""The program as a user runs it: its files, its last line, and a broken run that goes on to the same numbers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TRAIN = Path(__file__).parents[1] / "train.py"
EPOCHS = 3
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # steady where other work runs beside


def command(out: Path, *options: str) -> list[str]:
    return [sys.executable, str(TRAIN), "--out", str(out), *options]


def run(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(out, *options), capture_output=True, text=True, check=False, env=ONE_THREAD)


def accuracy(done: subprocess.CompletedProcess[str]) -> str:
    """The program's last line, which must be the test accuracy."""
    last = done.stdout.splitlines()[-1]
    assert re.fullmatch(r"test accuracy: \d+\.\d\d %", last), done.stdout
    return last


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("whole")
    done = run(out, "--epochs", str(EPOCHS))
    assert done.returncode == 0, done.stderr
    return out, accuracy(done)


def test_leaves_checkpoint_and_pictures(uninterrupted: tuple[Path, str]) -> None:
    out, _ = uninterrupted
    assert sorted(path.name for path in out.iterdir()) == ["checkpoint.safetensors", "loss.png", "predictions.png"]
    for name in ("loss.png", "predictions.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")


def heed_interrupts() -> None:
    """In the child: a test run that itself goes in the background is started with Ctrl-C ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_resumes_to_the_same_numbers_after_an_interrupt(uninterrupted: tuple[Path, str], tmp_path: Path) -> None:
    whole, whole_accuracy = uninterrupted
    process = subprocess.Popen(
        command(tmp_path, "--epochs", str(EPOCHS)), stderr=subprocess.PIPE, text=True, env=ONE_THREAD, preexec_fn=heed_interrupts
    )
    while not (tmp_path / "checkpoint.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130, said
    assert "go on with --resume" in said
    assert str(tmp_path / "checkpoint.safetensors") in said
    assert "Traceback" not in said
    assert not (tmp_path / "loss.png").exists()

    resumed = run(tmp_path, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert accuracy(resumed) == whole_accuracy
    for name in ("checkpoint.safetensors", "loss.png", "predictions.png"):
        assert (tmp_path / name).read_bytes() == (whole / name).read_bytes(), name


def test_resuming_a_finished_run_changes_nothing(uninterrupted: tuple[Path, str]) -> None:
    out, whole_accuracy = uninterrupted
    before = (out / "checkpoint.safetensors").read_bytes()
    assert accuracy(run(out, "--resume")) == whole_accuracy
    assert (out / "checkpoint.safetensors").read_bytes() == before


def refused(out: Path, *options: str) -> str:
    """What the program says on the one line with which it refuses to start."""
    done = run(out, *options)
    assert done.returncode == 1
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    return lines[0]


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.999], ids=["empty", "half", "almost"])
def test_a_damaged_checkpoint_is_refused(uninterrupted: tuple[Path, str], tmp_path: Path, keep: float) -> None:
    data = (uninterrupted[0] / "checkpoint.safetensors").read_bytes()
    (tmp_path / "checkpoint.safetensors").write_bytes(data[: int(keep * len(data))])
    said = refused(tmp_path, "--resume")
    assert "corrupt or was cut short" in said
    assert str(tmp_path / "checkpoint.safetensors") in said


def test_there_must_be_a_checkpoint_to_resume(tmp_path: Path) -> None:
    assert "there is no checkpoint" in refused(tmp_path, "--resume")


def test_other_settings_than_the_checkpoints_are_refused(uninterrupted: tuple[Path, str]) -> None:
    assert "--seed 0, got --seed 1" in refused(uninterrupted[0], "--resume", "--seed", "1")
