"""What runs on a GPU, and its report, on a machine without one."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import on_gpu
from chosen import CUDA_TESTS, GPU_FIRST, WITHOUT_GPU, gpu_commands

LINES = [
    {"name": "tests/test_gpu.py::test_a", "outcome": "passed", "seconds": 2.0, "said": ""},
    {"name": "tests/test_gpu.py::test_b", "outcome": "skipped", "seconds": 0.1, "said": ""},
    {"name": "tests/test_gpu.py::test_c", "outcome": "failed", "seconds": 2.5, "said": "AssertionError: 1 is not 2"},
    {"name": "tests/test_gpu.py::test_c", "outcome": "failed", "seconds": 0.0, "said": "worker 'gw0' crashed"},
]
SMOKE = {"rows": [["memory", 0.1]], "failures": ["graphs: RuntimeError: no"], "running": "fft", "done": False}
ROW = {
    "group": "elementwise", "name": "add", "dtype": "float32", "bar": 1.0, "limit": 0.85, "error": 1e-7, "device_us": 300.0,
    "torch_us": 310.0, "host_us": 4.0, "bytes": 8e8, "operations": 0, "share": 0.9, "ratio": 0.97, "kept": True,
}  # fmt: skip
GPU = {
    "versions": {"device": "NVIDIA H100", "torch": "2.11"}, "limits": {"copy": 3e6, "bfloat16": 7e8},
    "small_calls_us": {"x + y": 2.5},
    "rows": [ROW, {**ROW, "name": "sum", "kept": False, "ratio": 1.2}, {**ROW, "name": "sort", "bar": None, "torch_us": None,
                                                                       "ratio": None, "kept": None, "bytes": 0}],
    "failures": ["products: matmul: RuntimeError"], "left_out": ["algebra: cholesky float32"],
}  # fmt: skip
STEPS = {
    "rows": [{"step": "MLP", "limit_ms": 0.1, "ours": {"eager": 2.0, "graphed": 0.2}, "torch": {"eager": 1.0, "compiled": 0.5}}],
    "failures": [],
}


def test_every_test_of_the_package_runs_or_needs_no_gpu(tmp_path: Path) -> None:
    commands = gpu_commands(tmp_path, ["-q"])
    assert list(commands) == ["smoke", "device", "benchmark", "steps", "kernels", "report"], "the most basic first"
    named = {Path(word).stem.removeprefix("test_") for words in commands.values() for word in words if word.endswith(".py")}
    found = {path.stem.removeprefix("test_") for path in CUDA_TESTS.glob("test_*.py")}
    assert {*GPU_FIRST, *WITHOUT_GPU} <= found
    assert named & found == found - {*WITHOUT_GPU}
    assert all(words[0] == "timeout" for part, words in commands.items() if part != "report")


def test_a_part_is_ended_with_the_time_that_is_left() -> None:
    assert on_gpu._shorter(["timeout", "600", "pytest", "-q"], 90.5)[:2] == ["timeout", "90"]
    assert on_gpu._shorter(["timeout", "600", "python", "a.py"], 9000)[:2] == ["timeout", "600"]


def test_the_report_says_what_was_run_and_what_was_missed(tmp_path: Path) -> None:
    (tmp_path / "gpu-device.jsonl").write_text("\n".join(map(json.dumps, LINES)) + '\n{"name": "cut o')
    (tmp_path / "gpu-smoke.json").write_text(json.dumps(SMOKE))
    (tmp_path / "gpu.json").write_text(json.dumps(GPU))
    (tmp_path / "gpu-steps.json").write_text(json.dumps(STEPS))
    text = on_gpu.report(tmp_path)
    assert (tmp_path / "report.md").read_text() == text
    for line in (
        "device NVIDIA H100, torch 2.11", "| device | 1 | 1 | 1 | 5 |", "- `test_gpu.py::test_c`: AssertionError: 1 is not 2",
        "First calls: 1 right, 1 failed; ended in fft.", "- failed: graphs: RuntimeError: no",
        "| add | float32 | 300.0 | 310.0 | 4.0 | 0.97 | 1.00 | 90% | kept |",
        "| sum | float32 | 300.0 | 310.0 | 4.0 | 1.20 | 1.00 | 90% | **missed** |",
        "| sort | float32 | 300.0 |  | 4.0 |  |  |  |  |", "- failed: products: matmul: RuntimeError",
        "- left out: algebra: cholesky float32", "| MLP | 0.100 | 2.000 | 0.200 | 1.000 |  | 0.500 |",
    ):  # fmt: skip
        assert line in text, line


def test_a_report_of_nothing_is_short(tmp_path: Path) -> None:
    assert "Kernels" not in on_gpu.report(tmp_path)


def test_a_program_goes_on_behind_what_ended_it(tmp_path: Path) -> None:
    program, results = tmp_path / "program.py", tmp_path / "gpu.json"
    program.write_text(
        f"""
import os, sys
from pathlib import Path
sys.path.insert(0, {str(on_gpu.ROOT / "benchmarks")!r})
from progress import Progress
progress = Progress(Path({str(results)!r}), "--resume" in sys.argv, 30.0)
progress.piece("one", lambda: progress.found["rows"].append("one"))
progress.piece("ends it", lambda: os._exit(9))
progress.piece("raises", lambda: 1 / 0)
progress.piece("two", lambda: progress.found["rows"].append("two"))
sys.exit(progress.end())
"""
    )
    with (tmp_path / "log").open("w") as log:
        assert on_gpu.going_on([sys.executable, str(program)], results, log, {}) == 2
    found = json.loads(results.read_text())
    assert found["rows"] == ["one", "two"]
    assert found["failures"] == ["ends it: ended the process", "raises: ZeroDivisionError: division by zero"]
    assert found["done"]


def test_a_program_that_comes_to_nothing_is_not_begun_forever(tmp_path: Path) -> None:
    results = tmp_path / "gpu.json"
    results.write_text(json.dumps({"done": False, "tried": []}))
    with (tmp_path / "log").open("w") as log:
        assert on_gpu.going_on([sys.executable, "-c", "raise SystemExit(3)"], results, log, {}) == 3


def test_machine_code_is_found_where_it_was_moved_to(tmp_path: Path) -> None:
    place = tmp_path / "triton" / "KEY"
    place.mkdir(parents=True)
    names = ("add.cubin", "add.json")
    group = place / "__grp__add.json"
    group.write_text(json.dumps({"child_paths": {name: f"/elsewhere/KEY/{name}" for name in names}}))
    on_gpu.moved(tmp_path / "triton")
    assert json.loads(group.read_text())["child_paths"] == {name: str(place / name) for name in names}


def test_wheels_are_unpacked_where_entry_points_are_found(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "some-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("some/__init__.py", "")
        wheel.writestr("some-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: some\nVersion: 1.0\n")
    target = tmp_path / "site"
    assert on_gpu.unpacked(tmp_path, target) == str(target)
    assert {path.name for path in target.iterdir()} == {"some", "some-1.0.dist-info"}
