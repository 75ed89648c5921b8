"""Results lie in memory as PyTorch's do."""

from __future__ import annotations

import pytest

import tenfold

torch = pytest.importorskip("torch")
INPUTS = {
    "turned": lambda m: (m.arange(24.0) * 7 % 13).reshape(4, 6).t(),
    "turned twice": lambda m: (m.arange(24.0) * 7 % 13).reshape(2, 3, 4).permute(2, 0, 1),
    "channels last": lambda m: (m.arange(48.0) * 7 % 13).reshape(2, 2, 3, 4).contiguous(memory_format=m.channels_last),
    "every second": lambda m: (m.arange(24.0) * 7 % 13).reshape(4, 6)[:, ::2],
    "expanded": lambda m: m.arange(4.0).reshape(4, 1).expand(4, 3),
    "expanded over the first": lambda m: (m.arange(3.0) * 2 % 3).expand(4, 3),
    "in one piece": lambda m: (m.arange(24.0) * 7 % 13).reshape(2, 3, 4),
}
CALLS = {
    "sort": lambda m, x: x.sort(0),
    "sort of the last": lambda m, x: x.sort(-1),
    "argsort": lambda m, x: [x.argsort(-1)],
    "msort": lambda m, x: [x.msort()],
    "index_put": lambda m, x: [x.index_put((m.tensor([0, 1]),), m.tensor(1.0))],
    "index_put of a mask": lambda m, x: [x.index_put((x > 3,), m.tensor(1.0))],
    "kthvalue": lambda m, x: x.kthvalue(1, -1, True),
    "median": lambda m, x: x.median(0),
    "nanmedian": lambda m, x: x.nanmedian(-1),
    "topk": lambda m, x: x.topk(2, -1),
    "topk of whole numbers": lambda m, x: x.long().topk(2, 0),
    "topk of all whole numbers": lambda m, x: x.long().topk(x.shape[0], 0),
    "index_copy": lambda m, x: [x.index_copy(0, m.tensor([1, 0]), x[:2])],
    "fill": lambda m, x: [m.fill(x, 2)],
    "index_add": lambda m, x: [x.index_add(0, m.tensor([1, 0]), x[:2])],
    "index_add of whole numbers": lambda m, x: [x.long().index_add(-1, m.tensor([1, 0]), x[..., :2].long(), alpha=3)],
    "cumsum": lambda m, x: [x.cumsum(0)],
    "cumsum of what is flipped": lambda m, x: [x.flip(0).cumsum(0)],
    "product with what is flipped": lambda m, x: [x.flip(-1) * m.ones(x.shape)],
    "cumsum of positions": lambda m, x: [x.nonzero().cumsum(0)],
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("given", INPUTS)
def test_strides(given, call):
    def told(m):
        results = CALLS[call](m, INPUTS[given](m))
        return [(r.tolist(), [s for s, n in zip(r.stride(), r.shape, strict=True) if n > 1]) for r in results]

    ours, theirs = told(tenfold), told(torch)
    if call in ("kthvalue", "median", "nanmedian") or "topk" in call:  # of equals any may be told
        ours, theirs = ([(strides, *values[:0]) for values, strides in side] for side in (ours, theirs))
    assert ours == theirs


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
def test_gathered_elements_lie_row_by_row(dtype):
    """By an index that lies as what was sorted."""
    strides = []
    for m in (tenfold, torch):
        x = (m.arange(60).reshape(3, 4, 5) % 7).to(getattr(m, dtype)).transpose(0, 2)
        index = m.argsort(x.float(), dim=1, stable=True)
        strides.append([m.take_along_dim(x, index, 1).stride(), m.gather(x, 1, index).stride(), index.stride()])
    assert strides[0] == strides[1]
