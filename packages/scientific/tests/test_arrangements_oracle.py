"""Arrangements of tensors beside PyTorch: what one tensor, a list of one and several of them give."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")


def _kind(result: Any) -> Any:
    return [tuple(t.shape) for t in result] if isinstance(result, tuple) else tuple(result.shape)


@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
@pytest.mark.parametrize("name", ["atleast_1d", "atleast_2d", "atleast_3d"])
def test_one_tensor_gives_one(name: str, shape: tuple[int, ...]) -> None:
    for given in (lambda x: (x,), lambda x: ([x],), lambda x: (x, x)):
        theirs, ours = (getattr(m, name)(*given(m.ones(shape))) for m in (torch, tenfold))
        assert _kind(ours) == _kind(theirs)
