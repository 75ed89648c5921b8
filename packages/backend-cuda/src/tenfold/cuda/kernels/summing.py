"""The sum of a formula over all elements in one launch: every program sums a share of them, and the last one their sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.kernels.counters import counters
from tenfold.cuda.kernels.elementwise import NUMBERS, plan, supported
from tenfold.cuda.kernels.generation import BLOCK, Generated
from tenfold.cuda.kernels.handwritten import F64, statistics_dtype

PROGRAMS = 1056  # 8 for each multiprocessor of a large GPU
SHORT = 4 * BLOCK  # elements that are worth a program


@dataclass(frozen=True, slots=True)
class Summed(Generated):
    """A formula's kernel that sums what it would store."""

    double: bool = False

    @property
    def name(self) -> str:
        return f"sum_of_{Generated.name.fget(self)}"  # type: ignore[attr-defined]

    def arguments(self) -> list[str]:
        """The parameters' names, in the order in which a launch passes them."""
        return [*Generated.arguments(self), "partial_ptr", "done_ptr", "share", "divisor"]

    def source(self) -> str:
        """The kernel's text: that of the formula in a loop over the program's share."""
        head, *lines = Generated.source(self).splitlines()
        integer, wide = "tl.int64" if self.wide else "tl.int32", "tl.float64" if self.double else "tl.float32"
        body = [f"    {line}" for line in lines[2:-1]]
        return "\n".join([
            head,
            f"    first = tl.program_id(0).to({integer}) * share",
            f"    sums = tl.zeros([BLOCK], {wide})",
            "    for start in range(0, share, BLOCK):",
            "        i = first + start + tl.arange(0, BLOCK)",
            "        mask = i < count",
            *body,
            "        sums += tl.where(mask, result, 0.0)",
            "    total_by_the_last(out_ptr, partial_ptr, done_ptr, tl.sum(sums, 0), divisor)",
            "",
        ])  # fmt: skip

    def helpers(self) -> dict[str, Any]:
        """What the text calls besides Triton's language."""
        from tenfold.cuda.kernels.programs.totals import total_by_the_last  # imports Triton

        return {"total_by_the_last": total_by_the_last}


def total(name: str, divisor: float, *operands: Any) -> Any:
    """The sum of a formula over its operands' elements, over `divisor`; NotImplemented where it has no text for them.

    The first operand is of the result's shape.
    """
    kind, first = supported(name, operands), operands[0]
    if kind is None or not first.size or runtime.reach(first) > first.dtype.itemsize << 31:
        return NotImplemented
    described = tuple([(x.shape, x.strides, x.dtype) if type(x) not in NUMBERS else type(x) for x in (first, *operands)])
    found, signature, fixed, count = plan(name, kind, described, tiles=False)
    double = first.dtype == F64
    now = runtime.current()
    index = now.index_of(first)
    programs = max(1, min(PROGRAMS, count // SHORT))
    share = -(-count // (programs * BLOCK)) * BLOCK
    programs = -(-count // share)
    wide = found.wide or count + share >= 2**31  # the last program's positions end behind the elements
    kernel = Summed(found.formula, found.kind, found.reads, found.widening, found.ndim, wide, double=double)
    partial = now.empty((programs,), statistics_dtype(first.dtype), index)
    out = now.empty((), first.dtype, index)
    real, integer = ("fp64" if double else "fp32"), "i64" if wide else "i32"
    types = (*[integer if kind == "i32" else kind for kind in signature], f"*{real}", "*i32", integer, real)
    arguments = (out, *operands, *fixed, partial, counters(index), share, float(divisor))
    now.launch_grid(kernel, types, arguments, (programs,), index)
    return out
