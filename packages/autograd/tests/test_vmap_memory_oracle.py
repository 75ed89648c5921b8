"""What lies where in memory, asked for and changed inside vmap: PyTorch's answers and refusals."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

CALLS: dict[str, Any] = {
    "clone": lambda e, f: e.func.vmap(lambda x: x.clone(memory_format=f)),
    "contiguous": lambda e, f: e.func.vmap(lambda x: x.contiguous(memory_format=f)),
    "inner axis": lambda e, f: e.func.vmap(lambda x: x.contiguous(memory_format=f), in_dims=1),
}


def outcome(call: Any) -> Any:
    try:
        x = call()
    except RuntimeError as error:
        return "NYI" in str(error) or "stride 1" in str(error)
    return tuple(x.shape), x.stride()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4, 5, 6), (2, 3, 4, 5)])
@pytest.mark.parametrize("layout", ["channels_last", "channels_last_3d", "contiguous_format"])
def test_memory_formats(name: str, shape: tuple[int, ...], layout: str) -> None:
    ours, theirs = (outcome(lambda e=e: CALLS[name](e, getattr(e, layout))(e.ones(shape))) for e in (tenfold, torch))
    assert ours == theirs


def test_what_is_not_batched_is_converted() -> None:
    shared = tenfold.ones(3, 4, 5, 6)
    made = tenfold.func.vmap(lambda x: shared.clone(memory_format=tenfold.channels_last))(tenfold.ones(2))
    assert made.stride() == (0, 120, 1, 24, 4)


@pytest.mark.parametrize(
    ("shape", "dim"), [((2, 3), 1), ((3, 2), 0), ((3, 2, 2), 1), ((3, 1, 2), 1), ((2, 5, 3, 2), 2), ((2, 3, 4), 1), ((3, 2), 1)]
)
def test_view_as_complex_asks_for_pairs_side_by_side(shape: tuple[int, ...], dim: int) -> None:
    ours, theirs = (outcome(lambda e=e: e.func.vmap(e.view_as_complex, in_dims=dim)(e.ones(shape))) for e in (tenfold, torch))
    assert ours == theirs
