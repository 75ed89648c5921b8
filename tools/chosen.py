"""What nox's sessions choose: packages by folder, their wheels and extras, test files by what they skip for want of."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from workspace import Package, distribution_name, packages, siblings

# Of the session on a GPU: the tests that come first, those that need none, and how long a part may take.
GPU_FIRST = ("gpu", "device", "launch", "names", "networks")
WITHOUT_GPU = ("aot", "availability", "resources", "stub")
GPU_PART_S = 600
# The files of results of parts, and of the programs in benchmarks/, that go on where a process ended.
RESULTS = {"smoke": "gpu-smoke.json", "benchmark": "gpu.json", "steps": "gpu-steps.json"}
RESULTS |= {"gpu_smoke": RESULTS["smoke"], "gpu": RESULTS["benchmark"], "gpu_steps": RESULTS["steps"]}
CUDA_TESTS = Path(__file__).resolve().parent.parent / "packages/backend-cuda/tests"


def named(*names: str) -> list[Package]:
    """The packages in these folders and every sibling that they need."""
    return siblings([packages()[name].name for name in names], packages().values())


def extras(chosen: Iterable[Package], *without: str) -> list[str]:
    """What the packages' extras name outside this repository, except the extras `without`."""
    own = {package.name for package in packages().values()}
    needs = [need for package in chosen for extra, names in package.extras.items() if extra not in without for need in names]
    return sorted({need for need in needs if distribution_name(need) not in own})


def wheel(folder: Path, package: Package) -> str:
    """The path of a package's wheel in `folder`."""
    return str(next(folder.glob(f"{package.name.replace('-', '_')}-*.whl")))


def skips(path: Path) -> bool:
    """Whether some of a file's tests skip themselves in `tests`, for want of a sibling."""
    return 'importorskip("tenfold.' in path.read_text(encoding="utf-8")


def needs_oracle(path: Path) -> bool:
    """Whether a test file skips itself where PyTorch or SciPy is missing.

    Those that compare with torchvision run when they are named: it has no build for every PyTorch.
    """
    text = path.read_text(encoding="utf-8")
    return re.search(r"importorskip\(\s*[\"'](torch|scipy)\b", text) is not None and "torchvision" not in text


def readme_program(readme: Path, target: Path) -> None:
    """Write a README's first Python block into a file."""
    found = re.search(r"(?s)```python\n(.*?)```", readme.read_text(encoding="utf-8"))
    if found is None:
        raise LookupError(f"{readme} has no Python block")
    target.write_text(found[1], encoding="utf-8")


def smoke_names() -> list[str]:
    """What the smoke test imports: every package that has code."""
    return [package.import_name for package in packages().values() if package.has_code]


def gpu_commands(reports: Path, arguments: Iterable[str]) -> dict[str, list[str]]:
    """What runs on a GPU, by part: what everything else needs comes first; a part that takes too long is ended.

    A test whose kernel comes to no end is ended with its process: no signal reaches one that waits for the device.
    """
    limit = ["timeout", str(GPU_PART_S)]
    names = {path.stem.removeprefix("test_"): f"packages/backend-cuda/tests/{path.name}" for path in CUDA_TESTS.glob("test_*.py")}
    others = sorted(names.keys() - {*GPU_FIRST, *WITHOUT_GPU})
    tests = {"device": GPU_FIRST, "kernels": others}
    options = ["--timeout-method=thread", *arguments]
    commands = {
        part: [*limit, "pytest", f"--results={reports}/gpu-{part}.jsonl", *[names[name] for name in chosen], *options]
        for part, chosen in tests.items()
    }
    for part, script in (("smoke", "gpu_smoke"), ("benchmark", "gpu"), ("steps", "gpu_steps")):
        commands[part] = [*limit, "python", f"benchmarks/{script}.py", "--out", str(reports)]
    commands = {part: commands[part] for part in ("smoke", "device", "benchmark", "steps", "kernels")}
    return {**commands, "report": ["python", "tools/on_gpu.py", "report", str(reports)]}


def judges(own: Iterable[Path]) -> dict[str, list[str]]:
    """The judges against PyTorch that `nox -s parity` knows, by the names of their files, with their arguments."""
    return {
        **{script.name: [] for script in own},
        "opdb.py": [],
        "fuzz.py": ["--seconds", "120", "--seed", "0"],
        "run.py": ["--engine", "tenfold", "--python", sys.executable, "-j", "1"],
    }
