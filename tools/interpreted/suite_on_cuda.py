"""pytest's plugin for a package's own tests on the device "cuda": their tensors are made there, and compared on the host.

    PROGRAM_DEVICE=cuda TENFOLD_HOST_DRAWS=1 TENFOLD_DEFAULT_DEVICE=cuda PYTHONPATH=tools/interpreted \\
        python -m pytest -p suite_on_cuda packages/nn/tests

What a test says of the CPU itself (memory shared with NumPy, a repr, a default device) fails here: the report counts failures by
what they say, those of the device's absence apart, so that what is left can be looked at.
"""

from __future__ import annotations

import collections
import functools
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tenfold

# What a failure that is the test's own says: it asks about the CPU, or brings tensors of its own from there.
ARTEFACTS = {
    "two devices": r"same device|Expected all tensors|is on cpu|device type|different devices?|on the CPU",
    "a repr": r"device='cuda",
    "memory shared with NumPy, or asked of the CPU": r"shares_memory|may_share|data_ptr|_array|__array_interface__|numpy\(\)",
    "a default device": r"device\(type='cuda|'cuda' == 'cpu'|'cpu' == 'cuda'|is_cuda",
    "too slow for the interpreter": r"Timeout|timeout",
}
found: dict[str, list[str]] = collections.defaultdict(list)


def pytest_configure(config: pytest.Config) -> None:
    """Let NumPy's side of a comparison be fetched, and what comes from NumPy be brought to the device."""
    kept, as_array, given = tenfold.Tensor.numpy, tenfold.Tensor.__array__, tenfold.from_numpy

    def numpy(self: Any, *arguments: Any, **named: Any) -> Any:
        return kept(self.cpu() if self.is_cuda else self, *arguments, **named)

    def array(self: Any, *arguments: Any, **named: Any) -> Any:
        return as_array(self.cpu() if self.is_cuda else self, *arguments, **named)

    @functools.wraps(given)
    def from_numpy(array: np.ndarray[Any, Any]) -> Any:
        host = given(array)  # its repeated elements stay one element each
        once = host[tuple(slice(0, 1) if s == 0 and n > 1 else slice(None) for n, s in zip(host.shape, host.stride()))]
        return once.cuda().expand(host.shape)

    setattr(tenfold.Tensor, "numpy", numpy)  # noqa: B010 - its class has slots for types
    setattr(tenfold.Tensor, "__array__", array)  # noqa: B010
    setattr(tenfold, "from_numpy", from_numpy)  # noqa: B010


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    """Note what failed, by what it says."""
    report: Any = yield
    if report.failed:
        told = str(call.excinfo.value) if call.excinfo else ""
        place = str(call.excinfo.traceback[-1].path) if call.excinfo and call.excinfo.traceback else ""
        kind = next((name for name, words in ARTEFACTS.items() if re.search(words, told)), "to look at")
        line = f"{item.nodeid}: {type(call.excinfo.value).__name__ if call.excinfo else ''} {told[:160]!r} {place[-60:]}"
        found[kind].append(line)
        print(f"\n{kind}: {line}", file=sys.__stderr__, flush=True)
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The failures by kind."""
    for kind in sorted(found, key=lambda kind: kind == "to look at"):
        terminalreporter.write_line(f"{kind}: {len(found[kind])}")
        for line in found[kind] if kind == "to look at" else ():
            terminalreporter.write_line("    " + line.replace("\n", " "))
