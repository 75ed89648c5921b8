"""What only a GPU can show: compiled kernels on large arrays, caching, streams, memory, cuBLAS, Triton's own launches.

The other tests of this folder run on the GPU too where there is one.
"""

from __future__ import annotations

import subprocess
import sys

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


def test_more_elements_than_32_bits_count():
    n = 2**31 + 4099
    x = tenfold.zeros(n, dtype=tenfold.int8, device="cuda")
    x[2**31], x[-1] = 2, 3
    assert [x.sum().item(), x.argmax().item(), (x + x)[-1].item(), (x != 0).sum().item()] == [5, n - 1, 6, 2]
    assert x[tenfold.tensor([2**31, n - 1], device="cuda")].tolist() == [2, 3]
    assert tenfold.cat([x[-3:], x])[-1].item() == 3
    assert x.flip(0)[0].item() == 3
    del x
    rows = tenfold.zeros(2**15 + 3, 2**16, dtype=tenfold.float16, device="cuda")
    rows[-1, -1] = 1
    assert rows.softmax(1)[-1].float().sum().item() == pytest.approx(1, rel=1e-2)
    assert rows.t().contiguous()[-1, -1].item() == rows[:, 1:].clone()[-1, -1].item() == 1
    assert rows.sum(0)[-1].item() == rows.sum(1)[-1].item() == rows.amax(0)[-1].item() == 1


def busy(stream):
    """Give a stream work for some milliseconds, so that what is given to it next comes late."""
    with cuda.stream(stream):
        a = tenfold.ones(4096, 4096, device="cuda")
        for _ in range(10):
            a = a @ a * 1e-4
    return a


@pytest.mark.parametrize(
    "call",
    [
        lambda x: tenfold.nn.functional.interpolate(x[None, None], scale_factor=1.5, mode="bilinear"),
        lambda x: x.to(tenfold.float8_e4m3fn).float(),
        lambda x: tenfold.fft.fft(x).abs(),
        lambda x: x.sum(),
        lambda x: x.cumsum(0),
    ],
    ids=["interpolate", "float8", "fft", "sum", "cumsum"],
)
def test_streams_do_not_use_what_another_one_has_not_made_yet(call):
    x = tenfold.randn(311, 517)
    there, expected = x.cuda(), call(x)
    cuda.synchronize()
    streams = [cuda.Stream() for _ in range(3)]
    held = [busy(stream) for stream in streams[:2]]
    found = []
    for stream in [*streams, *streams]:
        with cuda.stream(stream):
            found.append(call(there))
    cuda.synchronize()
    for got in found:
        close(got, expected, rtol=1e-4)
    assert held


@pytest.mark.skipif(availability.probe()[0] < 2, reason="needs two GPUs")
def test_a_copy_to_another_gpu_is_done_before_what_comes_next():
    for _ in range(20):
        x, y = tenfold.ones(1 << 24, device="cuda:0"), tenfold.ones(4096, 4096, device="cuda:1")
        y = y @ y  # the copy waits for it
        there, turned = x.to("cuda:1"), x.view(4096, 4096)[:, :64].t().to("cuda:1")
        x.mul_(2)  # which waits for the copy
        assert there.sum().item() == 1 << 24
        assert turned.sum().item() == 4096 * 64


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64, tenfold.bfloat16], ids=str)
def test_draws_are_within_their_laws(dtype):
    x = tenfold.empty(1 << 26, dtype=dtype, device="cuda")
    assert x.normal_().isfinite().all()
    assert abs(x.double().mean().item()) < 1e-3
    assert x.exponential_().isfinite().all()
    assert (x >= 0).all()
    assert x.cauchy_().isnan().logical_not().all()
    assert x.log_normal_().isfinite().all()
    assert ((x.uniform_() >= 0) & (x < 1)).all()
    assert (x.geometric_(0.3) >= 1).all()


def test_a_replayed_graph_counts_and_draws_anew():
    x = tenfold.randn(1 << 22, device="cuda")
    work = lambda: (x.sum(), tenfold.nn.functional.dropout(x, 0.5), x @ x)  # noqa: E731
    side, graph = cuda.Stream(), cuda.CUDAGraph()
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        work()
    cuda.current_stream().wait_stream(side)
    with cuda.graph(graph):
        total, dropped, product = work()
    seen = []
    for k in range(3):
        x.fill_(k + 1.0)
        graph.replay()
        assert total.item() == (k + 1) << 22
        assert product.item() == pytest.approx((k + 1) ** 2 << 22)
        kept = dropped != 0
        assert kept.double().mean().item() == pytest.approx(0.5, abs=1e-2)
        seen.append(kept.clone())
    assert not seen[0].equal(seen[1])


def test_what_fails_leaves_the_gpu_as_it_was():
    with pytest.raises(cuda.OutOfMemoryError):
        tenfold.empty(1 << 45, device="cuda")
    x = tenfold.arange(10, device="cuda")
    with pytest.raises(RuntimeError, match="out of bounds"):
        x[tenfold.tensor([12], device="cuda")].tolist()
    assert (x + 1).sum().item() == 55


def test_a_process_ends_without_a_word():
    text = (
        "import tenfold; s = tenfold.cuda.Stream(); x = tenfold.ones(64, 64, device='cuda'); x.record_stream(s); "
        "kept = [(x @ x).sum(), x.pin_memory() if x.device.type == 'cpu' else x.cpu().pin_memory().cuda(non_blocking=True)]"
    )
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
