"""Nodes bear PyTorch's names, which programs print and look for."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")
pytest.importorskip("tenfold.nn")
pytest.importorskip("tenfold.scientific")

CALLS: dict[str, Any] = {
    "max": lambda t, x: x.max(1)[0],
    "min": lambda t, x: x.min(1).values,
    "median of rows": lambda t, x: x.median(1)[0],
    "median": lambda t, x: x.median(),
    "mode": lambda t, x: x.mode(1)[0],
    "kthvalue": lambda t, x: x.kthvalue(2, 1)[0],
    "sort": lambda t, x: x.sort(1)[0],
    "topk": lambda t, x: x.topk(2, 1)[0],
    "cummax": lambda t, x: x.cummax(1)[0],
    "prod": lambda t, x: x.prod(),
    "prod of rows": lambda t, x: x.prod(1),
    "pow by a number": lambda t, x: x**2,
    "pow of a number": lambda t, x: 2**x,
    "pow by a tensor": lambda t, x: x.detach() ** x,
    "norm": lambda t, x: x.norm(),
    "lerp by a number": lambda t, x: x.lerp(x, 0.5),
    "lerp by a tensor": lambda t, x: x.detach().lerp(x, x),
    "unique": lambda t, x: x.unique(),
    "unique of rows": lambda t, x: t.unique(x, dim=0, return_counts=True)[0],
    "unique_consecutive": lambda t, x: x.unique_consecutive(),
    "floor_divide": lambda t, x: x // 2,
    "heaviside": lambda t, x: x.heaviside(x),
    "vector_norm": lambda t, x: t.linalg.vector_norm(x, dim=1),
    "det": lambda t, x: t.linalg.det(x @ x.mT),
    "inv": lambda t, x: t.linalg.inv(x @ x.mT + t.eye(3)),
    "cholesky": lambda t, x: t.linalg.cholesky(x @ x.mT + t.eye(3)),
    "solve": lambda t, x: t.linalg.solve(x @ x.mT + t.eye(3), x),
    "svd": lambda t, x: t.linalg.svd(x, full_matrices=False)[1],
    "eigh": lambda t, x: t.linalg.eigh(x @ x.mT)[0],
    "qr": lambda t, x: t.linalg.qr(x)[0],
    "pad": lambda t, x: t.nn.functional.pad(x, (1, 1)),
    "avg_pool2d": lambda t, x: t.nn.functional.avg_pool2d(x, 2),
    "avg_pool3d": lambda t, x: t.nn.functional.avg_pool3d(x[None], (1, 2, 2)),
    "adaptive_avg_pool2d": lambda t, x: t.nn.functional.adaptive_avg_pool2d(x, 2),
    "adaptive_max_pool2d": lambda t, x: t.nn.functional.adaptive_max_pool2d(x, 2),
    "nearest": lambda t, x: t.nn.functional.interpolate(x[None], scale_factor=2),
    "nearest in one dimension": lambda t, x: t.nn.functional.interpolate(x, scale_factor=2),
    "bilinear": lambda t, x: t.nn.functional.interpolate(x[None], scale_factor=2, mode="bilinear"),
    "unfold": lambda t, x: t.nn.functional.unfold(x[None], 2),
    "attention": lambda t, x: t.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None]),
    "a part written": lambda t, x: written(t, x),
    "a part multiplied": lambda t, x: multiplied(x),
}


def written(t: Any, x: Any) -> Any:
    made = t.zeros(2, 3, 4)
    made[0] = x[0]
    return made


def multiplied(x: Any) -> Any:
    made = x.clone()
    made[:, 1].mul_(2)
    return made


def names(t: Any, call: Any) -> tuple[str, str]:
    x = t.linspace(0.1, 2.0, 24).sin().reshape(2, 3, 4).requires_grad_()
    node = call(t, x).grad_fn
    leaf = x.sum().grad_fn.next_functions[0][0]
    return node.name(), f"{leaf.name()}, {type(leaf).__name__}, {repr(leaf).split(' object')[0]}"


@pytest.mark.parametrize("name", CALLS)
def test_a_node_has_the_name_that_pytorch_gives_it(name: str) -> None:
    assert names(tenfold, CALLS[name]) == names(torch, CALLS[name])


def test_a_tensor_that_was_written_prints_the_node_without_its_room() -> None:
    made = []
    for library in (tenfold, torch):
        x = library.ones(2, requires_grad=True).clone()
        x[0] = 2.0
        made.append((repr(x), repr(library.zeros(2).copy_(x))))
    assert made[0] == made[1]


def test_a_result_prints_the_node_of_all_of_them() -> None:
    made = []
    for library in (tenfold, torch):
        x = library.tensor([[1.0, 2.0]], requires_grad=True)
        made.append([repr(y) for y in (x.max(1)[0], x.unbind()[0], x.log_softmax(1).topk(1)[0])])
    assert made[0] == made[1]
