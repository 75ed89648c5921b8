"""The program as a user runs it: the processes' steps arrive in the parent's network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "train.py"

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="tensors share memory on Linux only")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_several_processes_train_one_network(method: str) -> None:
    command = [sys.executable, str(PROGRAM), "--start-method", method, "--samples", "1000", "--epochs", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=True)
    assert done.stderr == ""
    before, after = (float(number) for number in re.findall(r"test accuracy .*?([\d.]+)%", done.stdout))
    assert "after 192 steps of 2 processes" in done.stdout
    assert before < 50
    assert after > 85
