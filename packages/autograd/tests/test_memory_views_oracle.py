"""Writes through `as_strided` views of views, which reach beyond what the view in between shows."""

from __future__ import annotations

import pytest

import tenfold

torch = pytest.importorskip("torch")
# What shows a part of twelve numbers, then a reading of their memory: size, stride, offset.
WAYS = {
    "beyond the end": (lambda b: b[:6], ((2, 3), (3, 1), 4)),
    "beyond both ends": (lambda b: b[4:8], ((6,), (1,), 3)),
    "elsewhere": (lambda b: b[:4], ((3,), (2,), 6)),
    "as far as before": (lambda b: b[4:8], ((6,), (1,), None)),
    "of a row": (lambda b: b.view(3, 4)[1], ((4,), (1,), 0)),
    "of a turned matrix": (lambda b: b.view(3, 4).t()[1], ((2, 2), (4, 1), 0)),
    "inside": (lambda b: b[2:10], ((3,), (2,), 3)),
    "twice": (lambda b: b[2:6].as_strided((5,), (1,), 1)[:2], ((7,), (1,), 2)),
    "of the whole": (lambda b: b, ((3,), (2,), 3)),
}
WRITES = {
    "mul_": lambda m, v, y: v.mul_(3.0),
    "by a tensor": lambda m, v, y: v.mul_(y[: v.numel()].view(v.shape)),
    "copy_": lambda m, v, y: v.copy_(y[: v.numel()].view(v.shape) ** 2),
    "twice": lambda m, v, y: v.mul_(2.0).add_(y[: v.numel()].view(v.shape)).mul_(4.0),
    "fill_": lambda m, v, y: v.fill_(1.0),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("way", WAYS)
def test_gradients(way, write):
    show, memory = WAYS[way]

    def run(m):
        x, y = m.arange(12.0).requires_grad_(), m.arange(12.0).requires_grad_()
        b = x * 2
        s = show(b)
        v = s.as_strided(*memory)
        WRITES[write](m, v, y)
        factors = m.arange(1.0, 13.0)
        total = sum((t.flatten() * factors[: t.numel()]).sum() for t in (b, s, v))
        return [b.tolist(), *(g.tolist() for g in m.autograd.grad(total + 0 * y.sum(), (x, y)))]

    assert run(tenfold) == run(torch)
