"""How the package's operators become functions and methods, and what is said when it is missing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def printed(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    run = subprocess.run(
        [sys.executable, "-c", f"import tenfold\nx = tenfold.eye(2)\n{code}"],
        capture_output=True, text=True, check=False, timeout=60, env={**os.environ, **environment},
    )  # fmt: skip
    assert not run.returncode, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize(
    "expression",
    ["x.det()", "tenfold.det(x)", "tenfold.Tensor.det(x)", "tenfold.linalg.det(x)", "tenfold.op.det(x)", "tenfold.linalg_det(x)"],
)
def test_every_way_to_an_operator_loads_it(expression: str) -> None:
    assert printed(f"print({expression})") == "tensor(1.)"


def test_aliases_and_subclasses() -> None:
    assert printed("print(tenfold.matrix_exp(x * 0)[0])") == "tensor([1., 0.])"
    own = "class T(tenfold.Tensor):\n    def det(self): return super().det() * 2"
    assert printed(f"{own}\nprint(x.as_subclass(T).det().item())") == "2.0"


@pytest.mark.parametrize("expression", ["x.det", "tenfold.det", "tenfold.Tensor.det"])
def test_missing_package_is_named(expression: str) -> None:
    code = f"try: {expression}\nexcept AttributeError as error: print(error)\nprint(hasattr(x, 'det'))"
    message = printed(code, TENFOLD_DISABLE_PLUGINS="scientific")
    assert message.endswith(
        "has no attribute 'det': it is in the package tenfold-scientific: pip install tenfold-scientific\nFalse"
    )
