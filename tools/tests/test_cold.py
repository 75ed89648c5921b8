from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import cold
import pytest


def test_a_wrong_example_fails(capfd: pytest.CaptureFixture[str]) -> None:
    assert cold.run_example("right", ">>> 1 + 1\n2\n")
    assert not cold.run_example("wrong", ">>> 1 + 1\n3\n")
    assert "Expected" in capfd.readouterr().out


def run_files(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, cold.__file__, "files", str(path)], capture_output=True, text=True, check=False)


def test_only_a_files_first_tests_run(tmp_path: Path) -> None:
    path = tmp_path / "test_planted.py"
    tests = [f"def test_{i}():\n    assert {i} < {cold.FIRST_TESTS}\n" for i in range(cold.FIRST_TESTS + 1)]
    path.write_text("\n".join(tests))
    assert run_files(path).returncode == 0
    path.write_text("def test_first():\n    assert False\n")
    failed = run_files(path)
    assert failed.returncode == 1
    assert f"failed: {path}" in failed.stdout
    assert "assert False" in failed.stdout
