"""tenfold.cuda's functions, memory and transfer; in the interpreter where there is no GPU."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import tenfold
from tenfold import cuda


def test_devices():
    assert cuda.is_available()
    assert cuda.device_count() >= 1
    assert cuda.current_device() == 0
    cuda.set_device(0)
    cuda.set_device("cuda:0")
    cuda.set_device(-1)
    with cuda.device(0):
        assert tenfold.zeros(2, device="cuda").device == tenfold.device("cuda:0")
    assert isinstance(cuda.get_device_name(), str)
    assert cuda.get_device_capability() == (cuda.get_device_properties().major, cuda.get_device_properties().minor)
    assert cuda.is_bf16_supported()
    cuda.synchronize()


def test_devices_that_are_not_there():
    with pytest.raises(AssertionError, match="Invalid device id: 99"):
        cuda.get_device_properties(99)
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        cuda.set_device("cpu")
    with pytest.raises(RuntimeError, match="cuda:99: invalid index"):
        tenfold.zeros(2, device="cuda:99")


def test_memory_is_counted():
    cuda.reset_peak_memory_stats()
    assert cuda.max_memory_allocated() >= 0
    assert cuda.memory_reserved() >= cuda.memory_allocated() >= 0
    free, total = cuda.mem_get_info()
    assert 0 < free <= total
    assert cuda.get_device_properties().total_memory > 0
    assert free <= total
    cuda.empty_cache()


def test_streams_and_events():
    side, start, end = cuda.Stream(), cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    start.record()
    with cuda.stream(side):
        x = tenfold.ones(4, device="cuda") + 1
    end.record(side)
    cuda.current_stream().wait_stream(side)
    side.synchronize()
    end.synchronize()
    assert x.tolist() == [2.0] * 4
    assert end.query()
    assert side.query()
    assert start.elapsed_time(end) >= 0
    assert side.device == tenfold.device("cuda:0")
    assert cuda.current_stream() == cuda.default_stream()
    with pytest.raises(RuntimeError, match="enable_timing=True"):
        cuda.Event().elapsed_time(end)
    with pytest.raises(ValueError, match="several processes"):
        cuda.Event(enable_timing=True, interprocess=True)


def test_seeds_restart_the_devices_numbers():
    cuda.manual_seed(3)
    first = tenfold.rand(3, device="cuda").tolist()
    cuda.manual_seed_all(3)
    assert tenfold.rand(3, device="cuda").tolist() == first
    assert cuda.initial_seed() == 3
    tenfold.manual_seed(4)
    assert cuda.initial_seed() == 4


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16", "int64", "bool", "complex64"])
def test_transfer_keeps_every_bit(name):
    dtype = getattr(tenfold, name)
    x = (tenfold.arange(12).reshape(3, 4) % 5).to(dtype)
    assert x.cuda().cpu().equal(x)
    assert x.t().cuda().cpu().equal(x.t())
    assert x[:, ::2].cuda().cuda().cpu().equal(x[:, ::2])
    assert x[0, 0].cuda().item() == x[0, 0].item()


def test_views_share_memory_and_copies_do_not():
    x = tenfold.arange(12.0, device="cuda").reshape(3, 4)
    for view in (x.t(), x[1:, ::2], x.view(4, 3), x.unsqueeze(0).expand(2, 3, 4), x.diagonal(), x.view(tenfold.int32)):
        assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    y = x.clone()
    y.fill_(0)
    assert x.sum().item() == 66
    assert x.view(tenfold.int32).tolist() == np.arange(12, dtype=np.float32).reshape(3, 4).view(np.int32).tolist()


def test_as_strided_stays_inside_the_memory():
    x = tenfold.zeros(6, device="cuda")
    assert x.as_strided((2, 3), (3, 1), 0).shape == (2, 3)
    with pytest.raises(RuntimeError, match="out of bounds for storage of size"):
        x.as_strided((4, 3), (3, 1), 0)


def test_storage_and_deep_copies():
    x = tenfold.arange(4, device="cuda")
    assert x.untyped_storage().nbytes() >= 32
    twin = copy.deepcopy(x)
    twin.add_(1)
    assert twin.device == x.device
    assert (x.tolist(), twin.tolist()) == ([0, 1, 2, 3], [1, 2, 3, 4])


@pytest.mark.parametrize("masked", [False, True])
def test_gradients_of_sparse_tensors_are_checked_on_the_device(masked):
    pytest.importorskip("tenfold.sparse")
    at, values = tenfold.tensor([[0, 1, 1], [2, 0, 2]]), tenfold.tensor([3.0, 4.0, 5.0], dtype=tenfold.float64)
    x = tenfold.sparse_coo_tensor(at, values, (2, 4), device="cuda").requires_grad_()
    assert tenfold.autograd.gradcheck(lambda x: x.to_dense(masked_grad=masked), (x,), masked=masked)


DENSE = {"a row for each": ([(2, 3), (0, 3), (4, 3)], (3, 1, 3)), "a number for each": ([(2,), (5,)], (2, 1)),
         "a number for each channel": ([(3, 2, 2), (3, 1, 4)], (3, 1, 1))}  # fmt: skip


@pytest.mark.parametrize("name", DENSE)
def test_nested_and_dense_tensors_are_added_and_multiplied(name):
    nested = pytest.importorskip("tenfold.nested")
    sizes, size = DENSE[name]
    rows, given = [tenfold.randn(*s) for s in sizes], tenfold.randn(*size)
    for call in (lambda a, b: a + b, lambda a, b: a * b, lambda a, b: tenfold.add(a, b, alpha=2)):
        x, dense = nested.nested_tensor(rows, device="cuda", requires_grad=True), given.cuda().requires_grad_()
        got = call(x, dense)
        parts, whole = [r.clone().requires_grad_() for r in rows], given.clone().requires_grad_()
        expected = [call(r, whole if name.endswith("channel") else whole[i]) for i, r in enumerate(parts)]
        for a, b in zip(got.unbind(), expected, strict=True):
            assert a.cpu().allclose(b)
        for found in (got.unbind(), expected):
            sum(r.square().sum() for r in found).backward()
        assert dense.grad.cpu().allclose(whole.grad, atol=1e-5)
        assert all(a.cpu().allclose(b.grad, atol=1e-5) for a, b in zip(x.grad.unbind(), parts, strict=True))
    with pytest.raises(RuntimeError, match="Expected both self and other to be nested"):
        x - dense


def test_nested_tensors_are_padded_on_the_device():
    nested = pytest.importorskip("tenfold.nested")
    rows = [tenfold.arange(4.0).reshape(2, 2), tenfold.ones(1, 3)]
    x = nested.nested_tensor([row.cuda() for row in rows])
    padded = nested.to_padded_tensor(x, -1.0)
    assert padded.device.type == "cuda"
    assert padded.cpu().equal(nested.to_padded_tensor(nested.nested_tensor(rows), -1.0))
