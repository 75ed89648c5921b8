"""What a program for the CPU brings along when its tensors move to the device, and what is refused there as on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.nn import functional as F


def test_indices_on_the_cpu_follow_the_tensor():
    x, i = tenfold.arange(6.0).reshape(2, 3), tenfold.tensor([1, 0, 1])
    y = x.cuda()
    assert y[i].cpu().equal(x[i])
    assert y[:, i, None].cpu().equal(x[:, i, None])
    assert y[i, i.cuda()].cpu().equal(x[i, i])
    assert y[x > 2].cpu().equal(x[x > 2])
    leaf = x.cuda().requires_grad_()
    leaf[i].sum().backward()
    assert leaf.grad.tolist() == [[1] * 3, [2] * 3]
    y[i[:2]] = -y
    y[x > 4] = 9.0
    y.index_put_((i,), tenfold.tensor(1.0), accumulate=True)
    assert y.tolist() == [[-2, -3, -4], [2, 1, 11]]
    with pytest.raises(RuntimeError, match="at least two devices, cpu and cuda:0"):
        x[i.cuda()]
    with pytest.raises(RuntimeError, match=r"index_put: .* at least two devices, cuda:0 and cpu"):
        y[i] = x[i]


def test_another_device_gives_a_shape_but_no_indices_along_a_dimension():
    x, i = tenfold.arange(6.0, device="cuda").reshape(2, 3), tenfold.zeros(1, 3, dtype=tenfold.int64, device="cuda")
    there = tenfold.zeros(3, 2)
    assert x.view_as(there).tolist() == x.reshape_as(there).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert there.type_as(x.int()).device == x.device
    assert x[0].expand_as(there.T).tolist() == [[0, 1, 2]] * 2
    for a, b in ((x, i.cpu()), (x.cpu(), i)):
        with pytest.raises(RuntimeError, match=f"Expected tensor to have {a.device} Device, but got tensor with {b.device}"):
            tenfold.take_along_dim(a, b, 0)


def test_a_tensor_of_another_device_and_order_is_refused_for_its_order():
    with pytest.raises(RuntimeError, match="diff expects prepend or append to be the same dimension"):
        tenfold.ones(2, 3).diff(dim=0, prepend=tenfold.ones(3, device="cuda"))
    with pytest.raises(RuntimeError, match="at least two devices"):
        tenfold.ones(2, 3).diff(dim=0, prepend=tenfold.ones(1, 3, device="cuda"))
    with pytest.raises(RuntimeError, match=r"block_diag: .* Input 0 is on device cpu and input 1 is on device cuda:0"):
        tenfold.block_diag(tenfold.ones(2), tenfold.ones(2, device="cuda"))


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "bool"])
def test_memory_is_shared_by_dlpack_in_every_dtype(dtype):
    x = tenfold.arange(6, device="cuda").reshape(2, 3).to(getattr(tenfold, dtype)).T
    y = tenfold.from_dlpack(x)
    assert (y.dtype, y.device, y.stride(), y.data_ptr()) == (x.dtype, x.device, x.stride(), x.data_ptr())
    assert y.tolist() == x.tolist()
    y[0, 0] = 1
    assert x[0, 0].item() == 1


def test_typed_constructors_advise_the_other_ones():
    with pytest.warns(UserWarning, match=r"torch.cuda.\*DtypeTensor constructors are no longer recommended"):
        x = tenfold.cuda.FloatTensor([1, 2])
    assert x.device.type == "cuda"
    assert isinstance(tenfold.cuda.FloatTensor([1]), tenfold.cuda.FloatTensor)


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor:UserWarning")
def test_a_default_device_takes_arrays_and_tensors():
    x, array = tenfold.arange(3), np.arange(3)
    for make in (tenfold.tensor, tenfold.as_tensor, tenfold.asarray):
        assert make(x).device.type == make(array).device.type == "cpu"
        assert make(x.cuda()).device.type == "cuda"
        with tenfold.device("cuda"):
            assert make(x).device == make(array).device == make([0, 1]).device == tenfold.device("cuda:0")
            assert make(x, device="cpu").device.type == "cpu"
            assert make(array).tolist() == [0, 1, 2]
    assert tenfold.cat([x[:0].cuda()] * 2, dim=1).shape == (0,)


def test_an_output_says_on_which_device_its_factory_works():
    makers = (
        lambda out: tenfold.zeros(2, 3, out=out), lambda out: tenfold.full((2, 3), 1.0, out=out),
        lambda out: tenfold.eye(3, out=out), lambda out: tenfold.arange(5, out=out),
        lambda out: tenfold.linspace(0, 1, 5, out=out), lambda out: tenfold.empty(4, out=out),
    )  # fmt: skip
    for make in makers:
        out = tenfold.empty(0, device="cuda")
        assert make(out) is out
        assert out.shape == make(tenfold.empty(0)).shape
        assert make is makers[-1] or out.cpu().equal(make(tenfold.empty(0)))
    assert tenfold.randn(2, 3, out=out).shape == (2, 3)
    assert sorted(tenfold.randperm(5, out=out.long().resize_(0)).tolist()) == list(range(5))
    with pytest.raises(RuntimeError, match="out is on cuda:0, not cpu"):
        tenfold.zeros(2, device="cpu", out=out)


def test_labels_and_lengths_of_ctc_are_read_on_the_host():
    x = tenfold.tensor([[[3.0, 1, 2]], [[1, 2, 0]], [[0, 1, 5]]])
    given = tenfold.tensor([[1, 2]]), tenfold.tensor([3]), tenfold.tensor([2])
    expected = F.ctc_loss(x.log_softmax(2), *given)
    for there in (given, [t.cuda() for t in given], (given[0].cuda(), *given[1:])):
        got = F.ctc_loss(x.cuda().log_softmax(2), *there)
        assert got.device.type == "cuda"
        assert abs(got.item() - expected.item()) < 1e-5


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
def test_complex_memory_takes_real_numbers(dtype):
    x = tenfold.arange(6).reshape(2, 3).to(getattr(tenfold, dtype)).cuda()
    z = tenfold.zeros(2, 3, dtype=tenfold.complex64, device="cuda")
    assert z.copy_(x).tolist() == x.tolist()
    assert tenfold.logical_or(x, x, out=z).tolist() == x.bool().tolist()
    assert z.fill_(x[0, 1]).tolist() == [[1] * 3] * 2
    assert z.t().fill_(2j).tolist() == [[2j] * 2] * 3
    assert tenfold.cat([x, x], out=tenfold.empty(0, dtype=z.dtype, device="cuda")).tolist() == [*x.tolist(), *x.tolist()]


def test_real_parts_are_copies_and_imaginary_numbers_are_true():
    z = tenfold.tensor([[1 + 2j, 0], [3j, 0.5]], dtype=tenfold.complex64, device="cuda")
    for dtype in (tenfold.float32, tenfold.float64, tenfold.bfloat16, tenfold.int32):
        x = z.to(dtype)
        assert (x.tolist(), x.stride()) == (z.real.to(dtype).tolist(), (2, 1))
        x.fill_(7)
    assert z.real.tolist() == [[1, 0], [0, 0.5]]
    assert z.bool().tolist() == z.cpu().bool().tolist() == [[True, False], [True, True]]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "uint8", "complex128"])
def test_filled_tensors_are_memory_of_their_own(dtype):
    x = tenfold.ones(3, 2).to(getattr(tenfold, dtype)).cuda().t()
    value = tenfold.tensor(2.5)
    for found in (tenfold.fill(x, 2.5), tenfold.fill(x, value.cuda()), tenfold.fill(x, value)):
        assert found.dtype is x.dtype
        assert found.stride() == x.stride()
        found[0, 0] = 7
        expected = tenfold.fill(x.cpu(), 2.5)
        expected[0, 0] = 7
        assert found.tolist() == expected.tolist()
    x[1:].fill_(3)
    assert x.tolist() == [[1] * 3, [3] * 3]
    if x.is_floating_point():
        leaf = tenfold.tensor(2.0, dtype=x.dtype, device="cuda", requires_grad=True)
        tenfold.fill(x, leaf).sum().backward()
        assert leaf.grad.item() == 6
        assert tenfold.fill(x.detach().requires_grad_(), 1).requires_grad


def test_what_does_not_fit_is_not_filled():
    with pytest.raises(RuntimeError, match="without overflow"):
        tenfold.ones(2, dtype=tenfold.float16, device="cuda").fill_(1e10)


def test_half_precision_rounds_a_quotient_before_it_is_cut():
    for dtype in (tenfold.bfloat16, tenfold.float16):
        a, b = (tenfold.arange(1, 40).to(dtype) for _ in range(2))
        pairs = a[:, None].expand(39, 39) * 1.1, b * 0.3
        expected = tenfold.div(*pairs, rounding_mode="trunc")
        there = [t.cuda() for t in pairs]
        assert tenfold.div(*there, rounding_mode="trunc").cpu().equal(expected)
        assert there[0].clone().div_(there[1], rounding_mode="trunc").cpu().equal(expected)
        assert tenfold.div(there[0], 1.7, rounding_mode="trunc").cpu().equal(tenfold.div(pairs[0], 1.7, rounding_mode="trunc"))


def test_flipped_tensors_lie_as_they_lay():
    x = tenfold.arange(24.0).reshape(2, 3, 4)
    for y in (x.transpose(0, 2), x.permute(1, 2, 0), x[:, :, ::2].transpose(0, 1), x[0].expand(2, 3, 4)):
        for dims in ((0,), (1, 2), (0, 1, 2)):
            expected, got = y.flip(dims), y.cuda().flip(dims)
            assert got.cpu().equal(expected)
            assert got.stride() == expected.stride()
            assert y.clone().stride() == y.cuda().clone().stride() == y.cuda().cpu().clone().stride()


def test_what_the_shape_rules_refuse():
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        tenfold.ones(3, device="cuda").tril()
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        tenfold.tensor(1.0, device="cuda").triu()
    with pytest.raises(IndexError, match="out of bounds for dimension with size 0"):
        tenfold.ones(2, 0, 4, device="cuda")[:, [0, 1]] = 1


@pytest.mark.filterwarnings("ignore:ComplexHalf support")  # told once in a process
def test_dtypes_that_the_device_lacks_are_named():
    x = tenfold.ones(3, device="cuda")
    for dtype in (tenfold.complex32, tenfold.float8_e4m3fnuz):
        with pytest.raises(TypeError, match=f"has no dtype {dtype.name}; it has bool"):
            x.to(dtype)
    with pytest.raises(TypeError, match="has no dtype complex32; it has bool"):
        tenfold.empty(3, dtype=tenfold.complex32, device="cuda")
