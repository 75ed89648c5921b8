"""Which code serves a call, and why: for people who wonder where their time goes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from tenfold.dispatch.kernels import table
from tenfold.dispatch.operators import as_operator
from tenfold.llvm import compiler, session as sessions
from tenfold.llvm.elementwise import Operator
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.tensor.tensor import Tensor

_ROUNDS = 15


@dataclass
class Explanation:
    """What `explain` found. `str()` of it is a summary; `ir` and `assembly` have the compiled code."""

    operator: str
    served: bool
    why: str
    description: str = ""
    ir: str = field(default="", repr=False)
    seconds: float = 0.0
    bytes: int = 0

    @property
    def assembly(self) -> str:
        """The machine code as text."""
        return "\n".join(compiler.assembly(module) for module in self.ir.split(_BETWEEN)) if self.ir else ""

    @property
    def gigabytes_per_second(self) -> float:
        """How fast the arguments were read and the results written."""
        return self.bytes / self.seconds / 1e9 if self.seconds else 0.0

    def __str__(self) -> str:
        lines = [f"{self.operator}: {'compiled code' if self.served else 'NumPy'} serves: {self.why}"]
        lines.append(f"  {self.seconds * 1e6:.1f} us, {self.bytes} bytes, {self.gigabytes_per_second:.1f} GB/s")
        lines += [f"  {line}" for line in self.description.splitlines()]
        return "\n".join(lines)


_BETWEEN = "\n; another module\n"


def explain(op: Any, *args: Any, **kwargs: Any) -> Explanation:
    """Run an operator and say which code serves the call, and why; with its formula, LLVM IR, machine code, time and GB/s.

    Args:
        op: an operator, such as `tenfold.op.exp`, or its function.
        args, kwargs: those of the call; the device is the CPU.

    Raises:
        TypeError: if `op` is no operator.

    >>> import tenfold
    >>> print(tenfold.llvm.explain(tenfold.op.relu, tenfold.ones(3, dtype=tenfold.int64)).why)
    the dtype int64 of an argument is left to NumPy
    """
    operator = as_operator(getattr(op, "op", op))
    result = operator.fn(*args, **kwargs)
    tensors = [t for t in (*args, *kwargs.values()) if isinstance(t, Tensor)]
    results = [t for t in (result if isinstance(result, tuple) else (result,)) if isinstance(t, Tensor)]
    size = sum(t._array.nbytes for t in (*tensors, *results) if isinstance(t._array, np.ndarray))
    served, why, notes = _path(operator, args, kwargs)
    description = "\n".join(dict.fromkeys(owner.listing(*key) for owner, key in notes))
    ir = _BETWEEN.join(dict.fromkeys(owner.text(*key) for owner, key in notes))
    spent = _measured(operator, args, kwargs)
    return Explanation(operator.name, served, why, description, ir, spent, size)


def _measured(operator: Any, args: Any, kwargs: Any) -> float:
    times = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        operator.fn(*args, **kwargs)
        times.append(time.perf_counter() - start)
    return median(times)


def _path(operator: Any, args: Any, kwargs: Any) -> tuple[bool, str, list[Any]]:
    """Whether compiled code serves, why, and which."""
    serving = ACCELERATED.get(operator.name)
    if sessions.session() is None:
        return False, "; ".join(sessions.failures()), []
    if serving is None:
        return False, f"{operator.name} has no compiled kernel of its own; the operators of its body may have", []
    calls: list[tuple[Any, ...]] = []
    kernel = getattr(table("cpu"), operator.name)
    _record(operator, kernel, calls, args, kwargs)
    if not calls:
        return False, "the call did not reach the kernel of the CPU", []
    notes: list[Any] = []
    sessions.USED.append(notes)
    try:
        answer = serving.serve(calls[0], None) if isinstance(serving, Operator) else serving(*calls[0])
    finally:
        sessions.USED.remove(notes)
    if answer is NotImplemented or not notes:
        return False, _refusal(calls[0]), []
    return True, "its arguments are of a form that it was compiled for", notes


def _record(operator: Any, kernel: Any, calls: list[tuple[Any, ...]], args: Any, kwargs: Any) -> None:
    """Run the call with a kernel that notes its arguments."""

    def record(*arguments: Any) -> Any:
        calls.append(arguments)
        return kernel(*arguments)

    known = operator.calls.kernels
    kept = dict(known)
    for key in kept:
        known[key] = record
    try:
        operator.fn(*args, **kwargs)
    finally:
        known.update(kept)


def _refusal(arguments: tuple[Any, ...]) -> str:
    for a in arguments:
        if isinstance(a, np.ndarray) and a.dtype.kind not in "fV" and a.dtype != np.bool_:
            return f"the dtype {a.dtype} of an argument is left to NumPy"
    return "its arguments (layout, further options, too few elements) are left to NumPy"
