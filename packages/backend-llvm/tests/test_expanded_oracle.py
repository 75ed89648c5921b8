"""Expanded arrays and rows with gaps beside arrays in one piece: PyTorch's values and layouts, without the interpreter."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="call paths are native from Python 3.12 on")
RNG = np.random.default_rng(0)
SHAPES = ((3, 4), (100, 100), (2, 3, 5), (40, 50, 60), (4, 3, 1, 5), (7, 1, 9000), (2, 1, 3, 2, 4, 2, 3))
CALLS: dict[str, Any] = {
    "mul": lambda a, b: a * b, "behind": lambda a, b: b * a, "add": lambda a, b: b + a, "div": lambda a, b: a / b,
    "lt": lambda a, b: a < b, "maximum": lambda a, b: a.maximum(b), "abs": lambda a, b: a.abs(), "twice": lambda a, b: a * a,
    "addcmul": lambda a, b: b.addcmul(a, b, value=2.0), "where": lambda a, b: (b > 0).logical_not().where(b > 0, a > 1),
}  # fmt: skip


def tensors(numbers: Any, dtype: str) -> list[Any]:
    return [m.tensor(np.ascontiguousarray(numbers)).to(getattr(m, dtype)) for m in (tenfold, torch)]


def odd_ones(shape: tuple[int, ...], dtype: str) -> dict[str, list[Any]]:
    """Arrays of a shape that lie otherwise than row by row in one piece."""
    large = (
        RNG.standard_normal([2 * n + 1 for n in shape]) if np.prod(shape) < 1e5 else RNG.standard_normal([n + 1 for n in shape])
    )
    found = {"one number": [x.expand(shape) for x in tensors(large.flat[0], dtype)]}
    for d in range(len(shape)):
        only, but = (
            large[tuple(slice(n) if (i == d) is here else slice(1) for i, n in enumerate(shape))] for here in (True, False)
        )
        found[f"along {d}"] = [x.expand(shape) for x in tensors(only, dtype)]
        found[f"but {d}"] = [x.expand(shape) for x in tensors(but, dtype)]
    step = 2 if np.prod(shape) < 1e5 else 1
    found["gaps"] = [x[tuple(slice(0, step * n, step) for n in shape)] for x in tensors(large, dtype)]
    found["a part"] = [x[tuple(slice(n) for n in shape)] for x in tensors(large, dtype)]
    return found


def alike(ours: Any, theirs: Any, what: Any) -> None:
    assert tuple(ours.stride()) == tuple(theirs.stride()), what
    np.testing.assert_array_equal(ours.double().numpy(), theirs.double().numpy(), err_msg=str(what))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_beside_rows(dtype, shape):
    beside = tensors(RNG.standard_normal(shape), dtype)
    for kind, pair in odd_ones(shape, dtype).items():
        for name, call in CALLS.items():
            whole = call(pair[0].contiguous(), beside[0])
            for _ in range(2):  # the first call may compile what the second one finds
                ours, theirs = (call(a, b) for a, b in zip(pair, beside, strict=True))
                assert tuple(ours.stride()) == tuple(theirs.stride()), (kind, name)
                assert ours.double().numpy().tobytes() == whole.double().numpy().tobytes(), (kind, name)
                if dtype == "float32" and name != "addcmul":
                    alike(ours, theirs, (kind, name))


def test_where_reads_masks_of_another_size():
    for shape in SHAPES[:4]:
        chosen = tensors(RNG.standard_normal(shape), "float32")
        for kind, pair in odd_ones(shape, "float32").items():
            for _ in range(2):
                alike(*(m.where(x > 0, a, x) for m, x, a in zip((tenfold, torch), chosen, pair, strict=True)), (shape, kind))
                alike(*(m.where(x > 0, x, a) for m, x, a in zip((tenfold, torch), chosen, pair, strict=True)), (shape, kind))


def test_writes_beside_expanded_arrays():
    numbers = RNG.standard_normal((100, 100))
    written = [
        (x.mul_(y[:1].expand(100, 100)), x)[1] for x, y in zip(*(tensors(numbers + k, "float32") for k in (0, 1)), strict=True)
    ]
    alike(*written, "written")
    with pytest.raises(RuntimeError):
        tenfold.ones(1).expand(5000).mul_(tenfold.ones(5000))


@pytest.mark.parametrize("shape", [(8, 10), (100, 100)])
def test_gradients_of_sums(shape, entered):
    x, w = (a.requires_grad_() for a in (tenfold.ones(shape), tenfold.ones(shape)))
    g = tenfold.ones(()).expand(shape)
    for call in (lambda: g * w, lambda: g / w, lambda: g.mul(x)):
        for _ in range(501):
            call()
        assert not {"dispatch", "arrange", "serve", "_iterate"} & set(entered(call))


def test_gradients_lie_as_their_leaves():
    for m in (tenfold, torch):
        for make in (lambda x: x, lambda x: x.t(), lambda x: x[::2]):
            leaf = make(m.ones(6, 4)).detach().requires_grad_()
            for total in (lambda x: x.sum(), lambda x: x.mean(1).sum(), lambda x: x.sum(0, keepdim=True).mean()):
                leaf.grad = None
                total(leaf).backward()
                wanted = leaf.stride() if make(m.ones(6, 4)).stride() != (8, 1) else (4, 1)
                assert tuple(leaf.grad.stride()) == tuple(wanted)
                leaf.grad[0, 0] = 5.0
                assert leaf.grad.sum().item() != leaf.grad.numel() * 5.0
