"""All that needs a GPU, within a given time: python tools/on_gpu.py prepare|run|report FOLDER.

    prepare FOLDER                    on any machine with Triton, CuPy and hatchling: wheels, and machine code for a Hopper
    run FOLDER --out OUT [--seconds]  on a machine with a GPU, with or without a network: tests, benchmarks, the report
    report OUT                        the report of what was run, anew

`prepare` compiles by rehearsing the benchmarks over the stub driver, so that a short time on a GPU is spent measuring. `run`
installs the wheels without an index. `nox -s gpu` runs the same parts where there is a network.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from chosen import gpu_commands
from workspace import packages

ROOT = Path(__file__).resolve().parent.parent
REHEARSE = ROOT / "packages/backend-cuda/tests/stub/rehearse.py"
# What pytest needs to share tests out; a machine without a network has none of it.
TEST_TOOLS = ("pytest-xdist", "pytest-timeout", "execnet")
TEXTS = (".ttir", ".ttgir", ".llir", ".ptx", ".source")  # which machine code came by: nine tenths of Triton's cache, and unread
LEAST_S = 20  # of a part that is begun
BENCHMARK_SHARE = 0.45  # of the time that is left, after which no piece of the benchmark begins


def prepare(folder: Path) -> None:
    """Put the wheels of all packages, and what the benchmarks' kernels compile to, into a folder."""
    wheels = folder / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    folders = [str(package.folder) for package in packages().values()]
    subprocess.run([sys.executable, ROOT / "tools/build_wheels.py", wheels, *folders], check=True)
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels, *TEST_TOOLS], check=True)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(folder / "triton")}
    out = folder / "rehearsal"
    for script in (["gpu.py", "--unchecked", "--seconds", "1e6"], ["gpu_steps.py", "--unchecked"]):
        program = [str(folder / "stub"), str(ROOT / "benchmarks" / script[0]), *script[1:], "--out", str(out)]
        command = [sys.executable, str(REHEARSE), *program]
        subprocess.run(command, check=True, env=environment)
    for path in (folder / "triton").rglob("*"):
        if path.suffix in TEXTS:
            path.write_text("", encoding="utf-8")


def run(folder: Path, out: Path, seconds: float) -> int:
    """Run each part while there is time; the number of parts that failed."""
    began = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(out.parent / "triton-cache"), "TRITON_INTERPRET": "0"}
    if (folder / "triton").exists():
        shutil.copytree(folder / "triton", out.parent / "triton-cache", dirs_exist_ok=True)
    wheels = sorted(map(str, (folder / "wheels").glob("*.whl")))
    if wheels:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--force-reinstall", *wheels]
        subprocess.run(install, check=True)
    failed = 0
    with (out / "log.txt").open("w") as log:
        for name, command in gpu_commands(out, ["-q", "-n", str(min(os.cpu_count() or 1, 12))]).items():
            left = seconds - (time.monotonic() - began)
            if left < LEAST_S and name != "report":
                log.write(f"== {name}: left out, the time is used up\n")
                continue
            if name == "benchmark":
                command = [*command, "--seconds", str(int(left * BENCHMARK_SHARE))]
            log.write(f"== {name}\n")
            log.flush()
            found = subprocess.run(_shorter(command, left), stdout=log, stderr=log, env=environment, cwd=ROOT, check=False)
            log.write(f"== {name}: {found.returncode} after {time.monotonic() - began:.0f} s\n")
            failed += found.returncode != 0
    print((out / "report.md").read_text(), flush=True)
    return failed


def _shorter(command: list[str], left: float) -> list[str]:
    """The command with this Python, and a limit of what time is left."""
    limited = ["timeout", str(int(min(float(command[1]), max(left, 1)))), *command[2:]] if command[0] == "timeout" else command
    words = {"python": [sys.executable], "pytest": [sys.executable, "-m", "pytest"]}
    return [new for word in limited for new in words.get(word, [word])]


def report(out: Path) -> str:
    """What was run: the machine, the tests of each part, the benchmark's table; written to report.md."""
    lines = ["# On a GPU", ""]
    benchmark, steps = _json(out / "gpu.json"), _json(out / "gpu-steps.json")
    if benchmark:
        lines += [", ".join(f"{name} {value}" for name, value in benchmark["versions"].items()), ""]
    lines += ["| tests | passed | failed | skipped | seconds |", "|---|---|---|---|---|"]
    failures: list[str] = []
    for path in sorted(out.glob("gpu-*.xml")):
        row, found = _tested(path)
        lines.append(row)
        failures += found
    lines += ["", *[f"- {text}" for text in failures[:60]]]
    lines += _measured(benchmark) if benchmark else []
    lines += _steps(steps) if steps else []
    text = "\n".join(lines) + "\n"
    (out / "report.md").write_text(text, encoding="utf-8")
    return text


def _json(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None


def _tested(path: Path) -> tuple[str, list[str]]:
    """(the table's row of a part, its failures in a line each)."""
    suite = next(ElementTree.parse(path).iter("testsuite"))
    total, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
    bad = [case for case in suite.iter("testcase") if case.find("failure") is not None or case.find("error") is not None]
    row = f"| {path.stem[4:]} | {total - skipped - len(bad)} | {len(bad)} | {skipped} | {float(suite.get('time', 0)):.0f} |"
    return row, [f"`{case.get('classname')}::{case.get('name')}`: {_reason(case)}" for case in bad]


def _reason(case: Any) -> str:
    found = case.find("failure") if case.find("failure") is not None else case.find("error")
    return str(found.get("message", "")).strip().splitlines()[0][:200] if found.get("message") else ""


def _table(names: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    names = list(names)
    return [f"| {' | '.join(names)} |", "|---" * len(names) + "|", *[f"| {' | '.join(row)} |" for row in rows], ""]


def _measured(found: dict[str, Any]) -> list[str]:
    rates = {k: f"{v / 1e6:.2f} TB/s" if k == "copy" else f"{v / 1e6:.0f} TFLOP/s" for k, v in found["limits"].items()}
    lines = ["", "## Kernels", "", "Reached: " + ", ".join(f"{k} {v}" for k, v in rates.items()) + ".", ""]
    rows = []
    for row in found["rows"]:
        kept = {None: "", True: "kept", False: "**missed**"}[row["kept"]]
        bar = "" if row["bar"] is None else f"{row['bar']:.2f}"
        share = f"{row['share']:.0%}" if row["bytes"] or row["operations"] else ""
        rows.append([row["name"], row["dtype"], *[_number(row[k]) for k in ("device_us", "torch_us", "host_us")],
                     _number(row["ratio"], 2), bar, share, kept])  # fmt: skip
    names = ("work", "dtype", "us", "PyTorch us", "host us", "ratio", "bar", "of the limit", "")
    lines += _table(names, rows)
    host = found.get("small_calls_us", {})
    lines += _table(("call on 16 numbers", "host us"), [[name, _number(value, 2)] for name, value in host.items()])
    return lines + [f"- failed: {text}" for text in found["failures"]] + [f"- left out: {text}" for text in found["left_out"]]


def _steps(found: dict[str, Any]) -> list[str]:
    rows = []
    for row in found["rows"]:
        ours, theirs = row["ours"], row["torch"]
        rows.append([row["step"], _number(row["limit_ms"], 3), *[_number(side.get(kind), 3) for side in (ours, theirs)
                     for kind in ("eager", "graphed")], _number(theirs.get("compiled"), 3)])  # fmt: skip
    names = ("step", "limit ms", "eager", "graphed", "PyTorch eager", "PyTorch graphed", "torch.compile")
    return ["## Steps", "", *_table(names, rows), *[f"- failed: {text}" for text in found["failures"]]]


def _number(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def main() -> int:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("prepare", "run", "report"))
    parser.add_argument("folder", type=Path, help="what was prepared; of report: where the results are")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "reports", help="where the results go")
    parser.add_argument("--seconds", type=float, default=3000, help="no part runs longer than this after the start")
    options = parser.parse_args()
    if options.what == "prepare":
        prepare(options.folder.resolve())
        return 0
    if options.what == "run":
        return run(options.folder.resolve(), options.out.resolve(), options.seconds)
    print(report(options.folder))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
