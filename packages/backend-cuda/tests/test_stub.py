"""What the device is given to do (launches, devices, streams, copies, waits), by real CuPy and Triton over a stub driver.

The scenarios are in stub/*scenarios.py; a child process runs those of a file. They need CuPy, cc and nm, but
none of NVIDIA's libraries.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

STUB = Path(__file__).parent / "stub"
CASES = [
    (path.stem, node.name)
    for path in sorted(STUB.glob("*scenarios.py"))
    for node in ast.parse(path.read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("case_")
]
MISSING = [name for name in ("cupy", "triton", "tenfold.nn", "tenfold.optim") if importlib.util.find_spec(name) is None]
MISSING += [tool for tool in ("cc", "nm") if shutil.which(tool) is None]

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"the stub driver needs {', '.join(MISSING)}")
_outcomes = {}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    sys.path.insert(0, str(STUB))
    import build  # beside this file

    return build.build(Path(os.environ.get("TENFOLD_STUB_DIR") or tmp_path_factory.mktemp("stub")))


def outcomes(folder, cache, module):
    """What the scenarios of a file came to: errors by name, and the last words of the process."""
    if module not in _outcomes:
        environment = {k: v for k, v in os.environ.items() if k not in ("TRITON_INTERPRET", "CUDA_VISIBLE_DEVICES")}
        environment.setdefault("TRITON_CACHE_DIR", str(cache))
        ran = subprocess.run(
            [sys.executable, STUB / "run.py", folder, f"{module}:"],
            capture_output=True, text=True, timeout=550, env=environment, check=False,
        )  # fmt: skip
        lines = map(json.loads, filter(lambda l: l.startswith("{"), ran.stdout.splitlines()))
        _outcomes[module] = {line["name"]: line["error"] for line in lines}, ran.stderr[-3000:]
    return _outcomes[module]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("module", "name"), [pytest.param(*case, id=case[1], marks=pytest.mark.xdist_group(case[0])) for case in CASES]
)
def test_on_the_stub(request, folder, compiled_kernels, module, name):
    if getattr(request.config.option, "loadgroup", False):
        assert request.node.nodeid.endswith(f"@{module}"), "pytest-xdist's groups do not hold: each process runs every file"
    found, words = outcomes(folder, compiled_kernels, module)
    assert name in found, f"the child process ended before it: {words}"
    assert not found[name], found[name]
