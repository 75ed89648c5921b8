"""The device "meta": shapes and dtypes without data, for every operator family, as the CPU has them."""

from __future__ import annotations

import pytest

import tenfold

FAMILIES = {
    "pointwise": [
        lambda x: x + 1,
        lambda x: x * x[:1],
        lambda x: x > 0,
        lambda x: x.exp(),
        lambda x: tenfold.where(x > 0, x, 0.0),
        lambda x: (x > 0) + 1,
        lambda x: x.to(tenfold.int64) / 2,
        lambda x: tenfold.add(x, x, alpha=2),
    ],
    "activation": [lambda x: tenfold.relu(x), lambda x: tenfold.softmax(x, 1), lambda x: tenfold.sigmoid(x)],
    "reduction": [
        lambda x: x.sum(),
        lambda x: x.sum(0),
        lambda x: x.mean((0, 1), True),
        lambda x: (x > 0).sum(),
        lambda x: x.amax(1),
        lambda x: x.cumsum(0),
    ],
    "ordering": [lambda x: x.sort(0).indices, lambda x: x.topk(2, 1).values, lambda x: x.max(1).values],
    "matmul": [lambda x: x @ x.transpose(0, 1), lambda x: x.matmul(x[0]), lambda x: x.unsqueeze(0) @ x.transpose(0, 1)],
    "indexing": [
        lambda x: x[1],
        lambda x: x[:, ::2],
        lambda x: x[..., None],
        lambda x: x.index_select(0, tenfold.zeros(4, dtype=tenfold.int64, device=x.device)),
        lambda x: x.gather(1, tenfold.zeros(2, 1, dtype=tenfold.int64, device=x.device)),
    ],
    "view": [
        lambda x: x.view(-1),
        lambda x: x.reshape(4, 2),
        lambda x: x.permute(1, 0),
        lambda x: x.unsqueeze(0).expand(5, 2, 4),
        lambda x: x.transpose(0, 1).reshape(-1),
        lambda x: x.as_strided((2, 2), (1, 2), 1),
        lambda x: x.unbind(1)[2],
        lambda x: x.detach(),
    ],
    "joining": [lambda x: tenfold.cat([x, x], 1), lambda x: tenfold.stack([x, x])],
    "conversion": [
        lambda x: x.clone(),
        lambda x: x.to(tenfold.float64),
        lambda x: x.transpose(0, 1).contiguous(),
        lambda x: x.transpose(0, 1).clone(),
    ],
    "creation": [
        lambda x: tenfold.zeros_like(x),
        lambda x: tenfold.ones(2, 3, dtype=tenfold.int32, device=x.device),
        lambda x: tenfold.arange(5, device=x.device),
        lambda x: tenfold.full((2,), 1.5, device=x.device),
    ],
}
CASES = [pytest.param(call, id=f"{family}-{i}") for family, calls in FAMILIES.items() for i, call in enumerate(calls)]


@pytest.mark.parametrize("call", CASES)
def test_shape_dtype_and_strides_are_those_of_the_cpu(call):
    on_cpu, on_meta = call(tenfold.ones(2, 4)), call(tenfold.ones(2, 4, device="meta"))
    assert on_meta.device.type == "meta"
    assert on_meta.shape == on_cpu.shape
    assert on_meta.dtype is on_cpu.dtype
    assert on_meta.stride() == on_cpu.stride()


def test_in_place_operators_change_nothing_but_the_version():
    x = tenfold.ones(2, 3, device="meta")
    version = x._version
    assert x.add_(1) is x
    assert x._version == version + 1
    with pytest.raises(RuntimeError, match=r"doesn't match the broadcast shape|must match the size"):
        x.add_(tenfold.ones(4, 2, 3, device="meta"))


def test_rules_refuse_what_the_cpu_refuses():
    x = tenfold.ones(2, 3, device="meta")
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        x @ x
    with pytest.raises(IndexError, match="Dimension out of range"):
        x.sum(2)
    with pytest.raises(RuntimeError, match="must match the size of tensor"):
        x + tenfold.ones(4, device="meta")


def test_a_meta_tensor_has_no_values():
    x = tenfold.ones(1, device="meta")
    for read in (lambda: x.item(), lambda: x.tolist(), lambda: x.to("cpu")):
        with pytest.raises((RuntimeError, NotImplementedError), match=r"no data|meta tensor"):
            read()


def test_no_memory_is_taken():
    huge = tenfold.empty(10**6, 10**6, device="meta")
    assert (huge @ huge).shape == (10**6, 10**6)
    assert huge.numel() == 10**12


def test_meta_and_cpu_do_not_mix():
    with pytest.raises(RuntimeError, match=r"add: .*two devices, meta and cpu"):
        tenfold.ones(2, device="meta") + tenfold.ones(2)


def test_gradients_flow_without_values():
    pytest.importorskip("tenfold.autograd")
    x = tenfold.ones(2, 3, device="meta", requires_grad=True)
    (x @ tenfold.ones(3, 4, device="meta")).exp().sum().backward()
    assert x.grad.shape == (2, 3)
    assert x.grad.device.type == "meta"


def test_copies_to_meta_tensors_after_a_failed_copy_from_one():
    for _ in range(2):
        with pytest.raises(NotImplementedError, match="no data"):
            tenfold.zeros(3).copy_(tenfold.empty(3, device="meta"))
        target = tenfold.empty(3, device="meta")
        assert target.copy_(tenfold.ones(3)) is target
