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


def _base_after_view(m, s):
    y = m.ones(4)
    v = y[:2]
    v.mul_(s)
    y.mul_(2)
    return v


def _view_after_whole(m, s):
    y = m.zeros(4).view(2, 2)
    y.copy_(m.stack((s, s)))
    y[:, 0] = s[0] * 5
    return y


def _view_of_a_turned_view(m, s):
    y = m.ones(2, 2).t()
    y.mul_(s)
    y[0].mul_(10)
    return y


def _three_views(m, s):
    y = m.zeros(6)
    views = [y[:2], y[1:3], y.view(2, 3)]
    views[0].add_(s)
    y[1:4].mul_(3)
    views[0].mul_(s)
    return m.cat([t.reshape(-1) * (k + 1) for k, t in enumerate(views)])


@pytest.mark.parametrize("program", [_base_after_view, _view_after_whole, _view_of_a_turned_view, _three_views])
def test_views_of_what_needed_no_gradient_see_every_later_write(program):
    """The view that brought the gradients is a view as the others are."""
    found = []
    for m in (tenfold, torch):
        s = m.tensor([0.5, -1.5], requires_grad=True)
        out = program(m, s)
        (out * m.arange(1.0, out.numel() + 1).view(out.shape)).sum().backward()
        found.append([out.tolist(), s.grad.tolist()])
    assert found[0] == found[1]
