"""Short programs whose every step has PyTorch's outcome: the values, dtypes, strides and versions, or the kind of error."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

ASSIGNMENTS = """
x = zeros(2, dtype=int64); x[0] = 1+2j
x = zeros(2, dtype=int64); x[0] = t([1+0j]).real
x = zeros(2, dtype=uint8); x[:] = t(300)
x = zeros(2, dtype=uint8); x[0] = -1
x = zeros(2, dtype=uint8); x[0] = -1.5
x = zeros(2, dtype=uint8); x[0] = 300
x = zeros(2, dtype=int64); x[0] = 1.5
x = zeros(2, dtype=bfloat16); x[0] = 1.5
x = zeros(2, dtype=float32); x[0] = 1e300
x = zeros(2, dtype=bool); x[0] = 300
x = zeros(2, dtype=uint8); x[t([True, False])] = 300
x = zeros(2, dtype=uint8); x[t([True, False])] = t(300)
x = zeros(2, dtype=uint8); x[t([0])] = t(300)
x = zeros(2, dtype=uint8); x[t([0])] = 300
x = zeros(2); x[t([1, 0], dtype=uint8)] = 3.
x = zeros(2); x[t([1, 1], dtype=uint8)] = t([3., 4])
x = zeros(2); x[t([1, 0], dtype=uint8)] = t([3., 4])
x = zeros(2); x[t([True, False])] = t([[3]])
x = zeros(2); x.index_put_((t([True, False]),), t([[[3]]]))
x = zeros(2); x.index_put_((t([0]),), t([[[3.]]]))
x = zeros(2); x.index_put_((t([True, False]),), t([[3.]]), accumulate=True)
x = zeros(2); x.index_put_((t([True, False]),), t(3), accumulate=True)
x = zeros(2); x[False] = 3
x = zeros(2); x[False,] = t([3., 4])
x = zeros(2); x[False,] = t(4)
x = zeros(2, 3); x[True] = t([1, 1, 1])
x = zeros(2, 3); x[True,] = t([1, 1, 1])
x = zeros(2, 3); x[0, True] = t([1, 1, 1.])
x = zeros(2, 3); x[0, True] = 1
x = zeros(2, 3); x[t([True, False])] = t([[1.], [2.]])
x = zeros(2, 3); x[t([True, False]), 0] = t([[1., 2]])
x = zeros(2, 3); x[:, t([True, False, True])] = t(1)
x = zeros(2, 3); x[:, t([True, False, True])] = t([1, 1])
x = zeros(2, 3); x[t([5]), 3:] = t([[1.], [2.]])
x = zeros(2, 3); x[t([5]), 3:] = 0.5
x = zeros(2, 3); y = x[t([5]), 3:]
x = zeros(2, 0); y = x[t([0]), t([0])]
x = zeros(2, 0); x[t([0]), t([0])] = 1
x = zeros(2, 0); x[t([5])] = 1
x = zeros(2, 3); x[t([0, 1])] = t([True])
x = zeros(2, 3); x[t([True, False])] = x
x = zeros(2, 3); x[t([[True, False, True], [True, True, True]])] = t([[1, 2, 3, 4, 5.]])
x = zeros(2, 3); x[range(2), -2] = t([1., 2])
x = zeros(2, 3); x[[range(2), -2]] = t([1., 2])
x = zeros(2, 3); y = x[[range(1)]]
x = zeros(2, 3); y = x[[slice(t(2), None), t([-1])]]
""".strip().splitlines()

OVERLAPS = """
x = arange(4.); x[1:] = x[:-1]
x = arange(4.); x[:] = x
x = arange(4.).view(2, 2); x[0] = x[1]
x = arange(4.); x[t([0, 1, 2, 3])] = x
x = arange(4.); x[t([0, 1, 2])] = x[1:]
x = arange(4); x[x] = 5
x = arange(4); x.scatter_(0, x, x)
x = arange(4); x.scatter_add_(0, t([1, 1, 1, 1]), x)
x = arange(4); x.index_copy_(0, x, t([1, 1, 1, 1]))
x = arange(4); x.index_add_(0, t([0, 1]), x[:2])
x = arange(4); x.put_(t([1, 1, 1, 1]), x)
x = arange(4); x.masked_scatter_(t([True, False, True, False]), x)
x = t([True, False]); x.masked_fill_(x, False)
x = arange(6.).view(2, 3); x.copy_(x[0])
x = arange(6.).view(2, 3); x.add_(x[0])
x = arange(6.).view(2, 3); torch.add(x[0], x[1], out=x[1])
x = arange(6.).view(2, 3); torch.add(x[0], x[1], out=x[:2])
x = arange(4.).view(2, 2); x.t().add_(x)
x = arange(4.); x[1:].lerp_(x[:3], 0.5)
x = arange(4.); x[1:].addcmul_(x[1:], x[:3])
x = arange(4.); torch.cumsum(x[:3], 0, out=x[1:])
x = arange(4.); torch.cat([x[:2], x[1:3]], out=x)
x = arange(4.); torch.index_select(x, 0, t([0, 1]), out=x[:2])
x = arange(4.); torch.where(x[1:] > 1, x[1:], x[1:], out=x[:3])
x = arange(4.); x[:2].add_(x[2:])
x = arange(4.); y = x.expand(2, 4); y.copy_(y)
x = arange(4.); x.expand(2, 4).copy_(x)
x = arange(1, 5.); x.expand(2, 4).tril_()
x = arange(1, 5.); x.expand(4, 4).triu_(1)
x = arange(1, 5.); x.expand(2, 4).index_fill_(1, t([0]), 9.)
x = arange(1, 5.); x.expand(4, 4).fill_diagonal_(5.)
""".strip().splitlines()


def outcome(library: Any, program: str) -> dict[str, Any]:
    """The names that a program defines, or the kind of error that it ends with; PyTorch's NotImplementedError is one of many."""
    names = "zeros ones arange int64 int32 int16 int8 uint8 bool bfloat16 float16 float32 float64 complex64 complex128".split()
    scope = {"torch": library, "t": library.tensor, "np": np}
    scope |= {name: getattr(library, name) for name in names}
    known = set(scope)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            exec(program, scope)
        except Exception as error:  # noqa: BLE001 - what it is, is compared
            return {"error": "RuntimeError" if isinstance(error, NotImplementedError) else type(error).__name__}
    return {name: shown(value) for name, value in scope.items() if name not in known and name[:2] != "__"}


def shown(value: Any) -> Any:
    """What can be asked of a result; strides count where there are elements to stride over."""
    if isinstance(value, (tuple, list)):
        return [shown(v) for v in value]
    if not hasattr(value, "stride"):
        return value
    strides = [s for s, n in zip(value.stride(), value.shape) if n > 1] if value.numel() else []
    dtype = str(value.dtype).rpartition(".")[2]
    return dtype, tuple(value.shape), strides, value._version, value.requires_grad, Near(value.detach().tolist())


class Near:
    """Numbers, equal within a few roundings; nan equals nan."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Near)
        return np.allclose(np.asarray(self.values), np.asarray(other.values), rtol=1e-5, atol=1e-6, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.values)


@pytest.mark.parametrize("program", [*ASSIGNMENTS, *OVERLAPS])
def test_outcome(program: str) -> None:
    assert outcome(tenfold, program) == outcome(torch, program)
