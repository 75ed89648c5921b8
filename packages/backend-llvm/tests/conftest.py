from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tenfold import llvm_plugin
from tenfold.plugins.loading import load_kernels

sys.path.insert(0, str(Path(__file__).parent))  # modules that several tests use stand beside them

# Tests import modules of kernels by name. These are attached before, by the plugin and in its order: what is imported
# first would count as a program's own kernels, which stand before those of packages.
for _family in llvm_plugin.MODULES:
    load_kernels("cpu", _family)


@pytest.fixture(autouse=True, scope="session")
def _own_home(tmp_path_factory):
    """Machine code of this run goes to a folder of its own: one for all processes that share its tests out."""
    base = tmp_path_factory.getbasetemp()
    home = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENFOLD_HOME", str(home))
        yield


@pytest.fixture(autouse=True)
def same_numbers(request: pytest.FixtureRequest) -> None:
    """Every test draws the same numbers from its module's RNG, whichever test ran before it in this process."""
    rng = getattr(request.module, "RNG", None)
    if rng is not None:
        rng.bit_generator.state = np.random.default_rng(0).bit_generator.state


@pytest.fixture
def entered() -> Callable[[Callable[[], Any]], list[str]]:
    """The names of the functions that the interpreter enters in a call: that of the call alone where all else is native."""

    def names(call: Callable[[], Any]) -> list[str]:
        seen: list[str] = []
        sys.setprofile(lambda frame, event, value: seen.append(frame.f_code.co_name) if event == "call" else None)
        try:
            call()
        finally:
            sys.setprofile(None)
        return seen

    return names


@pytest.fixture(params=["TILES", "VECTORS"])
def unit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Each unit for products of bfloat16 that this processor has, as if it had no other."""
    from tenfold.llvm import matrix_calls, matrix_unit
    from tenfold.llvm.session import session

    chosen = getattr(matrix_unit, request.param)
    if session() is None or not (chosen.there() and chosen.asked()):
        pytest.skip(f"no {chosen.name} on this machine, or not for this process")
    monkeypatch.setattr(matrix_unit, "UNITS", (chosen,))
    matrix_unit.usable.cache_clear()
    matrix_calls.forget()
    yield chosen
    matrix_unit.usable.cache_clear()
    matrix_calls.forget()
