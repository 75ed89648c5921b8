"""What is refused, and numbers at the edge of what layers take, against PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")


def outcome(lib: Any, program: Any) -> Any:
    try:
        return torch.tensor(program(lib, lib.nn.functional).tolist())
    except (RuntimeError, ValueError, TypeError) as error:
        return type(error)


def ints(lib: Any, dtype: str) -> Any:
    return lib.tensor([0, 1], dtype=getattr(lib, dtype))


PROGRAMS = {
    **{
        f"rms_norm {dtype} {values}": lambda L, F, d=dtype, v=values: F.rms_norm(L.tensor([v], dtype=getattr(L, d)), (len(v),))
        for dtype in ("float16", "bfloat16", "float32", "float64")
        for values in ([1e-3, 2e-3], [0.05], [1e-7, 2e-7], [300.0, 5.0])
    },
    "max_pool2d padding": lambda L, F: F.max_pool2d(L.ones(1, 1, 9, 9), 3, 3, 2, 2),
    "max_pool1d padding": lambda L, F: F.max_pool1d(L.ones(1, 1, 9), 2, 2, 2, 3),
    "max_pool3d padding": lambda L, F: F.max_pool3d(L.ones(1, 1, 9, 9, 9), 3, 3, 2, 2),
    "max_pool2d dilation": lambda L, F: F.max_pool2d(L.ones(1, 1, 9, 9), 3, 3, 1, 2),
    "renorm to nan": lambda L, F: L.renorm(L.ones(2, 3), 2, 0, float("nan")),
    "renorm by nan": lambda L, F: L.renorm(L.ones(2, 3), float("nan"), 0, 1.0),
    "renorm to inf": lambda L, F: L.renorm(L.ones(2, 3), 2, 0, float("inf")),
    **{f"softshrink {v}": lambda L, F, v=v: F.softshrink(L.ones(3), v) for v in (True, float("nan"), float("inf"), 3e38, -1.0)},
    "instance_norm": lambda L, F: F.instance_norm(L.ones(2, 3)),
    **{
        f"{name} {dtype}": lambda L, F, n=name, d=dtype: getattr(F, n)(L.tensor([[1.0, 0.0], [0.5, 2.0]]), ints(L, d))
        for name in ("nll_loss", "cross_entropy")
        for dtype in ("int64", "uint8", "int32", "int16", "int8")
    },
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_pytorch(name: str) -> None:
    theirs, ours = (outcome(lib, PROGRAMS[name]) for lib in (torch, tenfold))
    if isinstance(theirs, type):
        assert ours is theirs
    else:
        torch.testing.assert_close(ours, theirs)


def test_second_derivatives_of_queries_that_see_no_key() -> None:
    q, k, v = (tenfold.ones(1, n, 2, requires_grad=True) for n in (1, 2, 2))
    mask = tenfold.full((1, 2), -float("inf"))
    result = tenfold.nn.functional.scaled_dot_product_attention(q, k, v, mask)
    (g,) = tenfold.autograd.grad(result.sum(), q, create_graph=True)
    second = tenfold.autograd.grad(g.sum(), (q, k, v))
    assert all(not grad.any() for grad in second)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("count", [1, 70, 20000])
def test_relu_keeps_the_sign_of_zero(count: int, dtype: str) -> None:
    found = []
    for lib in (torch, tenfold):
        x = lib.tensor([0.0, -0.0, 1.0, -1.0, float("nan")] * count, dtype=getattr(lib, dtype))
        found.append(lib.signbit(lib.relu(x)).tolist())
    assert [a for i, a in enumerate(found[0]) if i % 5 < 4] == [a for i, a in enumerate(found[1]) if i % 5 < 4]
