"""Matrix products and affine maps, small and large; what is left to BLAS are the kernels' of tenfold-core and tenfold-nn.

Those do the work of `mm` and `matmul` themselves, and step aside where somebody accelerates these: so the gates here are made
around them all the same, unless it is somebody else who does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.dispatch.kernels import KERNELS, kernel
from tenfold.dispatch.operators import op
from tenfold.dispatch.registration import current_owner
from tenfold.llvm import large_calls, matrix_calls
from tenfold.llvm.gates import gated
from tenfold.llvm.kernels.attaching import ACCELERATED, by_unit, in_turn, lead
from tenfold.llvm.kernels.halves import in_float32, of_halves
from tenfold.llvm.little_products import product_gated
from tenfold.llvm.matrix_unit import there
from tenfold.llvm.storage import FLOAT32, FLOAT64


def only_ours(*names: str) -> bool:
    """Whether nobody else accelerates the operators whose work is done here."""
    return all(not k.accelerates or k.owner == OWNER for name in names for k in KERNELS.get((name, "cpu"), ()))


OWNER = current_owner(only_ours)  # while this is imported


def of_any_size(name: str, beneath: Any) -> Any:
    """The kernel without a condition, which may have stepped aside; else what is beneath."""
    return next((k.function for k in KERNELS[name, "cpu"] if not k.accelerates), beneath)


def attach(name: str, work_of: tuple[str, ...], wrap: Callable[[Any], Any]) -> None:
    """Attach a kernel around the one that does the work of other operators itself."""

    def wrapped(beneath: Any) -> Any:
        return wrap(of_any_size(name, beneath)) if only_ours(*work_of) else beneath

    kernel(getattr(op, name), device="cpu", wrap=True, note="products of float32 and float64")(wrapped)


def large(name: str, arguments: int) -> Callable[[Any], Any]:
    """The kernel of large products around the one beneath."""
    serve = getattr(large_calls, name)
    unit = getattr(matrix_calls, name)
    ACCELERATED[name] = in_turn(unit, in_float32(serve))
    return gated(serve, arguments, large_calls.LEAST, (FLOAT32, FLOAT64))  # type: ignore[no-any-return]


def gate(name: str, arguments: int = 2, turned: bool = False) -> Callable[[Any], Any]:
    def wrap(beneath: Any) -> Any:
        lead(name, strided=True)
        below = by_unit(getattr(matrix_calls, name), arguments)(of_halves(arguments, lambda: made)(beneath))
        planned = large_calls.large_gated(large(name, arguments)(below), arguments, turned)
        made = product_gated(planned, arguments, turned)
        return made

    return wrap


attach("mm", (), gate("mm"))
attach("matmul", ("mm", "bmm"), gate("matmul"))
if there():
    ACCELERATED["bmm"] = matrix_calls.bmm
    attach("bmm", (), by_unit(matrix_calls.bmm, 2))
attach("addmm", ("mm",), lambda beneath: by_unit(matrix_calls.addmm, 5)(large("addmm", 5)(beneath)))
