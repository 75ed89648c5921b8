"""NVIDIA's library of matrix products with epilogues, cuBLASLt, as ctypes calls it: its functions, numbers and descriptors.

Source: NVIDIA cuBLAS documentation, "Using the cuBLASLt API"; its numbers from cublasLt.h, cublas_api.h,
library_types.h.
"""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any, NamedTuple

from tenfold.cuda import playing, runtime
from tenfold.cuda.recordings import RECORDINGS, Go, Origin, Step, taken

# cublasOperation_t, cublasComputeType_t, cublasLtEpilogue_t.
NOT_TRANSPOSED, TRANSPOSED = 0, 1
COMPUTE_32F, COMPUTE_32F_FAST_TF32, COMPUTE_64F = 68, 77, 70
PLAIN, RELU_BIAS, BIAS, GELU_BIAS, BIAS_GRADIENT_OF_B = 1, 6, 4, 36, 512
# By dtype: its cudaDataType_t, what products are summed in, the type of alpha and beta, and that as NumPy has it.
TYPES = {
    "float16": (2, COMPUTE_32F, 0, "f4"), "bfloat16": (14, COMPUTE_32F, 0, "f4"), "float32": (0, COMPUTE_32F, 0, "f4"),
    "float64": (1, COMPUTE_64F, 1, "f8"), "complex64": (4, COMPUTE_32F, 4, "c8"), "complex128": (5, COMPUTE_64F, 5, "c16"),
}  # fmt: skip
EIGHT_BITS = {"float8_e4m3fn": 28, "float8_e5m2": 29}  # which come with scales, and are summed in float32
# Attributes of a product, of a matrix and of the search for an algorithm: the number, and the type of the value.
I8, I32, U32, I64, U64, POINTER = ctypes.c_int8, ctypes.c_int32, ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64
OPERATION = {
    "transposed_a": (3, I32), "transposed_b": (4, I32), "epilogue": (7, U32), "bias": (8, POINTER), "scale_a": (17, POINTER),
    "scale_b": (18, POINTER), "fast_sum": (25, I8), "bias_type": (26, I32), "scale_mode_a": (31, I32), "scale_mode_b": (32, I32),
}  # fmt: skip
MATRIX = {"batches": (5, I32), "batch_stride": (6, I64)}
SEARCH = {
    "most_workspace": (1, U64), "reductions": (3, U32), "alignment_a": (5, U32), "alignment_b": (6, U32),
    "alignment_c": (7, U32), "alignment_d": (8, U32),
}  # fmt: skip
# cublasLtReductionScheme_t: how parts of a sum that several programs compute may come together; all bits: in any way.
IN_ONE, IN_COMPUTE_TYPE, IN_ANY = 0, 2, 7
SCALAR_SCALE, VECTOR_SCALE = 0, 3  # cublasLtMatmulMatrixScale_t: one factor, or one for each row of A and column of B
INVALID_VALUE, NOT_SUPPORTED = 7, 15  # cublasStatus_t


class Found(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = [
        ("algorithm", ctypes.c_uint64 * 8), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int), ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    ]  # fmt: skip


_p, _i, _n = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
SIGNATURES: dict[str, list[Any]] = {
    "cublasLtCreate": [_p],
    "cublasLtMatmulDescCreate": [_p, _i, _i],
    "cublasLtMatmulDescSetAttribute": [_p, _i, _p, _n],
    "cublasLtMatmulDescDestroy": [_p],
    "cublasLtMatrixLayoutCreate": [_p, _i, U64, U64, I64],
    "cublasLtMatrixLayoutSetAttribute": [_p, _i, _p, _n],
    "cublasLtMatrixLayoutDestroy": [_p],
    "cublasLtMatmulPreferenceCreate": [_p],
    "cublasLtMatmulPreferenceSetAttribute": [_p, _i, _p, _n],
    "cublasLtMatmulPreferenceDestroy": [_p],
    "cublasLtMatmulAlgoGetHeuristic": [_p, _p, _p, _p, _p, _p, _p, _i, _p, _p],
    "cublasLtMatmul": [_p, _p, _p, _p, _p, _p, _p, _p, _p, _p, _p, _p, _p, _p, _n, _p],
}


class Refused(Exception):
    """What cuBLASLt answered with a status other than success."""

    def __init__(self, function: str, status: int) -> None:
        super().__init__(f"{function} returned the status {status}")
        self.status = status


class Library:
    """The library's functions, its handle of each GPU, and what products.py keeps: its plans, and where arrays are."""

    def __init__(self, functions: Any, place: Any) -> None:
        self.place = place
        self.plans: dict[Any, Any] = {}
        for name, types in SIGNATURES.items():
            function = getattr(functions, name)
            function.argtypes, function.restype = types, ctypes.c_int
            setattr(self, name, function)
        self.matmul = functions.cublasLtMatmul
        self.handles: dict[int, int] = {}

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self, name)(*arguments)
        if status:
            raise Refused(name, status)

    def made(self, name: str, *arguments: Any) -> int:
        """The address of what a function …Create makes."""
        place = ctypes.c_void_p()
        self.call(name, ctypes.byref(place), *arguments)
        return place.value or 0

    def handle(self, index: int) -> int:
        """The handle for the current GPU, whose number is `index`."""
        found = self.handles.get(index)
        if found is None:
            found = self.handles[index] = self.made("cublasLtCreate")
        return found

    def set(self, kind: str, table: dict[str, tuple[int, Any]], descriptor: int, **values: int) -> None:
        """Set attributes of a descriptor by their names in one of the tables above."""
        for name, value in values.items():
            number, c_type = table[name]
            self.call(f"cublasLt{kind}SetAttribute", descriptor, number, ctypes.byref(c_type(value)), ctypes.sizeof(c_type))

    def point(self, operation: int, name: str, address: int) -> None:
        """Set an address of a product, which changes with every call."""
        self.call("cublasLtMatmulDescSetAttribute", operation, OPERATION[name][0], ctypes.byref(POINTER(address)), 8)


class Matrix(NamedTuple):
    """A matrix, or a batch of them, as the library reads it: column by column."""

    number: int  # of its dtype
    rows: int
    columns: int
    lead: int  # elements from a column to the next
    batches: int
    batch_stride: int

    def made(self, library: Library) -> int:
        found = library.made("cublasLtMatrixLayoutCreate", *self[:4])
        if self.batches > 1:
            library.set("MatrixLayout", MATRIX, found, batches=self.batches, batch_stride=self.batch_stride)
        return found


class Product(Step):
    """A product that is recorded (playing.py); `start` starts one (products.py), `factors` are what keeps alpha and beta."""

    def __init__(self, start: Any, plan: Any, index: int, addresses: tuple[int, ...], at_bias: int, factors: Any) -> None:
        self.start, self.plan, self.index, self.factors = start, plan, index, factors
        self.pointers = (*addresses[1:3], *addresses[4:], at_bias)

    def placed(self, origin: Origin) -> Go:
        start, plan, index, factors = self.start, self.plan, self.index, self.factors
        (a, of_a), (b, of_b), (c, of_c), (d, of_d), (bias, of_bias) = map(origin, self.pointers)

        def go(bases: list[int], stream: int) -> bool:
            (alpha, _), (beta, _) = factors
            at = alpha, bases[a] + of_a, bases[b] + of_b, beta, bases[c] + of_c, bases[d] + of_d
            return bool(start(plan, index, at, {"bias": bases[bias] + of_bias} if bias else None))

        return go


class OnGpu:
    """Where arrays are: on the current GPU, through CuPy."""

    def __init__(self, cupy: Any) -> None:
        self.new, self.room, self.stream = cupy.ndarray, cupy.cuda.alloc, cupy.cuda.get_current_stream

    def index(self, x: Any) -> Any:
        return x.data.device_id

    def pointer(self, x: Any) -> Any:
        return x.data.ptr

    def empty(self, shape: tuple[int, ...], dtype: Any, size_bytes: int) -> Any:
        for release in runtime.BEFORE_ALLOCATION:
            release()
        found = self.new(shape, dtype, self.room(size_bytes))
        return taken(found) if RECORDINGS else found


class OnHost:
    """The same of the interpreter's arrays."""

    def __init__(self, now: Any) -> None:
        self.index, self.pointer = now.index_of, now.pointer
        self.empty = lambda shape, dtype, size_bytes: now.empty(shape, dtype, 0)
        self.room, self.stream = (lambda size_bytes: SimpleNamespace(ptr=0)), lambda: SimpleNamespace(ptr=0)


_state: dict[str, Library | None] = {}


def library() -> Library | None:
    """cuBLASLt, which cuBLAS has loaded; None where it or one of its functions is missing, and in the interpreter."""
    try:
        return _state["library"]
    except KeyError:
        return None if runtime.is_replaced() else _look()


def _look() -> Library | None:
    import cupy_backends.cuda.libs.cublas  # noqa: F401 - loads the library that is looked for

    cupy = runtime.current().module
    version = cupy.cuda.runtime.runtimeGetVersion()
    try:
        found = Library(ctypes.CDLL(f"libcublasLt.so.{version // 1000}"), OnGpu(cupy))
    except (OSError, AttributeError):
        found = None
    _state["library"] = found
    return found


def replace(found: Library | None) -> None:
    """Use another library from now on, also in the interpreter; None: look for the real one again."""
    _state.clear()
    playing.forget()
    if found is not None:
        _state["library"] = found


def prepared(index: int) -> None:
    """Make the current GPU's handle, which is better done before a capture."""
    found = library()
    if found is not None:
        found.handle(index)
