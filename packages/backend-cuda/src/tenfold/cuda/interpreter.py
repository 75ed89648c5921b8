"""The device "cuda" without a GPU: NumPy arrays in place of CuPy's, kernels run by Triton's interpreter.

For tests and for writing kernels. Set TRITON_INTERPRET=1 before Triton is imported, call `use()` before the device is
first used, and every operator of the device runs the code that a GPU would compile, in host memory and slowly. One
process either interprets or compiles: Triton decides when a kernel is decorated.
"""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

from tenfold.cpu import erf as error_functions
from tenfold.cpu.backend import address, bytes_of, extent, owner_of
from tenfold.cuda import exhaustion, grids, interpreted_folds, runtime
from tenfold.dispatch.devices import OutOfMemoryError

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# Large blocks: an interpreted program costs a millisecond whatever its size.
BLOCK = 1 << 16


def use() -> None:
    """Run the device "cuda" in the interpreter from now on.

    Raises: RuntimeError if TRITON_INTERPRET is not set to 1.
    """
    if os.environ.get("TRITON_INTERPRET") != "1":
        raise RuntimeError("interpreter.use(): set TRITON_INTERPRET=1 in the environment before the process starts")
    runtime.replace(InterpretedRuntime())


class InterpretedRuntime:
    """The methods of `runtime.CupyRuntime` on NumPy arrays."""

    module = np
    array_type = np.ndarray

    def device_count(self) -> int:
        return 1

    def current_index(self) -> int:
        return 0

    def set_current(self, index: int) -> None:
        if index != 0:
            raise RuntimeError(f"the interpreter has one device, cuda:0, not cuda:{index}")

    def index_of(self, array: Any) -> int:
        return 0

    def empty(self, shape: Sequence[int], dtype: Any, index: int) -> Any:
        try:
            return np.empty(shape, dtype)
        except MemoryError as error:
            size = exhaustion.size_text(math.prod(shape) * np.dtype(dtype).itemsize)
            raise OutOfMemoryError(
                f"CUDA out of memory. Tried to allocate {size}; the interpreter's memory is the host's. Take smaller batches"
            ) from error

    def from_host(self, array: Any, index: int) -> Any:
        return _copied(array)

    def to_host(self, array: Any) -> Any:
        return _copied(array)

    def to_peer(self, array: Any, index: int) -> Any:
        return _copied(array)

    def view(self, array: Any, shape: Sequence[int], strides: Sequence[int], offset: int, dtype: Any) -> Any:
        memory = bytes_of(array)
        return np.ndarray(tuple(shape), dtype, memory, min(offset, memory.size), tuple(strides))  # past the end is nothing

    def part(self, array: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        return self.view(array, shape, strides, self.memory(array)[2] + offset, array.dtype)

    def memory(self, array: Any) -> tuple[Any, int, int]:
        owner = owner_of(array)
        return owner, max(owner.nbytes, extent(owner)), address(array) - address(owner)

    def apart(self, a: Any, b: Any) -> bool:
        return False

    def pointer(self, array: Any) -> int:
        return address(array)

    def pointers(self, arrays: Sequence[Any]) -> list[int]:
        return [self.pointer(a) for a in arrays]

    def shared_words(self, count: int) -> Any:
        return np.zeros(count, np.int32)

    def on_host(self, words: Any) -> Any:
        return words

    def stream_pointer(self, index: int) -> int:
        return 0

    def synchronize(self, index: int | None) -> None:
        """Everything has been done already."""

    def launch_grid(
        self, kernel: Any, signature: tuple[str, ...], arguments: Sequence[Any], grid: tuple[int, ...], index: int
    ) -> None:
        if grids.too_large(grid) or grids.empty(grid):
            raise grids.refusal(kernel.name, grid)
        values = {name: _argument(kind, x) for name, kind, x in zip(kernel.arguments(), signature, arguments)}
        with _whole_launch():
            interpreted(kernel)[grid](**values, **kernel.constants())

    def site(self, kernel: Any, signature: tuple[str, ...], tail: tuple[int, ...], count: int) -> Any:
        def launch(head: Sequence[Any], index: int) -> None:
            self.launch(kernel, signature, (*head, *tail), count, index)

        return launch

    def start(self, kernel: Any, grid: tuple[int, ...], arguments: Sequence[Any], index: int) -> None:
        from tenfold.cuda.kernels.argument_types import described  # with the first kernel

        self.launch_grid(kernel, described(kernel, arguments), arguments, grid, index)

    def launch(self, kernel: Any, signature: tuple[str, ...], arguments: Sequence[Any], count: int, index: int) -> None:
        if not count:
            raise grids.refusal(kernel.name, (0,))
        values = [_argument(kind, value) for kind, value in zip(signature, arguments)]
        function = interpreted(kernel)
        block = min(BLOCK, 1 << max(count - 1, 0).bit_length())
        if any(getattr(kernel, "tile", ())):  # whose programs are counted
            block = kernel.constants()["BLOCK"]
        with _whole_launch():
            function[(-(-count // block),)](*values, BLOCK=block)


@contextmanager
def _whole_launch() -> Iterator[None]:
    """Around a launch: one that an interrupt or a time limit cuts off leaves no program counted to the next one."""
    try:
        with np.errstate(all="ignore"):
            yield
    except BaseException:
        from tenfold.cuda.kernels import counters  # which needs the kernels that this module runs

        counters.restart()
        raise


def _copied(array: Any) -> Any:
    """A copy that lies as on a GPU."""
    order = runtime.order_of_copy(array)
    return np.array(array, order="C") if order is None else array.transpose(order).copy().transpose(np.argsort(order))


@cache
def interpreted(kernel: Any) -> Any:
    """The generated kernel as Triton's interpreter runs it."""
    import triton

    _prepare()
    function = triton.jit(kernel.function(LIBDEVICE))
    if hasattr(function, "cache_key"):
        raise RuntimeError("Triton was imported before TRITON_INTERPRET=1 was set; set it before the process starts")
    return function


def _argument(kind: str, value: Any) -> Any:
    """A kernel's argument as the interpreter holds it: an array of one address or number, and its Triton type."""
    from triton import language as tl
    from triton.runtime.interpreter import TensorHandle

    found = tl.str_to_ty(kind, None)
    data = np.array([address(value)], np.uint64) if kind.startswith("*") else np.array([value], NUMPY_TYPES[kind])
    return tl.tensor(TensorHandle(data, found), found)


NUMPY_TYPES = {"fp32": np.float32, "fp64": np.float64, "i32": np.int32, "i64": np.int64, "u64": np.uint64}


# libdevice, the library of mathematical functions that compiled kernels call, as NumPy functions


def _elementwise(function: Any) -> Any:
    def call(*operands: Any) -> Any:
        from triton import language as tl
        from triton.runtime.interpreter import TensorHandle

        tensors = [x for x in operands if isinstance(x, tl.tensor)]
        like = next((x for x in tensors if x.type.is_block()), tensors[0])
        scalar = tensors[0].dtype
        data = [x.handle.data if isinstance(x, tl.tensor) else x for x in operands]
        result = np.asarray(function(*data)).astype(tensors[0].handle.data.dtype)
        found = tl.block_type(scalar, list(like.shape)) if like.type.is_block() else scalar
        return tl.tensor(TensorHandle(result, scalar), found)

    return call


def _of_scipy(name: str) -> Any:
    """A function of scipy.special, which only processes that interpret special functions need."""

    def function(*operands: Any) -> Any:
        return getattr(importlib.import_module("scipy.special"), name)(*operands)

    return function


def _erfcx(x: Any) -> Any:
    """SciPy's is off by hundreds of units where x is negative, as it squares x in float64."""
    power = 2 * np.exp(np.square(np.minimum(x, 0).astype(np.longdouble)))
    return np.where(x < -1, power - _of_scipy("erfcx")(np.abs(x)), _of_scipy("erfcx")(x)).astype(x.dtype)


_FUNCTIONS = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sqrt_rn": np.sqrt, "rcp_rn": np.reciprocal, "div_rn": np.true_divide, "mul_rn": np.multiply,
    "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "erf": error_functions.erf,
    "erfc": error_functions.erfc, "erfinv": error_functions.erfinv, "trunc": np.trunc, "rint": np.rint, "pow": np.power,
    "fmod": np.fmod, "atan2": np.arctan2, "hypot": np.hypot, "copysign": np.copysign, "nextafter": np.nextafter,
    "lgamma": lambda x: np.where(np.isneginf(x), np.inf, _of_scipy("gammaln")(x)),  # as C has it
    "sinpi": lambda x: np.sin(x * np.pi), "cospi": lambda x: np.cos(x * np.pi), "tgamma": _of_scipy("gamma"),
    "erfcx": _erfcx, "normcdfinv": _of_scipy("ndtri"),
}  # fmt: skip
LIBDEVICE = SimpleNamespace(**{name: _elementwise(function) for name, function in _FUNCTIONS.items()})


# bfloat16: Triton's interpreter keeps it as bits in uint16, computes with the bits, and rounds towards zero. Here it is a
# NumPy dtype, with arithmetic and rounding of its own; only the interpreter's C code, for loads and stores, sees
# the bits. The rest of the patch is explained where it is.


@lru_cache(maxsize=1)
def _prepare() -> None:
    from triton.runtime import interpreter

    builder = interpreter.InterpreterBuilder
    numpy_type = interpreter._get_np_dtype
    load, store = builder.create_masked_load, builder.create_masked_store
    compute, convert = builder.binary_op, builder.create_fp_to_fp
    handle, int1 = interpreter.TensorHandle, interpreter.tl.int1
    patch_tensor = interpreter._patch_lang_tensor

    numpy_types = {"bf16": BFLOAT16}  # by the names of Triton's; the interpreter writes a table at each call

    def with_bfloat16(triton_type: Any) -> Any:
        scalar = triton_type.scalar
        found = numpy_types.get(scalar.name)
        if found is None:
            found = numpy_types[scalar.name] = numpy_type(scalar)
        return found

    def masked_load(self: Any, pointers: Any, mask: Any, other: Any, *options: Any) -> Any:
        if pointers.get_element_ty().name != "bf16":
            return load(self, pointers, mask, other, *options)
        bits = np.zeros(pointers.data.shape, np.uint16) if other is None else other.data.view(np.uint16)
        loaded = interpreter._interpreter.load(pointers.data, mask.data, bits, np.dtype(np.uint16))
        return handle(loaded.view(BFLOAT16), pointers.get_element_ty())

    def masked_store(self: Any, pointers: Any, value: Any, mask: Any, *options: Any) -> Any:
        if value.data.dtype == BFLOAT16:
            value = handle(np.ascontiguousarray(value.data).view(np.uint16), value.dtype)
        return store(self, pointers, value, mask, *options)

    def binary_op(self: Any, left: Any, right: Any, operation: Any) -> Any:
        # A comparison's result would pass for a number of the operands' type, and become one when it is broadcast.
        result = compute(self, left, right, operation)
        return handle(result.data, int1) if result.data.dtype == np.bool_ else result

    def cast(self: Any, source: Any, target: Any, *rounding: Any) -> Any:
        return handle(source.data.astype(with_bfloat16(target)), target.scalar)

    def from_float(self: Any, source: Any, target: Any, *rounding: Any) -> Any:
        return (cast if "bf16" in (source.dtype.scalar.name, target.scalar.name) else convert)(self, source, target, *rounding)

    def dot(self: Any, a: Any, b: Any, total: Any, *precision: Any) -> Any:
        # Products in float32, as the hardware's units sum them; the interpreter's own would be of the operands' bits.
        wide = np.float64 if a.data.dtype == np.float64 else np.float32
        product = np.matmul(a.data.astype(wide), b.data.astype(wide))
        return handle((product + total.data).astype(total.data.dtype), total.dtype.scalar)

    def with_index(tensor: Any, scope: Any) -> None:
        # A scalar is an array of one element, which NumPy 2.5 does not take for a number: Triton 3.6 relies on it.
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    builder.create_dot = dot
    interpreter._patch_lang_tensor = with_index
    interpreter._get_np_dtype = with_bfloat16
    builder.create_masked_load, builder.create_masked_store = masked_load, masked_store
    builder.cast_impl, builder.create_fp_to_fp, builder.binary_op = cast, from_float, binary_op
    interpreted_folds.install(interpreter)
