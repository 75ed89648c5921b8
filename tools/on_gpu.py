"""All that needs a GPU, within a given time: python tools/on_gpu.py prepare|run|report FOLDER.

    prepare FOLDER [--python PY]      on any machine: wheels, and machine code for a Hopper
    run FOLDER --out OUT [--seconds]  on a machine with a GPU, with or without a network: checks, tests, benchmarks, the report
    report OUT                        the report of what was run, anew

`prepare` compiles by rehearsing the programs over the stub driver, so that a short time on a GPU is spent measuring. Triton finds
that machine code only where its version and Python's are the same: PY is a Python of the GPU machine's version, with its Triton
and with CuPy. `run` unpacks the wheels into a folder of its own: no pip, no right to write among Python's packages. First come
small calls of everything (benchmarks/gpu_smoke.py); without a GPU nothing else runs. Each part is processes of its own and writes
what it finds as it goes; benchmarks that lose their GPU or crash go on behind the piece that did it. `nox -s gpu` runs the same
parts where there is a network.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

from chosen import RESULTS, gpu_commands
from gpu_report import read, report
from workspace import packages

ROOT = Path(__file__).resolve().parent.parent
REHEARSE = ROOT / "packages/backend-cuda/tests/stub/rehearse.py"
REHEARSED = (["gpu_smoke.py"], ["gpu.py", "--seconds", "1e6"], ["gpu_steps.py"])
# What pytest needs to share tests out; a machine without a network has none of it.
TEST_TOOLS = ("pytest-xdist", "pytest-timeout", "execnet")
TEXTS = (".ttir", ".ttgir", ".llir", ".ptx", ".source")  # which machine code came by: nine tenths of Triton's cache, and unread
LEAST_S = 20  # of a part that is begun
# Of the time that is left, what a part takes at most: the later ones are to have some, too.
SHARES = {"smoke": 0.3, "device": 0.35, "benchmark": 0.55, "steps": 0.6}
ENDLESS = float("inf")
NO_GPU = 77  # the exit status of gpu_smoke.py where there is none
ASKED = "import platform, triton; print(triton.__version__, platform.python_version().rpartition('.')[0])"


def prepare(folder: Path, python: str) -> None:
    """Put the wheels of all packages, and what the benchmarks' kernels compile to, into a folder."""
    wheels = folder / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    folders = [str(package.folder) for package in packages().values()]
    subprocess.run([sys.executable, ROOT / "tools/build_wheels.py", wheels, *folders], check=True)
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels, *TEST_TOOLS], check=True)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(folder / "triton"), "PYTHONPATH": unpacked(wheels, folder / "site")}
    for script, *options in REHEARSED:
        out = folder / "rehearsal"
        program = [str(folder / "stub"), str(ROOT / "benchmarks" / script), *options, "--unchecked", "--out", str(out)]
        going_on([python, str(REHEARSE), *program], out / RESULTS[Path(script).stem], sys.stdout, environment)
    for path in (folder / "triton").rglob("*"):
        if path.suffix in TEXTS:
            path.write_text("", encoding="utf-8")
    (folder / "made.json").write_text(json.dumps(_asked(python)))


def _asked(python: str) -> str:
    """The versions that machine code is kept by in Triton's cache: Triton's, whose library there is one of for each Python."""
    return subprocess.run([python, "-c", ASKED], check=False, capture_output=True, text=True).stdout.strip()


def unpacked(wheels: Path, target: Path) -> str:
    """Unpack wheels into a folder, which Python finds packages and their entry points in; its path."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for path in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(path) as wheel:
            wheel.extractall(target)
    return str(target)


def moved(cache: Path) -> None:
    """Let Triton's cache know where it lies: it keeps the paths of the files that belong together."""
    for path in cache.glob("*/__grp__*.json"):
        names = json.loads(path.read_text())["child_paths"]
        path.write_text(json.dumps({"child_paths": {name: str(path.parent / name) for name in names}}))


def run(folder: Path, out: Path, seconds: float) -> int:
    """Run each part while there is time; the number of parts that failed."""
    end = time.monotonic() + seconds
    out.mkdir(parents=True, exist_ok=True)
    environment = _environment(folder, out)
    failed = 0
    with (out / "log.txt").open("w") as log:
        made, here = read(folder / "made.json"), _asked(sys.executable)
        if made != here:
            print(f"the machine code is of Triton and Python {made}, here they are {here}: all is compiled anew", flush=True)
        for name, command in gpu_commands(out, ["-q", "-n", str(min(os.cpu_count() or 1, 12))]).items():
            status = _part(name, command, out, end, log, environment)
            failed += status != 0
            if status == NO_GPU:
                break
    print(report(out), flush=True)
    return failed


def _environment(folder: Path, out: Path) -> dict[str, str]:
    """What the parts run in: the wheels' packages, and the machine code that was made before."""
    cache = out.parent / "triton-cache"
    environment = {**os.environ, "TRITON_CACHE_DIR": str(cache), "TRITON_INTERPRET": "0", "PYTHONUNBUFFERED": "1"}
    if (folder / "triton").exists():
        shutil.copytree(folder / "triton", cache, dirs_exist_ok=True)
        moved(cache)
    if list((folder / "wheels").glob("*.whl")):
        paths = [unpacked(folder / "wheels", out.parent / "site"), os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return environment


def _part(name: str, command: list[str], out: Path, end: float, log: Any, environment: dict[str, str]) -> int:
    """Run a part; its exit status, 0 where the time is used up."""
    began = time.monotonic()
    left = end - began
    if left < LEAST_S and name != "report":
        log.write(f"== {name}: left out, the time is used up\n")
        return 0
    log.write(f"== {name}\n")
    log.flush()
    share = max(LEAST_S, SHARES.get(name, 1.0) * left)
    begins = 0.8 * share if name == "benchmark" else None
    status = going_on(command, out / RESULTS.get(name, "none"), log, environment, began + share, begins)
    log.write(f"\n== {name}: {status} after {time.monotonic() - began:.0f} s\n")
    log.flush()
    report(out)  # as much as there is: nobody may be there at the end
    return status


def going_on(
    command: list[str], results: Path, log: Any, environment: dict[str, str], end: float = ENDLESS, begins: float | None = None
) -> int:
    """Run a program, and again behind the piece that ended it, while its results come to more; the last exit status.

    `begins`: the seconds in which it begins pieces.
    """
    began, tried, resume = time.monotonic(), -1, False
    while True:
        more = ["--resume"] * resume
        if begins is not None:
            more += ["--seconds", str(max(1, int(begins - (time.monotonic() - began))))]
        limited = _shorter([*command, *more], end - time.monotonic())
        status = subprocess.run(limited, stdout=log, stderr=log, env=environment, cwd=ROOT, check=False).returncode
        found = read(results)
        if found is None or found["done"] or len(found["tried"]) <= tried or end - time.monotonic() < LEAST_S:
            return status
        tried, resume = len(found["tried"]), True


def _shorter(command: list[str], left: float) -> list[str]:
    """The command with this Python, and a limit of what time is left."""
    limited = ["timeout", str(int(min(float(command[1]), max(left, 1)))), *command[2:]] if command[0] == "timeout" else command
    words = {"python": [sys.executable], "pytest": [sys.executable, "-m", "pytest"]}
    return [new for word in limited for new in words.get(word, [word])]


def main() -> int:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("prepare", "run", "report"))
    parser.add_argument("folder", type=Path, help="what was prepared; of report: where the results are")
    parser.add_argument("--python", default=sys.executable, help="of prepare: the Python whose Triton compiles")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "reports", help="where the results go")
    parser.add_argument("--seconds", type=float, default=3000, help="no part runs longer than this after the start")
    options = parser.parse_args()
    if options.what == "prepare":
        prepare(options.folder.resolve(), options.python)
        return 0
    if options.what == "run":
        return run(options.folder.resolve(), options.out.resolve(), options.seconds)
    print(report(options.folder))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
