"""`detach_` takes the tangent off, too, in forward mode by hand and in transforms; only PyTorch's vmap refuses it."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings(  # what PyTorch says of itself
    "ignore:.torch.jit:DeprecationWarning",
    "ignore:There is a performance drop:UserWarning",
    "ignore:Attempted to insert a get_attr Node:UserWarning",
)


def half_constant(x: Any) -> Any:
    y = x * 2
    y.detach_()
    return y * x


def written_after(x: Any) -> Any:
    y = x * 2
    z = y * x
    y.detach_()
    y.mul_(x)
    return y + z


TRANSFORMS: dict[str, Any] = {
    "jvp": lambda f, h, x, v: f.jvp(h, (x,), (v,)),
    "jvp in vmap": lambda f, h, x, v: f.vmap(lambda x, v: f.jvp(h, (x,), (v,)))(x, v),
    "jacfwd": lambda f, h, x, v: f.jacfwd(h)(x),
    "linearize": lambda f, h, x, v: f.linearize(h, x)[1](v),
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("function", [half_constant, written_after])
def test_in_transforms(name: str, function: Any) -> None:
    found = []
    for lib in (torch, tenfold):
        result = TRANSFORMS[name](lib.func, function, lib.tensor([1.0, 2.0]), lib.tensor([3.0, 4.0]))
        found.append([t.tolist() for t in (result if isinstance(result, tuple) else (result,))])
    assert found[0] == found[1]


@pytest.mark.parametrize("recorded", [False, True])
def test_by_hand(recorded: bool) -> None:
    for lib in (torch, tenfold):
        forward = importlib.import_module(f"{lib.__name__}.autograd.forward_ad")
        with forward.dual_level():
            dual = forward.make_dual(lib.ones(2).requires_grad_(recorded), lib.ones(2))
            kept = dual.clone()
            product = kept * 3
            kept.detach_()
            assert not kept.requires_grad
            for t in (kept, kept * 2, kept.add_(1)):
                primal, tangent = forward.unpack_dual(t)
                assert tangent is None
                assert not primal.requires_grad
            assert forward.unpack_dual(product).tangent.tolist() == [3.0, 3.0]
            resting = dual.detach().clone().requires_grad_().requires_grad_(False)
            assert forward.unpack_dual(resting).tangent is None
            still = forward.make_dual(lib.ones(2), lib.ones(2)).requires_grad_().requires_grad_(False)
            assert forward.unpack_dual(still).tangent.tolist() == [1.0, 1.0]
