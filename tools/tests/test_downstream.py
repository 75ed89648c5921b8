"""The table of real programs, made with a runner that only says what came of its cases."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

RUNNER = """
import json, sys
arguments = sys.argv[1:]
if "--list" in arguments:
    print("good                L1 works\\n                    a criterion\\nbad   L2 does not\\nlost  L3 has no sources")
    sys.exit()
case = arguments[arguments.index("--case") + 1]
if case == "lost":
    open("surely_missing")
found = {"criterion": "loss <= 1", "ok": case == "good", "seen": 0.5 if case == "good" else 2}
result = {"name": case, "status": "PASS" if found["ok"] else "FAIL", "seconds": 1.25, "error": None, "criteria": [found]}
json.dump({"results": [result]}, open(arguments[arguments.index("--json") + 1], "w"))
"""


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "downstream.py"), str(folder), "--threads", "1"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_each_case_is_a_row(tmp_path: Path) -> None:
    (tmp_path / "run_corpus.py").write_text(RUNNER)
    done = run(tmp_path)
    assert done.returncode == 1, done.stderr
    assert "| good | PASS | 1.2 | loss <= 1: 0.5 |" in done.stdout
    assert "| bad | FAIL | 1.2 | loss <= 1: 2 |" in done.stdout
    assert "| lost | absent | 0.0 | FileNotFoundError" in done.stdout
    assert done.stdout.rstrip().endswith("1 of 3 passed")


def test_no_runner(tmp_path: Path) -> None:
    assert run(tmp_path).returncode == 2
