"""What runs on a GPU, and its report, on a machine without one."""

from __future__ import annotations

import json
from pathlib import Path

import on_gpu
from chosen import CUDA_TESTS, GPU_FIRST, WITHOUT_GPU, gpu_commands

XML = """<testsuites><testsuite tests="3" skipped="1" time="4.6"><testcase classname="test_gpu" name="test_a"/>
<testcase classname="test_gpu" name="test_b"><skipped message="no"/></testcase>
<testcase classname="test_gpu" name="test_c"><failure message="AssertionError: 1 is not 2&#10;more">text</failure></testcase>
</testsuite></testsuites>"""
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
    assert list(commands) == ["device", "benchmark", "steps", "kernels", "report"], "what everything else needs comes first"
    named = {Path(word).stem.removeprefix("test_") for words in commands.values() for word in words if word.endswith(".py")}
    found = {path.stem.removeprefix("test_") for path in CUDA_TESTS.glob("test_*.py")}
    assert {*GPU_FIRST, *WITHOUT_GPU} <= found
    assert named & found == found - {*WITHOUT_GPU}
    assert all(words[0] == "timeout" for part, words in commands.items() if part != "report")


def test_a_part_is_ended_with_the_time_that_is_left() -> None:
    assert on_gpu._shorter(["timeout", "600", "pytest", "-q"], 90.5)[:2] == ["timeout", "90"]
    assert on_gpu._shorter(["timeout", "600", "python", "a.py"], 9000)[:2] == ["timeout", "600"]


def test_the_report_says_what_was_run_and_what_was_missed(tmp_path: Path) -> None:
    (tmp_path / "gpu-device.xml").write_text(XML)
    (tmp_path / "gpu.json").write_text(json.dumps(GPU))
    (tmp_path / "gpu-steps.json").write_text(json.dumps(STEPS))
    text = on_gpu.report(tmp_path)
    assert (tmp_path / "report.md").read_text() == text
    for line in (
        "device NVIDIA H100, torch 2.11", "| device | 1 | 1 | 1 | 5 |", "- `test_gpu::test_c`: AssertionError: 1 is not 2",
        "| add | float32 | 300.0 | 310.0 | 4.0 | 0.97 | 1.00 | 90% | kept |",
        "| sum | float32 | 300.0 | 310.0 | 4.0 | 1.20 | 1.00 | 90% | **missed** |",
        "| sort | float32 | 300.0 |  | 4.0 |  |  |  |  |", "- failed: products: matmul: RuntimeError",
        "- left out: algebra: cholesky float32", "| MLP | 0.100 | 2.000 | 0.200 | 1.000 |  | 0.500 |",
    ):  # fmt: skip
        assert line in text, line


def test_a_report_of_nothing_is_short(tmp_path: Path) -> None:
    assert "Kernels" not in on_gpu.report(tmp_path)
