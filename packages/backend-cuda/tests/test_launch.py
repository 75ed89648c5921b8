"""The launch path, with a stand-in for the driver that remembers what it was given."""

from __future__ import annotations

import ast
import contextlib
import ctypes
import inspect
import struct
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tenfold.cuda
from tenfold.cuda import aot, compilation, cublas, launch
from tenfold.cuda.kernels import geometry
from tenfold.cuda.kernels.generation import Generated


class Driver:
    """CuPy's module and launch functions: launches are read back from the addresses that they were given."""

    def __init__(self):
        self.launched, self.compiled, self.attributes = [], [], []

    def launchKernel(self, function, *given):
        grid, block, shared, stream, table = given[:3], given[3:6], given[6], given[7], given[8]
        slots = [struct.pack("<Q", ctypes.c_uint64.from_address(ctypes.c_uint64.from_address(table + 8 * i).value).value)
                 for i in range(self.slots)]  # fmt: skip
        self.launched.append((function, grid, block, shared, stream, slots))

    def funcSetAttribute(self, function, attribute, value):
        self.attributes.append((function, attribute, value))


@pytest.fixture
def machine(monkeypatch):
    driver = Driver()

    class Module:
        def load(self, cubin):
            assert cubin == b"code"

        def get_function(self, name):
            return SimpleNamespace(ptr=7)

    class Device(contextlib.nullcontext):
        compute_capability = "90"

    cuda = SimpleNamespace(
        Module=Module, Device=Device, driver=driver, get_current_stream=lambda: SimpleNamespace(ptr=99),
        runtime=SimpleNamespace(getDevice=lambda: 0, setDevice=lambda index: None, deviceGetAttribute=lambda *_: 232_448),
    )  # fmt: skip

    def compile_for(capability, kernel, signature, divisible):
        driver.compiled.append((capability, kernel.name, signature, divisible))
        metadata = SimpleNamespace(name=kernel.name, shared=driver.shared, num_warps=4)
        return SimpleNamespace(asm={"cubin": b"code"}, metadata=metadata)

    driver.shared = 0
    monkeypatch.setattr(launch, "compile_for", compile_for)
    monkeypatch.setattr(launch, "_loaded", {})
    return SimpleNamespace(cuda=cuda), driver


def array_at(address):
    return SimpleNamespace(data=SimpleNamespace(ptr=address))


KERNEL = Generated("leaky_relu", "f", ("linear", "linear", "number"), ("", ""), 0, False)
SIGNATURE = ("*fp32", "*fp32", "fp32", "i32")


def test_arguments_arrive_where_the_driver_reads_them(machine):
    cupy, driver = machine
    driver.slots = 6
    launch.launch(cupy, KERNEL, SIGNATURE, (array_at(1024), array_at(2056), 0.25, 3000), 3000, 0)
    function, grid, block, shared, stream, slots = driver.launched[0]
    assert (function, grid, block, shared, stream) == (7, (3, 1, 1), (128, 1, 1), 0, 99)
    assert struct.unpack("<Q", slots[0]) == (1024,)
    assert struct.unpack("<Q", slots[1]) == (2056,)
    assert struct.unpack("<f4x", slots[2]) == (0.25,)
    assert struct.unpack("<i4x", slots[3]) == (3000,)
    assert slots[4:] == [bytes(8)] * 2


def test_a_kernel_is_compiled_once_per_alignment(machine):
    cupy, driver = machine
    driver.slots = 6
    for address, count in ((1024, 64), (2048, 128), (1028, 64), (1024, 65)):
        launch.launch(cupy, KERNEL, SIGNATURE, (array_at(address), array_at(4096), 1.0, count), count, 0)
    assert [divisible for *_, divisible in driver.compiled] == [(0, 1, 3), (1, 3), (0, 1)]
    assert len(driver.launched) == 4


def test_much_shared_memory_is_asked_for(machine):
    cupy, driver = machine
    driver.slots, driver.shared = 6, 60_000
    launch.launch(cupy, KERNEL, SIGNATURE, (array_at(0), array_at(0), 1.0, 1), 1, 0)
    assert driver.attributes == [(7, 8, 60_000)]


@pytest.mark.parametrize(
    ("shape", "arrays", "expected"),
    [
        ((2, 3), [((2, 3), (12, 4)), ((2, 3), (12, 4))], ((6,), ((1,), (1,)))),
        ((2, 3), [((2, 3), (12, 4)), ((3,), (4,))], ((2, 3), ((3, 1), (0, 1)))),
        ((2, 3), [((2, 3), (4, 8)), ((2, 3), (4, 8))], ((6,), ((1,), (1,)))),
        ((4, 1, 5), [((4, 1, 5), (20, 20, 4)), ((), ())], ((20,), ((1,), (0,)))),
        ((), [((), ()), ((), ())], ((), ((), ()))),
    ],
)
def test_dimensions_are_merged(shape, arrays, expected):
    assert geometry.merged(shape, tuple((own, strides, 4) for own, strides in arrays)) == expected


def test_sixty_four_bit_positions_are_used_where_they_are_needed():
    from tenfold.cuda.kernels.elementwise import plan

    F32 = np.dtype(np.float32)
    small, large = (plan("exp", "f", (((n,), (4,), F32), ((n,), (4,), F32))) for n in (2**20, 2**31))
    assert (small[0].wide, small[1][-1]) == (False, "i32")
    assert (large[0].wide, large[1][-1]) == (True, "i64")


def test_cublas_reads_rows_columns_and_batches():
    assert cublas.layout((4, 6), (6, 1)) == (cublas.NOT_TRANSPOSED, 6, 0)
    assert cublas.layout((4, 6), (1, 4)) == (cublas.TRANSPOSED, 4, 0)
    assert cublas.layout((3, 4, 6), (0, 8, 1)) == (cublas.NOT_TRANSPOSED, 8, 0)
    assert cublas.layout((4, 6), (0, 1)) is None
    assert cublas.layout((1, 6), (0, 1)) == (cublas.NOT_TRANSPOSED, 6, 0)


def test_products_by_a_model_of_cublas(monkeypatch):
    """gemmStridedBatchedEx modelled on its documentation, column by column."""

    computes = []

    def read(address, op, rows, columns, lead, batch, i):
        memory = memories[address].reshape(-1)
        shape, steps = ((rows, columns), (1, lead)) if op == cublas.NOT_TRANSPOSED else ((columns, rows), (1, lead))
        block = np.lib.stride_tricks.as_strided(memory[i * batch :], shape, [memory.itemsize * s for s in steps])
        return (block if op == cublas.NOT_TRANSPOSED else block.T).astype(np.float32)

    def gemm(handle, opa, opb, m, n, k, alpha, A, ta, lda, sa, B, tb, ldb, sb, beta, C, tc, ldc, sc, count, compute, algo):
        computes.append((ta, tb, tc, compute, algo))
        for i in range(count):
            product = read(A, opa, m, k, lda, sa, i) @ read(B, opb, k, n, ldb, sb, i)
            memories[C].reshape(-1)[i * sc : i * sc + m * n].reshape(n, m)[...] = product.T

    memories = {}

    def pointer(array):
        owner = array if array.base is None else array.base
        memories[owner.ctypes.data] = owner
        assert array.ctypes.data == owner.ctypes.data
        return owner.ctypes.data

    import sys

    handles = SimpleNamespace(get_cublas_handle=lambda: 1)
    for name, module in {
        "cupy": SimpleNamespace(cuda=handles), "cupy.cuda": handles, "cupy_backends": SimpleNamespace(),
        "cupy_backends.cuda": SimpleNamespace(),
        "cupy_backends.cuda.libs": SimpleNamespace(cublas=SimpleNamespace(gemmStridedBatchedEx=gemm)),
    }.items():  # fmt: skip
        monkeypatch.setitem(sys.modules, name, module)
    module = SimpleNamespace(cuda=SimpleNamespace(Device=contextlib.nullcontext))
    now = SimpleNamespace(
        empty=lambda shape, dtype, index: np.zeros(int(np.prod(shape)), dtype).reshape(shape), index_of=lambda a: 0,
        pointer=pointer, module=module,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    half = lambda *shape: rng.integers(-3, 4, shape).astype(np.float16)  # noqa: E731
    cases = [(half(4, 6), half(6, 5)), (half(6, 4).T, half(6, 5)), (half(4, 6), half(5, 6).T), (half(3, 4, 6), half(3, 6, 5)),
             (half(3, 6, 4).transpose(0, 2, 1), half(3, 5, 6).transpose(0, 2, 1)), (half(1, 6), half(6, 1))]  # fmt: skip
    for a, b in cases:
        np.testing.assert_array_equal(cublas.product(now, a, b), (a.astype("f4") @ b.astype("f4")).astype("f2"))
    assert set(computes) == {(2, 2, 2, 68, -1)}
    a, b = cases[0]
    for dtype, allowed, number, compute in (("f4", False, 0, 68), ("f4", True, 0, 77), ("f8", True, 1, 70)):
        monkeypatch.setattr(cublas, "products_in_tf32", lambda allowed=allowed: allowed)
        x, y = a.astype(dtype), b.astype(dtype)
        np.testing.assert_array_equal(cublas.product(now, x, y), x @ y)
        assert computes[-1] == (number, number, number, compute, -1)


SOURCES = sorted(Path(inspect.getfile(tenfold.cuda)).parent.rglob("*.py"))


def test_every_function_taken_from_the_array_module_is_in_cupy():
    cupy = pytest.importorskip("cupy", reason="CuPy is the extra gpu")
    from tenfold.cuda.kernels.pointwise import ARRAY_FUNCTIONS

    names = set(ARRAY_FUNCTIONS.values()) | {"sum", "prod", "amax", "amin", "argmax", "argmin", "all", "any", "cumsum", "cumprod"}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "xp":
                names.add(node.attr)
    assert len(names) > 50
    assert [name for name in sorted(names) if not hasattr(cupy, name)] == []


def test_compiling_in_a_process_that_interprets_is_refused():
    if not tenfold.cuda.runtime.is_replaced():
        pytest.skip("this process compiles")
    with pytest.raises(RuntimeError, match="this process interprets kernels"):
        compilation.jitted(aot.variant("add", "float32").kernel)


def test_why_a_driver_refused_a_launch_is_told_by_the_kernels_name(machine, monkeypatch):
    cupy, driver = machine

    def refuse(*given):
        raise ValueError("CUDA_ERROR_INVALID_VALUE: invalid argument")

    monkeypatch.setattr(driver, "launchKernel", refuse)
    given = SIGNATURE, (array_at(1024), array_at(2048), 1.0, 16)
    for grid in ((1, 65536), (1, 1, 65536), (2**31,)):
        with pytest.raises(RuntimeError, match=f"leaky_relu.*a launch of {' x '.join(map(str, grid))} programs is larger"):
            launch.launch_grid(cupy, KERNEL, *given, grid, 0)
    with pytest.raises(ValueError, match="CUDA_ERROR_INVALID_VALUE"):  # what else the driver refuses is its own to tell
        launch.launch_grid(cupy, KERNEL, *given, (2**31 - 1, 65535, 65535), 0)
