"""Products of floating-point matrices: out = alpha a @ b + beta c, a bias or an activation in the same call, by cuBLASLt.

A call looks up the plan of its problem (shapes, strides, dtype, precision), made when it was first seen: which dimensions are
batches, how each matrix lies, the library's descriptors and the algorithm that its heuristics chose.

The library reads matrices column by column: the row-major product C = A B is its C^T = B^T A^T, so b comes first, and a matrix
whose rows are contiguous is "not transposed" to it.
"""

from __future__ import annotations

import ctypes
import threading
import warnings
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tenfold.cuda import cublaslt, playing, recordings, runtime
from tenfold.cuda.cublaslt import IN_ANY, NOT_SUPPORTED, PLAIN, TYPES, Found, Library, Matrix, Product
from tenfold.cuda.precision import product_mode
from tenfold.cuda.recordings import RECORDINGS

KNOWN = 4096  # plans that are kept
MOST_WORKSPACE = {8: 8 << 20, 9: 32 << 20}  # bytes by compute capability: what NVIDIA recommends, the larger one from 9.0 on
Ints = tuple[int, ...]


class Geometry(NamedTuple):
    """A product as batches of matrices (M, K) and (K, N); strides in elements, of the batch, the rows and the columns."""

    sizes: tuple[int, int, int, int]  # batches, M, K, N
    a: Ints
    b: Ints
    c: Ints | None
    shape: Ints  # of the result


class Plan:
    """What the library is called with for one problem."""

    def __init__(self, library: Library, shape: Ints = (), copied: str = "", refused: bool = False) -> None:
        self.library = library
        self.shape = shape
        self.copied = copied  # operands that it cannot read as they lie
        self.refused = refused
        self.turned = False  # whether a takes b's place
        self.set: dict[str, int] = {}  # the addresses that the descriptor has by now
        self.lock = threading.Lock()  # of these
        self.size_bytes = 0  # of the result
        self.scalar = ""  # NumPy's type of the factors, and two of them
        self.one = self.zero = (0, None)
        self.workspace = 0
        self.made: list[tuple[str, int]] = []
        self.operation = 0
        self.matrices: Ints = ()
        self.found = Found()
        self.algorithm = 0

    def __del__(self) -> None:
        for name, address in self.made:
            getattr(self.library, name)(address)


def _number(value: Any, dtype: str) -> tuple[int, Any]:
    """(address of a factor as the library reads it, what keeps it there)."""
    array = np.array([value], dtype)
    return array.ctypes.data, array


def multiply(
    a: Any, b: Any, *, alpha: Any = 1, beta: Any = 0, c: Any = None, bias: Any = None, epilogue: int = PLAIN,
    b_is_turned: bool = False, out: Any = None,
) -> Any:  # fmt: skip
    """alpha * a @ b + beta * c for arrays of any dimensions, as `matmul` broadcasts them; None where it has to be done otherwise.

    `b_is_turned`: b's rows are the product's columns, as a weight's. `bias` is what `epilogue` adds to each row, or for
    BIAS_GRADIENT_OF_B where it writes the sums of b's columns. All arrays have one dtype. `out` is where the result goes.
    """
    library, dtype = cublaslt.library(), a.dtype
    if library is None or b.dtype != dtype or not a.size or not b.size:
        return None
    place = library.place
    index, at_a, at_b = place.index(a), place.pointer(a), place.pointer(b)
    at_c = 0 if c is None else place.pointer(c)
    at_bias = 0 if bias is None else place.pointer(bias)
    alignment = at_a | at_b | at_c | at_bias | 256
    key = (
        a.shape, a.strides, b.shape, b.strides, dtype, epilogue, b_is_turned, product_mode(dtype), alignment & -alignment,
        None if c is None else (c.shape, c.strides), index,
    )  # fmt: skip
    plan = library.plans.get(key) or _remembered(key, _planned(library, a, b, c, at_bias, key))
    if plan.refused:
        return None
    if plan.copied:
        a, b = (_in_one_piece(x) if name in plan.copied else x for name, x in zip("ab", (a, b)))
        if "c" in plan.copied:
            c = out = _spread(c, plan.shape, index)
        return multiply(
            a, b, alpha=alpha, beta=beta, c=c, bias=bias, epilogue=epilogue, b_is_turned=b_is_turned, out=out
        )  # fmt: skip
    if out is None:
        out = place.empty(plan.shape, dtype, plan.size_bytes)
    at_out = place.pointer(out)
    if plan.turned:
        at_a, at_b = at_b, at_a
    of_a = plan.one if alpha == 1 else _number(alpha, plan.scalar)
    of_c = plan.zero if beta == 0 else _number(beta, plan.scalar)
    addresses = of_a[0], at_b, at_a, of_c[0], at_c or at_out, at_out
    if RECORDINGS:
        recordings.started(Product(started, plan, index, addresses, at_bias, (of_a, of_c)))
    return out if started(plan, index, addresses, {"bias": at_bias} if at_bias else None) else None


def started(plan: Plan, index: int, addresses: Ints, attributes: dict[str, int] | None) -> bool:
    """Start a product; False where the library refuses it after all. `addresses`: of alpha, A, B, beta, C and D."""
    if attributes is None:
        status = _call(plan, index, *addresses)
    else:
        with plan.lock:  # another thread's addresses are not to come between
            for name, address in attributes.items():
                if plan.set.get(name) != address:
                    plan.library.point(plan.operation, name, address)
                    plan.set[name] = address
            status = _call(plan, index, *addresses)
    if not status:
        return True
    if status not in (NOT_SUPPORTED, cublaslt.INVALID_VALUE):
        raise RuntimeError(f"cublasLtMatmul returned the status {status} for a product of shape {list(plan.shape)}")
    plan.refused = True
    warnings.warn(
        f"cuBLASLt refused a product of shape {list(plan.shape)} with the status {status}; it is done otherwise", stacklevel=2
    )
    return False


def _call(plan: Plan, index: int, alpha: int, a: int, b: int, beta: int, c: int, d: int) -> Any:
    """cublasLtMatmul on the current stream; its workspace is the stream's, or the recorded graph's, as all memory is."""
    library, workspace = plan.library, plan.workspace
    place = library.place
    room = place.room(workspace) if workspace else None
    A, B, C, D = plan.matrices
    return library.matmul(
        library.handles.get(index) or library.handle(index), plan.operation, alpha, a, A, b, B, beta, c, C, d, D, plan.algorithm,
        0 if room is None else room.ptr, workspace, place.stream().ptr,
    )  # fmt: skip


def _remembered(key: Any, plan: Plan) -> Plan:
    plans = plan.library.plans
    if len(plans) >= KNOWN:
        plans.clear()
        playing.forget()  # which has plans, too
    plans[key] = plan
    return plan


def _in_one_piece(x: Any) -> Any:
    from tenfold.cuda.kernels.conversion import clone_contiguous  # which needs the elementwise kernels

    return clone_contiguous(x)


def _spread(x: Any, shape: Ints, index: int) -> Any:
    """An array broadcast to a shape, in memory of its own."""
    from tenfold.cuda.kernels.conversion import write  # which needs the elementwise kernels

    found = runtime.current().empty(shape, x.dtype, index)
    write(found, x)
    return found


# Making plans


def _planned(library: Library, a: Any, b: Any, c: Any, bias: int, key: Any) -> Plan:
    dtype, epilogue, b_is_turned, compute, alignment, _, index = key[4:]
    if dtype.name not in TYPES:
        return Plan(library, refused=True)
    shape_b, steps_b = b.shape, _steps(b)
    if b_is_turned:
        shape_b, steps_b = shape_b[::-1], steps_b[::-1]
    found = geometry((a.shape, _steps(a)), (shape_b, steps_b), None if c is None else (c.shape, _steps(c)))
    if found is None:
        return Plan(library, refused=True)
    if isinstance(found, str):
        return Plan(library, copied=found)
    turned = found.sizes[3] == 1 and epilogue == PLAIN  # a column is computed as a row: the library's columns are the longer ones
    if turned:
        found = _turned(found)
    operands = _matrices(found, TYPES[dtype.name][0])
    if isinstance(operands, str):
        names = {"a": "b", "b": "a", "c": "c"} if turned else {"a": "a", "b": "b", "c": "c"}
        return Plan(library, found.shape, "".join(names[x] for x in operands))
    matrices, transposed = operands
    attributes = {"transposed_a": transposed[0], "transposed_b": transposed[1], "epilogue": epilogue}
    plan = Plan(library, found.shape)
    plan.turned, plan.size_bytes = turned, prod(found.shape) * dtype.itemsize
    plan.scalar = TYPES[dtype.name][3]
    plan.one, plan.zero = _number(1, plan.scalar), _number(0, plan.scalar)
    describe(plan, (*compute, TYPES[dtype.name][2]), matrices, attributes, {"bias": bias} if bias else {}, alignment, index)
    return plan


def _steps(x: Any) -> Ints:
    return tuple(s // x.dtype.itemsize for s in x.strides)


def geometry(a: tuple[Ints, Ints], b: tuple[Ints, Ints], c: tuple[Ints, Ints] | None) -> Geometry | str | None:
    """The product of two operands (shape, strides in elements), perhaps added to a third; None for shapes that do not fit.

    A text names the operands that have to be copied first, because their batches are not one.

    >>> geometry(((2, 3), (3, 1)), ((3,), (1,)), None)
    Geometry(sizes=(1, 2, 3, 1), a=(0, 3, 1), b=(0, 1, 0), c=None, shape=(2,))
    >>> geometry(((5, 2, 3), (6, 3, 1)), ((3, 4), (4, 1)), None)  # the batch is more rows
    Geometry(sizes=(1, 10, 3, 4), a=(0, 3, 1), b=(0, 4, 1), c=None, shape=(5, 2, 4))
    >>> geometry(((5, 2, 3), (6, 3, 1)), ((1, 3, 4), (12, 4, 1)), None).b
    (0, 4, 1)
    """
    (shape_a, steps_a), (shape_b, steps_b) = a, b
    vector_a, vector_b = len(shape_a) == 1, len(shape_b) == 1
    if not shape_a or not shape_b:
        return None
    if vector_a:
        shape_a, steps_a = (1, *shape_a), (0, *steps_a)
    if vector_b:
        shape_b, steps_b = (*shape_b, 1), (*steps_b, 0)
    (M, K), N = shape_a[-2:], shape_b[-1]
    if shape_b[-2] != K:
        return None
    try:
        lead = np.broadcast_shapes(shape_a[:-2], shape_b[:-2])
    except ValueError:
        return None
    shape = (*lead, *(() if vector_a else (M,)), *(() if vector_b else (N,)))
    if c is not None and (len(c[0]) > len(shape) or any(n not in (1, m) for n, m in zip(c[0][::-1], shape[::-1]))):
        return None
    batches_a, batches_b = (_expanded(s[:-2], t[:-2], lead) for s, t in ((shape_a, steps_a), (shape_b, steps_b)))
    matrix_c: Ints | None = None
    batches_c: Ints = (0,) * len(lead)
    if c is not None:
        of_c = _expanded(*c, shape)
        batches_c, rest = of_c[: len(lead)], of_c[len(lead) :]
        matrix_c = rest if len(rest) == 2 else (0, *rest) if vector_a and not vector_b else (*rest, 0) if rest else (0, 0)
    if not any(n > 1 and s for n, s in zip(lead, batches_b)):  # b is one matrix: batches may be more rows of a
        nested = [(n, (x, z)) for n, x, z in zip((*lead, M), (*batches_a, steps_a[-2]), (*batches_c, (matrix_c or (0,))[0]))]
        joined = merged(nested)
        if len(joined) <= 1:
            rows, (step, step_c) = joined[0] if joined else (1, (K, N))
            return Geometry(
                (1, rows, K, N), (0, step, steps_a[-1]), (0, *steps_b[-2:]), matrix_c and (0, step_c, matrix_c[1]), shape
            )
    joined = merged([(n, every) for n, *every in zip(lead, batches_a, batches_b, batches_c)])
    if len(joined) > 1:
        return _to_be_copied((shape_a, steps_a), (shape_b, steps_b), lead)
    count, (x, y, z) = joined[0] if joined else (1, (0, 0, 0))
    return Geometry((count, M, K, N), (x, *steps_a[-2:]), (y, *steps_b[-2:]), matrix_c and (z, *matrix_c), shape)


def _expanded(sizes: Ints, steps: Ints, shape: Ints) -> Ints:
    """The strides of an array that is broadcast to a shape."""
    missing = len(shape) - len(sizes)
    return (0,) * missing + tuple(0 if n == 1 else s for n, s in zip(sizes, steps))


def merged(dims: Any) -> list[tuple[int, tuple[int, ...]]]:
    """Dimensions (size, its stride in each array) as few ones: those of one element left out, neighbours put together."""
    found: list[tuple[int, tuple[int, ...]]] = []
    for n, steps in dims:
        if n == 1:
            continue
        if found and all(outer == inner * n for outer, inner in zip(found[-1][1], steps)):
            found[-1] = found[-1][0] * n, tuple(steps)
        else:
            found.append((n, tuple(steps)))
    return found


def _to_be_copied(a: tuple[Ints, Ints], b: tuple[Ints, Ints], lead: Ints) -> str | None:
    """Which operands to lay out anew so that the batches are one; None where one would have to be repeated, too."""
    names = ""
    for name, (shape, steps) in (("a", a), ("b", b)):
        if prod(shape[:-2]) != prod(lead):
            return None
        if any(n > 1 and s != prod(shape[d + 1 :]) for d, (n, s) in enumerate(zip(shape, steps))):
            names += name
    return names or None


def _turned(of: Geometry) -> Geometry:
    """The same product as its transpose, rows for columns."""
    count, M, K, N = of.sizes
    b, a, c = (None if steps is None else (steps[0], steps[2], steps[1]) for steps in (of.b, of.a, of.c))
    assert a is not None
    assert b is not None
    return Geometry((count, N, K, M), b, a, c, of.shape)


def lying(rows: int, columns: int, down: int, across: int) -> tuple[int, int] | None:
    """(transposed or not, leading dimension) of a row-major matrix; None for what the library cannot read.

    >>> lying(2, 3, 3, 1), lying(2, 3, 1, 2), lying(2, 3, 6, 2)
    ((0, 3), (1, 2), None)
    """
    if (across == 1 or columns == 1) and (down >= columns or rows == 1):
        return cublaslt.NOT_TRANSPOSED, max(down if rows > 1 else columns, columns)
    if (down == 1 or rows == 1) and (across >= rows or columns == 1):
        return cublaslt.TRANSPOSED, max(across if columns > 1 else rows, rows)
    return None


def _matrices(of: Geometry, number: int) -> tuple[list[Matrix], tuple[int, int]] | str:
    """The library's A, B, C and D, and whether it is to transpose the first two; or which operands cannot be read."""
    count, M, K, N = of.sizes
    kinds = {"a": (of.a, M, K), "b": (of.b, K, N)}
    if of.c is not None:
        kinds["c"] = of.c, M, N
    found, bad = {}, ""
    for name, ((batch, down, across), rows, columns) in kinds.items():
        lies = lying(rows, columns, down, across) if batch >= 0 and down >= 0 and across >= 0 else None
        if lies is None or (name == "c" and lies[0] != cublaslt.NOT_TRANSPOSED):
            bad += name
            continue
        op, lead = lies
        found[name] = op, Matrix(number, *((rows, columns) if op else (columns, rows)), lead, count, batch)
    if bad:
        return bad
    result = Matrix(number, N, M, N, count, M * N)
    added = found["c"][1] if "c" in found else result
    return [found["b"][1], found["a"][1], added, result], (found["b"][0], found["a"][0])


@lru_cache(maxsize=16)
def _capability_of(module: Any, index: int) -> int:
    return int(module.cuda.Device(index).compute_capability)


def capability(now: Any) -> int:
    """The current GPU's compute capability, such as 90; the interpreter's is that, too."""
    return _capability_of(now.module, now.current_index()) if hasattr(now.module, "cuda") else 90


def describe(
    plan: Plan, compute: Ints, matrices: list[Matrix], attributes: dict[str, int], addresses: dict[str, int],
    alignment: int, index: int,
) -> None:  # fmt: skip
    """Make a plan's descriptors, and let the library choose an algorithm; the plan is refused where it has none.

    `compute`: in what is summed, how parts of a sum may come together, the type of the factors. The search looks at how the
    `addresses` are aligned, too.
    """
    library = plan.library
    try:
        plan.operation = library.made("cublasLtMatmulDescCreate", compute[0], compute[2])
        plan.made.append(("cublasLtMatmulDescDestroy", plan.operation))
        library.set("MatmulDesc", cublaslt.OPERATION, plan.operation, **attributes, **addresses)
        plan.set.update(addresses)
        for matrix in matrices:
            plan.matrices = (*plan.matrices, matrix.made(library))
            plan.made.append(("cublasLtMatrixLayoutDestroy", plan.matrices[-1]))
        plan.refused = not _chosen(plan, compute[1], alignment, index)
    except cublaslt.Refused as error:
        if error.status not in (NOT_SUPPORTED, cublaslt.INVALID_VALUE):
            raise RuntimeError(f"{error} for a product of shape {list(plan.shape)}") from None
        plan.refused = True


def _chosen(plan: Plan, reductions: int, alignment: int, index: int) -> bool:
    """Whether the library has an algorithm for a plan, which then has it."""
    library = plan.library
    search = library.made("cublasLtMatmulPreferenceCreate")
    try:
        wanted = dict.fromkeys(("alignment_a", "alignment_b", "alignment_c"), alignment)
        wanted["most_workspace"] = MOST_WORKSPACE[min(max(capability(runtime.current()) // 10, 8), 9)]
        if reductions != IN_ANY:
            wanted["reductions"] = reductions
        library.set("MatmulPreference", cublaslt.SEARCH, search, **wanted)
        count = ctypes.c_int()
        library.call(
            "cublasLtMatmulAlgoGetHeuristic", library.handle(index), plan.operation, *plan.matrices, search, 1,
            ctypes.byref(plan.found), ctypes.byref(count),
        )  # fmt: skip
    finally:
        library.call("cublasLtMatmulPreferenceDestroy", search)
    plan.workspace, plan.algorithm = int(plan.found.workspace), ctypes.addressof(plan.found)
    return count.value > 0 and plan.found.state == 0
