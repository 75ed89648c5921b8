"""Launching the kernels of programs/: their identity, how rows are dealt to programs, and what they report."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from tenfold.cuda import reports, runtime
from tenfold.cuda.kernels.generation import BLOCK, TRITON_TYPES
from tenfold.types.dtypes import BY_NAME

FLOATS = tuple(BY_NAME[name].numpy for name in ("float32", "float16", "bfloat16", "float64"))
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
NAMES = frozenset(TRITON_TYPES.values())
LONGEST = 1 << 16  # elements of a row that a program holds
LONG = 8192  # elements beyond which kernels that have a form for it go over a row in blocks
TILE = 4096  # elements that a program works on where rows are shorter, and at a time where they are longer
UNBOUNDED = 65535 * TILE  # elements of a row that is gone over in blocks: a grid's second dimension ends there


@dataclass(frozen=True, slots=True)
class Handwritten:
    """A function of programs/ with its constants: equal ones are compiled once."""

    name: str
    fixed: tuple[tuple[str, Any], ...]
    warps: int = 4
    stages: int = 1  # blocks of a loop's operands that are on their way at a time
    by_address: bool = False  # whether only addresses count as multiples of 16: one machine code for all sizes
    registers: int = field(default=0, repr=False)  # of a thread, at most; 0: as many as the compiler wants
    hashed: int = field(init=False, repr=False, compare=False)  # every launch looks a kernel up

    def __post_init__(self) -> None:
        known = (self.name, self.fixed, self.warps, self.stages, self.by_address, self.registers)
        object.__setattr__(self, "hashed", hash(known))

    def __hash__(self) -> int:
        return self.hashed

    def arguments(self) -> list[str]:
        """The parameters' names, in the order in which a launch passes them."""
        fixed = dict(self.fixed)
        return [name for name in inspect.signature(self._written()).parameters if name not in fixed]

    def constants(self) -> dict[str, Any]:
        """What is fixed when the kernel is compiled; dtypes by their Triton names."""
        from triton import language as tl  # with the first kernel

        return {name: tl.str_to_ty(value, None) if value in NAMES else value for name, value in self.fixed}

    def function(self, library: Any) -> Any:
        """The Python function, undecorated."""
        return self._written()

    def _written(self) -> Any:
        from tenfold.cuda.kernels.programs import program  # imports Triton

        return program(self.name)


@lru_cache(maxsize=4096)
def tiled(name: str, rows: int, width: int, double: bool, **fixed: int) -> tuple[Handwritten, tuple[int, ...]]:
    """(the row kernel for rows of a width, its grid)."""
    block = 1 << max(width - 1, 0).bit_length()
    each = max(1, min(TILE // block, 1 << max(rows - 1, 0).bit_length()))
    warps = 4 if each * block <= 4096 else 8 if block <= 16384 else 32
    constants = (*fixed.items(), ("DOUBLE", int(double)), ("ROWS", each), ("BLOCK", block))
    return Handwritten(name, constants, warps), (-(-rows // each),)


@lru_cache(maxsize=4096)
def dealt(name: str, rows: int, width: int, double: bool, **fixed: int) -> tuple[Handwritten, tuple[int, ...]]:
    """(the kernel `name`_rows, or for long rows `name`_long, which has a row for each program; its grid)."""
    if width <= LONG:
        return tiled(f"{name}_rows", rows, width, double, **fixed)
    constants = (*fixed.items(), ("DOUBLE", int(double)), ("BLOCK", TILE // 2 if double else TILE))
    return Handwritten(f"{name}_long", constants, 8), (rows,)


@lru_cache(maxsize=4096)
def shared_out(name: str, rows: int, width: int, double: bool, **fixed: int) -> tuple[Handwritten, tuple[int, ...]]:
    """(a kernel that needs nothing of the rest of its row, its grid): long rows are shared out to several programs."""
    if width <= LONG:
        return tiled(name, rows, width, double, **fixed)
    constants = (*fixed.items(), ("DOUBLE", int(double)), ("ROWS", 1), ("BLOCK", TILE))
    return Handwritten(name, constants, 8), (rows, -(-width // TILE))


def start(kernel: Handwritten, grid: tuple[int, ...], arguments: tuple[Any, ...], index: int) -> Any:
    """Launch: arrays as pointers, whole numbers as i32 or i64, others as float32 or, where the kernel is DOUBLE, float64."""
    return runtime.current().start(kernel, grid, arguments, index)


def rows_of(array: Any, dims: int = 1, longest: int = LONGEST) -> tuple[int, int] | None:
    """(rows, width) of an array whose last dimensions are a row; None for what the row kernels do not serve."""
    if array.ndim < dims or not array.size or array.dtype not in FLOATS:
        return None
    width = 1
    for n in array.shape[array.ndim - dims :]:
        width *= n
    rows = array.size // width
    return (rows, width) if width <= longest and rows < 2**31 - TILE else None


def contiguous(array: Any) -> Any:
    """The array, copied if it is not row-major."""
    from tenfold.cuda.kernels.conversion import clone_contiguous  # which needs the elementwise kernels

    return array if array.flags.c_contiguous else clone_contiguous(array)


def near(array: Any) -> Any:
    """The array, copied if 32 bits do not say how far its last element is from its first, as in views of large arrays."""
    return contiguous(array) if runtime.reach(array) > array.dtype.itemsize << 31 else array


def statistics_dtype(dtype: Any) -> Any:
    """In what statistics of rows are kept."""
    return F64 if dtype == F64 else F32


def check_indices(name: str, index: Any, low: int, high: int) -> None:
    """Let the device look whether low <= index < high everywhere; it tells later (reports.py)."""
    if not index.size:
        return
    index = contiguous(index)
    kernel = Handwritten("check_indices", (("BLOCK", BLOCK),))
    now = runtime.current()
    arguments = (reports.words(now), index, reports.WORDS.index(name), int(low), int(high), int(index.size))
    start(kernel, (-(-index.size // BLOCK),), arguments, now.index_of(index))
