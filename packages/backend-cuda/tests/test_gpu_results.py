"""What tests on a GPU come to is written as they end, and a process that has lost its GPU is followed by another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("xdist")

CONFTEST = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import gpu_results
LOST = []
gpu_results.fault = lambda: "an illegal memory access" if LOST else ""
def pytest_addoption(parser):
    parser.addoption("--results")
def pytest_configure(config):
    gpu_results.register(config)
"""
TESTS = """
import pytest
def test_passes():
    pass
def test_loses_the_gpu():
    import conftest
    conftest.LOST.append(1)
    assert 1 == 2, "words"
def test_comes_behind():
    import conftest
    assert not conftest.LOST
@pytest.mark.skip(reason="no")
def test_is_left_out():
    pass
"""


@pytest.mark.timeout(120)
def test_tests_behind_one_that_loses_the_gpu_run_in_another_process(tmp_path):
    for name, text in (("conftest.py", CONFTEST), ("test_some.py", TESTS), ("pytest.ini", "[pytest]\n")):
        (tmp_path / name).write_text(text)
    results = tmp_path / "results.jsonl"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "TRITON"))}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider", f"--results={results}", "test_some.py"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100, check=False)
    found = {}
    for line in map(json.loads, results.read_text().splitlines()):
        found.setdefault(line["name"].rpartition("::")[2], []).append((line["outcome"], line["said"]))
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert found["test_passes"] == found["test_comes_behind"] == [("passed", "")]
    assert found["test_is_left_out"] == [("skipped", "")]
    assert found["test_loses_the_gpu"][0][0] == "failed"
    assert "words" in found["test_loses_the_gpu"][0][1]
