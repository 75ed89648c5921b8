"""What only a GPU can show: compiled kernels on large arrays, caching, streams, memory, cuBLAS, Triton's own launches.

The other tests of this folder run on the GPU too where there is one.
"""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold import cuda
from tenfold.cuda import availability, launch, runtime

pytestmark = pytest.mark.skipif(
    availability.probe()[0] == 0, reason=f"needs an NVIDIA GPU: {availability.probe()[1] or 'there is one'}"
)


def close(got, expected, rtol=1e-5):
    np.testing.assert_allclose(got.cpu().double().numpy(), expected.double().numpy(), rtol=rtol, atol=1e-6)


@pytest.mark.parametrize("name", ["exp", "log1p", "tanh", "erf", "sigmoid", "sin", "rsqrt"])
def test_large_arrays(name):
    x = tenfold.rand(1_000_003) * 4 + 0.1
    close(getattr(x.cuda(), name)(), getattr(x, name)())


def test_large_strided_arrays():
    x = tenfold.rand(1003, 517)
    close(x.cuda().t() * 2 + x.cuda()[:, :1].t(), x.t() * 2 + x[:, :1].t())
    close(x.cuda()[::2, 1:].bfloat16().exp(), x[::2, 1:].bfloat16().exp(), rtol=2e-2)


@pytest.mark.parametrize(
    ("shape", "dim"), [((1 << 22,), 0), ((1 << 16, 64), 0), ((3000, 1001), 1), ((64, 16, 49, 30), (0, 2, 3))]
)
def test_large_reductions(shape, dim):
    x = tenfold.randn(shape)
    calls = (
        lambda x: x.sum(dim),
        lambda x: x.var(dim),
        lambda x: x.amax(dim),
        lambda x: x.logsumexp(dim),
        lambda x: x.norm(3, dim),
    )
    for call in calls:
        close(call(x.cuda()), call(x.double()), rtol=1e-4)
        close(call(x.cuda()), call(x.double()), rtol=1e-4)  # by the plan of the first call, and its counters
    first = dim if isinstance(dim, int) else dim[0]
    assert x.cuda().argmax(first).cpu().equal(x.argmax(first))
    assert x.cuda().max(first).indices.cpu().equal(x.max(first).indices)


@pytest.mark.parametrize(("shape", "dim"), [((1 << 22,), 0), ((1 << 16, 64), 0), ((3000, 1001), 1)])
def test_large_scans(shape, dim):
    x = tenfold.rand(shape)
    close(x.cuda().cumsum(dim), x.double().cumsum(dim), rtol=1e-5)
    close(x.cuda().logcumsumexp(dim), x.double().logcumsumexp(dim), rtol=1e-4)
    assert x.cuda().cummax(dim).indices.cpu().equal(x.cummax(dim).indices)


def test_a_second_call_compiles_nothing():
    x = tenfold.rand(64, device="cuda")
    x.exp()
    before = len(launch._loaded)
    for _ in range(3):
        x.exp()
    assert len(launch._loaded) == before


@pytest.mark.parametrize("dtype", [tenfold.float16, tenfold.bfloat16, tenfold.float32], ids=str)
@pytest.mark.parametrize(("a", "b"), [((64, 96), (96, 32)), ((5, 64, 96), (5, 96, 32)), ((7, 13), (13, 3))])
def test_products(a, b, dtype):
    x, y = tenfold.randn(a).to(dtype), tenfold.randn(b).to(dtype)
    expected = x.float() @ y.float()
    tolerance = 1e-4 if dtype is tenfold.float32 else 2e-2
    for left, right in ((x.cuda(), y.cuda()), (x.cuda().mT.contiguous().mT, y.cuda().mT.contiguous().mT)):
        got = (left @ right).cpu().float().numpy()
        np.testing.assert_allclose(got, expected.numpy(), rtol=tolerance, atol=tolerance * 10)


def test_memory_is_used_and_given_back():
    cuda.empty_cache()
    cuda.reset_peak_memory_stats()
    before = cuda.memory_allocated()
    x = tenfold.zeros(1 << 20, device="cuda")
    assert cuda.memory_allocated() >= before + 4 * 2**20
    assert cuda.max_memory_allocated() >= before + 4 * 2**20
    del x
    assert cuda.memory_allocated() <= before + 2**20
    cuda.empty_cache()
    assert cuda.memory_reserved() >= cuda.memory_allocated()


def test_work_on_another_stream():
    side = cuda.Stream()
    x = tenfold.ones(1 << 20, device="cuda")
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        assert cuda.current_stream() == side
        y = x * 3
    cuda.current_stream().wait_stream(side)
    assert y.sum().item() == 3 * (1 << 20)


def test_the_device_is_described():
    properties = cuda.get_device_properties()
    assert properties.total_memory > 2**30
    assert properties.multi_processor_count > 1
    assert cuda.get_device_capability() >= (7, 0)
    assert isinstance(runtime.current(), runtime.CupyRuntime)


def test_cupy_shares_memory_with_tensors():
    import cupy

    x = tenfold.zeros(4, device="cuda")
    x._array[...] = cupy.arange(4)
    assert x.tolist() == [0, 1, 2, 3]


def test_tritons_own_launch():
    import triton
    from triton import language as tl

    from tenfold.cuda import driver

    @triton.jit
    def double(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, 2 * tl.load(x_ptr + i, i < n), i < n)

    driver.activate()
    x = tenfold.arange(1000.0, device="cuda")
    out = tenfold.empty_like(x)
    double[(4,)](out, x, 1000, BLOCK=256)
    assert out.equal(x * 2)
