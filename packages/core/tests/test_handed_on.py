"""Classes that hand on a tensor's attributes: their `__torch_function__` is asked, without one they are refused."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

import tenfold


class Handing:
    """Has a tensor and all that a tensor has, and is none."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __getattr__(self, name: str) -> Any:
        return getattr(self.data, name)


class Asked(Handing):
    seen: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> str:
        cls.seen.append(func.__name__)
        return "asked"


X = tenfold.ones(2, 2)
CALLS = {
    "add": lambda w: tenfold.add(w, 1),
    "add of a tensor": lambda w: tenfold.add(X, w),
    "+": lambda w: X + w,
    "a method": lambda w: X.mul(w),
    "in place": lambda w: X.add_(w),
    "relu": tenfold.relu,
    "sum": tenfold.sum,
    "sum of a dimension": lambda w: tenfold.sum(w, dim=0),
    "matmul": lambda w: tenfold.matmul(X, w),
    "cat": lambda w: tenfold.cat([w, X]),
    "stack": lambda w: tenfold.stack([X, w]),
    "where": lambda w: tenfold.where(X > 0, w, X),
    "clamp": lambda w: tenfold.clamp(X, min=w),
    "split": lambda w: tenfold.split(w, 1),
    "reshape": lambda w: tenfold.reshape(w, (4,)),
    "zeros_like": tenfold.zeros_like,
    "copy_": lambda w: X.copy_(w),
    "add into": lambda w: tenfold.add(X, X, out=w),
    "numel": tenfold.numel,
    "is_floating_point": lambda w: tenfold.is_floating_point(input=w),
    "is_same_size": lambda w: tenfold.is_same_size(X, w),
    "result_type": lambda w: tenfold.result_type(1, w),
    "broadcast_tensors": lambda w: tenfold.broadcast_tensors(X, w),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_class_is_asked(name: str) -> None:
    Asked.seen.clear()
    assert CALLS[name](Asked(tenfold.ones(2, 2))) == "asked"
    assert len(Asked.seen) == 1


@pytest.mark.parametrize("name", CALLS)
def test_without_a_say_it_is_no_tensor(name: str) -> None:
    with pytest.raises(TypeError, match="Handing"):
        CALLS[name](Handing(tenfold.ones(2, 2)))


def test_result_type_takes_tensors_and_numbers() -> None:
    assert tenfold.result_type(X.long(), 1.0) is tenfold.float32
    with pytest.raises(TypeError, match="must be Tensor, not str"):
        tenfold.result_type("1", X)
