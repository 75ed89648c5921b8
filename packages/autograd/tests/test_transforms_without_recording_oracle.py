"""Transforms inside `no_grad`: what they return hangs on no graph, however they are nested, as in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold
from tenfold import func

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")


def each_result(t: Any, f: Any) -> dict[str, Any]:
    """Results of nested transforms around and inside `no_grad`, of parameters that require gradients."""
    p, q, eye = t.ones(3, requires_grad=True), t.ones(3), t.eye(3)

    def total(x: Any) -> Any:
        return (x * x * p).sum()

    def cube(x: Any) -> Any:
        return x**3 * p

    def second(v: Any) -> Any:
        value, tangent = f.jvp(cube, (p,), (v,))
        _, changed = f.jvp(f.jacrev(lambda z: (z**2).sum()), (value,), (tangent,))
        return f.vjp(cube, p)[1](changed)[0]

    made: dict[str, Any] = {}
    with t.no_grad():
        made["grad"] = f.grad(total)(p)
        made["vmap of grad"] = f.vmap(f.grad(total))(p.expand(2, 3))
        made["jvp of grad"] = f.jvp(f.grad(total), (p,), (q,))[1]
        made["vmap of vjp"] = f.vmap(lambda v: f.vjp(cube, p)[1](v)[0])(eye)
        made["value in vmap of vjp"] = f.vmap(lambda v: f.vjp(cube, p)[0] * v)(eye)
        made["vmap of jvp"] = f.vmap(lambda v: f.jvp(cube, (p,), (v,))[1])(eye)
        made["vmap of a curvature"] = f.vmap(second)(eye)
        made["jacrev"], made["hessian"] = f.jacrev(cube)(p), f.hessian(total)(p)
    made["no_grad inside vmap"] = f.vmap(t.no_grad()(second))(eye)
    made["recorded"] = f.vmap(second)(eye)
    made["vmap of grad, recorded"] = f.vmap(f.grad(total))(p.expand(2, 3))
    return made


def test_no_grad_holds_for_transforms_however_they_are_nested() -> None:
    got, expected = each_result(tenfold, func), each_result(torch, torch.func)
    assert {name: t.requires_grad for name, t in got.items()} == {name: t.requires_grad for name, t in expected.items()}
    for name, t in got.items():
        assert t.flatten().tolist() == pytest.approx(expected[name].flatten().tolist()), name
