"""What someone who knows PyTorch types in the first hour gives the same text, the same numbers, the same kinds of errors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

NUMPY_NUMBERS = """
t([1.]) / np.sqrt(2)
t([1.]) * np.float64(2)
t([1.]) ** np.float64(2)
t([1.]).clamp(np.float64(2))
t([1]).clamp(np.float64(2))
t([1.]).clamp(max=np.float64(.2))
torch.where(t([True]), t([1.]), np.float64(2))
np.float64(2.) - t([1.])
np.float64(2.) / t([1.])
np.int64(2) ** t([1.])
np.float64(7) // t([5.])
torch.add(t([1.]), t([1.]), alpha=np.float64(2))
torch.lerp(t([1.]), t([2.]), np.float64(.5))
torch.full((2,), np.int64(2))
t([1.]).fill_(np.float64(2))
t([1.]) + np.array([2], np.int16)
t([1]) + np.array(2.)
t([1.]) + np.array(2.)
""".strip().splitlines()

NUMBERS = """
torch.add(3, t([1]))
torch.mul(3, t([1]))
torch.sub(3, t([1]))
torch.div(3, t([1]))
torch.bitwise_and(2, t([3]))
torch.bitwise_or(2, t([3]))
torch.bitwise_xor(2, t([3]))
torch.bitwise_left_shift(2, t([3]))
torch.zeros(2).copy_(3)
torch.full((2,), -1, dtype=torch.uint8)
torch.full((2,), 300, dtype=torch.uint8)
torch.full((2,), 2**40, dtype=torch.int32)
torch.full((2,), float('nan'), dtype=torch.int32)
torch.full((2,), 1j, dtype=torch.float32)
torch.full((2,), 1e300)
t(-1, dtype=torch.uint8)
t([300], dtype=torch.uint8)
t(300, dtype=torch.uint8)
t([float('inf')], dtype=torch.int64)
torch.zeros(2, dtype=torch.uint8).fill_(-1)
torch.add(t([1.]), 2., t([2.]))
t([1.]).add(2., t([2.]))
t([1.]).sub_(2., t([2.]))
torch.addcmul(t([1.]), 2., t([2.]), t([3.]))
t([1.]).addcdiv_(2., t([2.]), t([3.]))
torch.addmm(2., torch.ones(2, 2), torch.ones(2, 2), torch.ones(2, 2))
torch.addmm(2., torch.ones(2, 2), 3., torch.ones(2, 2), torch.ones(2, 2))
torch.ones(2, 2).addmm(2., torch.ones(2, 2), torch.ones(2, 2))
torch.addmv(2., torch.ones(2), torch.ones(2, 2), torch.ones(2))
torch.add(t([1.]), t([2.]), 2)
torch.add(t([1.]), t([2.]), t([2.]))
torch.add(t([1.]), t(2.), t([2.]))
torch.add(t([1.]), t(3), True)
torch.add(t([1.]), t(3., requires_grad=True), t([2.]))
t([1.]).sub_(t(3), 1)
torch.addcmul(t([1.]), t(2), t([2.]), t([3.]))
t([1]).__iadd__(object())
""".strip().splitlines()

FORMS = """
f"{t(2.5)}"
f"{t(2.5, requires_grad=True)}"
f"{t(True)}"
f"{t([2.5])}"
f"{t([2.5, 1]):.2f}"
f"{t(2.5):.3f}"
torch.zeros(2, dtype=float)
torch.zeros(2, dtype=int)
torch.zeros(2, dtype=complex)
t([1], dtype=bool)
t([1]).to(float)
t([1.5]).to(dtype=int)
t([1.]).sum(dtype=float)
torch.zeros(2, dtype='float32')
t([2], dtype=np.float32)
t([1.]).sum(dtype='float32')
torch.randn(t(3))
torch.zeros((t(3), t(2)))
torch.zeros(t(3.))
torch.zeros()
t([1, 2]).flip()
t([1]).view(dtype=torch.uint8)
torch.cat([t([1]), t([2])], axis=0)
torch.stack([t([1]), t([2])], axis=1)
torch.softmax(t([1.]), axis=0)
torch.unsqueeze(t([1.]), axis=0)
torch.cumsum(t([1.]), axis=0)
torch.select(t([1.]), axis=0, index=0)
torch.narrow(t([1.]), axis=0, start=0, length=1)
torch.index_select(t([1.]), axis=0, index=t([0]))
torch.gather(t([1.]), axis=0, index=t([0]))
torch.gather(t([1.]), 0)
torch.logsumexp(t([1.]), axis=0, keepdims=True)
torch.sort(t([1.]), axis=0)
torch.max(t([[1., 2]]), 1)
torch.Size([t(1)])
torch.Size(t([1.]))
torch.Size([1.0])
""".strip().splitlines()

REFUSED = """
torch.hstack(torch.ones(2, 2))
torch.cat(torch.ones(2, 2))
torch.stack(torch.ones(2, 2))
torch.fmod(t([3]), 0)
1 - t([True])
t([True]) - 1
t([True]) - t([True])
torch.lerp(t([1.]), t([2.], dtype=torch.float64), .5)
torch.lerp(t([1.]), t([2.]), t([.5], dtype=torch.float64))
torch.device('cuda:')
torch.device('cuda:01')
t([1., 2]).index_copy_(0, t([-1]), t([3.]))
t([1., 2]).index_add_(0, t([-1]), t([3.]))
t([1., 2]).index_select(0, t([-1]))
t([1., 2])[t([0], dtype=torch.int16)]
t([1., 2]).gather(0, t([0], dtype=torch.int16))
torch.isposinf(t([1.]), out=t([1.]))
torch.signbit(t([1.]), out=t([1]))
torch.zeros(10**15)
torch.zeros(2**62)
torch.empty(10**15)
torch.randn(10**15)
t(2**70)
t([2**63])
t('a')
t(['a'])
t([1, 'a'])
t([1, [2]])
t([[1, 2], [3]])
t([[1, 2], 3])
t([1, 2])['a']
torch.zeros(0).argmax()
""".strip().splitlines()


def evaluated(expression: str, library: Any) -> str:
    """The printed result, or the type of the error."""
    library.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = eval(expression, {"torch": library, "t": library.tensor, "np": np})
        except Exception as error:  # noqa: BLE001 - its type is what is compared
            return type(error).__name__
    return repr(result).replace("tenfold", "torch")


@pytest.mark.parametrize("expression", [*NUMPY_NUMBERS, *NUMBERS, *FORMS, *REFUSED])
def test_same_as_pytorch(expression: str) -> None:
    assert evaluated(expression, tenfold) == evaluated(expression, torch)


@pytest.mark.parametrize("expression", REFUSED)
def test_refused(expression: str) -> None:
    assert evaluated(expression, tenfold).endswith("Error")
