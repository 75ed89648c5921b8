"""Lists of tensors that are changed in one launch (`_foreach_*`, limits of gradients), against the CPU's, one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold import nn
from tenfold.cuda.kernels import many, multi_tensor
from tenfold.testing.tolerances import implementation

DTYPES = (tenfold.float32, tenfold.bfloat16, tenfold.float64)


def drawn(shape, dtype, seed=0):
    return tenfold.tensor(np.random.default_rng(seed).standard_normal(shape)).to(dtype)


def assert_close(got, expected):
    rtol, atol = implementation(expected.dtype)
    assert got.device.type == "cuda"
    assert got.dtype is expected.dtype
    a, b = (t.detach().cpu().double().numpy() for t in (got, expected))
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)


LISTS = {
    "mul": lambda f, x, y, z: f.mul_(x, 0.9),
    "mul lists": lambda f, x, y, z: f.mul_(x, y),
    "add": lambda f, x, y, z: f.add_(x, 2),
    "add lists": lambda f, x, y, z: f.add_(x, y, alpha=0.3),
    "sub": lambda f, x, y, z: f.sub_(x, 2.5),
    "sub lists": lambda f, x, y, z: f.sub_(x, y),
    "div": lambda f, x, y, z: f.div_(x, 3.0),
    "div lists": lambda f, x, y, z: f.div_(x, y),
    "lerp": lambda f, x, y, z: f.lerp_(x, y, 0.1),
    "lerp far": lambda f, x, y, z: f.lerp_(x, y, 0.7),
    "copy": lambda f, x, y, z: f.copy_(x, y),
    "addcmul": lambda f, x, y, z: f.addcmul_(x, y, z, value=-0.5),
    "addcdiv": lambda f, x, y, z: f.addcdiv_(x, y, z, value=0.5),
    "addcdiv by itself": lambda f, x, y, z: f.addcdiv_(x, x, z),
    "squares": lambda f, x, y, z: f.mul_(x, x),
}


class Foreach:
    """`_foreach_NAME` as `NAME`."""

    def __getattr__(self, name):
        return getattr(tenfold, f"_foreach_{name}")


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("name", LISTS)
def test_lists_are_changed_in_one_launch(name, dtype, monkeypatch):
    launched = []
    given = multi_tensor.start
    monkeypatch.setattr(multi_tensor, "start", lambda kernel, *rest: (launched.append(kernel.name), given(kernel, *rest)))
    found = []
    for device in ("cpu", "cuda"):
        lists = [[drawn(shape, dtype, 9 * k + n).to(device) for k, shape in enumerate(((2100,), (3, 4), ()))] for n in range(3)]
        lists[0][0][3], lists[0][1][0, 0] = float("nan"), float("inf")
        leaves = [t.requires_grad_() for t in lists[0]]
        versions = [t._version for t in leaves]
        with tenfold.no_grad():
            LISTS[name](Foreach(), *lists)
        assert [t._version for t in leaves] == [v + 1 for v in versions]
        found.append(leaves)
    for expected, got in zip(*found, strict=True):
        assert_close(got, expected)
    assert launched == ["change_many"]


def test_lists_that_share_memory_are_changed_one_after_the_other():
    found = []
    for device in ("cpu", "cuda"):
        x, y, rows = (
            drawn((5,), tenfold.float32).to(device),
            drawn((5,), tenfold.float32, 1).to(device),
            drawn((3, 4), tenfold.float32).to(device),
        )
        tenfold._foreach_add_([x, y], [y, x])
        tenfold._foreach_mul_([x, x], 2.0)
        tenfold._foreach_add_([rows[:2], rows[1:]], 1.0)
        tenfold._foreach_add_([rows[0], rows[1]], [rows[1], rows[2]])
        leaf = x.clone().requires_grad_()
        made = [leaf * 2, leaf * 3]
        tenfold._foreach_mul_(made, 2.0)  # recorded
        (made[0] * made[1]).sum().backward()
        found.append((x, y, rows, leaf.grad))
    for expected, got in zip(*found, strict=True):
        assert_close(got, expected)


def test_gradients_are_limited_in_one_launch():
    found = []
    for device in ("cpu", "cuda"):
        params = [drawn(shape, tenfold.float32, k).to(device).requires_grad_() for k, shape in enumerate(((2100,), (3, 4)))]
        for p in params:
            p.grad = p.detach() * 2
        params[0].grad[3] = float("nan")
        nn.utils.clip_grad_value_(params, 0.5)
        found.append([p.grad for p in params])
    for expected, got in zip(*found, strict=True):
        assert_close(got, expected)


@pytest.mark.parametrize("order", [1, 2.0, float("inf")])
@pytest.mark.parametrize("dtype", [*DTYPES, tenfold.float16], ids=lambda d: d.name)
def test_norms_of_a_list_are_two_launches(dtype, order, monkeypatch):
    launched = []
    given = many.start
    monkeypatch.setattr(many, "start", lambda kernel, *rest: (launched.append(kernel.name), given(kernel, *rest)))
    found = []
    for device in ("cpu", "cuda"):
        tensors = [drawn(shape, dtype, k).to(device) for k, shape in enumerate(((2100,), (3, 4), (), (2048,), (5,), (6,)))]
        tensors[3].zero_()
        tensors[4][2], tensors[5][1] = float("nan"), float("-inf")
        found.append(tenfold._foreach_norm(tensors, order))
    for expected, got in zip(*found, strict=True):
        assert got.shape == ()
        assert_close(got, expected)
    assert launched == ["norms_of_pieces", "norm_of_each"]
    found[1][0].mul_(0)
    assert_close(found[1][1], found[0][1])


def test_norms_of_other_lists_are_those_of_each():
    found = []
    for device in ("cpu", "cuda"):
        x, y = drawn((3, 4), tenfold.float32).to(device), drawn((5,), tenfold.float64, 1).to(device)
        leaf = drawn((6,), tenfold.float32, 2).to(device).requires_grad_()
        of_leaf = tenfold._foreach_norm([leaf, x], 2)[0]
        of_leaf.backward()
        several = [tenfold._foreach_norm([x, y]), tenfold._foreach_norm([x.t(), x]), tenfold._foreach_norm([x, x], 3)]
        several += [tenfold._foreach_norm([x, x], 2, dtype=tenfold.float64), tenfold._foreach_norm([x[:0], x])]
        found.append([leaf.grad, *(norm for norms in several for norm in norms)])
    for expected, got in zip(*found, strict=True):
        assert_close(got, expected)


def test_gradients_of_several_dtypes_are_clipped_together():
    found = []
    for device in ("cpu", "cuda"):
        params = [drawn((2100,), tenfold.float32).to(device), *(drawn((3, k), tenfold.bfloat16, k).to(device) for k in (4, 5))]
        for p in params:
            p.requires_grad_().grad = p.detach() * 2
        total = nn.utils.clip_grad_norm_(params, 1.0)
        found.append([total, *(p.grad for p in params)])
    assert found[1][0].dtype is tenfold.float32
    np.testing.assert_allclose(found[1][0].item(), found[0][0].item(), rtol=1e-3)  # of bfloat16 norms, several or one
    for expected, got in zip(found[0][1:], found[1][1:], strict=True):
        np.testing.assert_allclose(got.cpu().float().numpy(), expected.float().numpy(), rtol=1e-2, atol=1e-3)


def test_norms_of_several_dtypes_are_not_those_of_half_precision():
    params = [nn.Parameter(tenfold.zeros(1, dtype=t, device="cuda")) for t in (tenfold.float16, tenfold.float16, tenfold.float32)]
    for p, g in zip(params, (6e4, 6e4, 1.0), strict=True):
        p.grad = tenfold.full((1,), g, dtype=p.dtype, device="cuda")
    total = nn.utils.clip_grad_norm_(params, 1.0)
    np.testing.assert_allclose(total.item(), 84852.8, rtol=1e-5)
    np.testing.assert_allclose([p.grad.item() for p in params], [0.7071, 0.7071, 1.1785e-5], rtol=1e-3)


def test_norms_of_a_list_have_memory_of_their_own():
    norms = tenfold._foreach_norm([tenfold.ones(n, device="cuda") for n in (3, 4, 5)])
    assert [(norm.storage_offset(), norm.untyped_storage().nbytes()) for norm in norms] == [(0, 4)] * 3
    norms[0].untyped_storage().fill_(0)
    assert norms[1].item() == 2.0
