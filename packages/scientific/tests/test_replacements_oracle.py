"""Copies with a part replaced, of tensors that lie in every order of memory: values and strides are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

INPUTS = {
    "row by row": lambda t: t.arange(24.0).reshape(4, 6),
    "transposed": lambda t: t.arange(24.0).reshape(6, 4).T,
    "inside its memory": lambda t: t.arange(48.0)[24:].reshape(4, 6),
    "transposed inside its memory": lambda t: t.arange(48.0).reshape(8, 6)[2:6].T,
    "with gaps": lambda t: t.arange(96.0).reshape(8, 12)[::2, ::2],
    "channels last": lambda t: t.arange(24.0).reshape(1, 2, 3, 4).contiguous(memory_format=t.channels_last),
    "permuted": lambda t: t.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
    "expanded": lambda t: t.arange(4.0).reshape(4, 1).expand(4, 6),
    "complex": lambda t: t.complex(t.arange(24.0), t.ones(24)).reshape(6, 4).T,
}
CALLS = {
    "as_strided_scatter": lambda t, x, src: t.as_strided_scatter(x, src(2, 2), (2, 2), (3, 1)),
    "as_strided_scatter at": lambda t, x, src: t.as_strided_scatter(x, src(2, 2), (2, 2), (3, 1), 2),
    "as_strided_scatter near": lambda t, x, src: x.as_strided_scatter(src(2), (2,), (1,), x.storage_offset()),
    "select_scatter": lambda t, x, src: x.select_scatter(src(*x.shape[:-1]), -1, 1),
    "slice_scatter": lambda t, x, src: x.slice_scatter(src(*x[1::2].shape), 0, 1, None, 2),
    "diagonal_scatter": lambda t, x, src: x.diagonal_scatter(src(*x.diagonal(1, -1, 0).shape), 1, -1, 0),
}


def sources(t: Any) -> Any:
    def src(*shape: int) -> Any:
        x = t.zeros(shape)
        return t.arange(100.0, 100.0 + x.numel()).reshape(shape)

    return src


@pytest.mark.parametrize("lies", INPUTS)
@pytest.mark.parametrize("call", CALLS)
def test_values_and_strides(lies: str, call: str) -> None:
    mine, theirs = (CALLS[call](t, INPUTS[lies](t), sources(t)) for t in (tenfold, torch))
    assert mine.tolist() == theirs.tolist()
    assert mine.stride() == theirs.stride()
    if call.startswith("as_strided"):
        assert mine.storage_offset() == theirs.storage_offset()


@pytest.mark.parametrize("lies", INPUTS)
@pytest.mark.parametrize("call", CALLS)
def test_gradients(lies: str, call: str) -> None:
    """Zero where the source lies, the source's own elsewhere: PyTorch refuses most of them, or has another sum."""
    x = INPUTS[lies](tenfold).to(tenfold.complex128 if lies == "complex" else tenfold.float64)
    sized: list[Any] = []
    CALLS[call](tenfold, x, lambda *shape: sized.append(shape) or tenfold.zeros(shape))
    src = tenfold.ones(sized[0], dtype=x.dtype)

    def run(x: Any, src: Any) -> Any:
        return CALLS[call](tenfold, x, lambda *shape: src)

    # What is expanded, or has gaps, is so inside of the function: the differences are taken of elements that lie apart.
    base = x.clone().contiguous().requires_grad_()
    order = sorted(range(x.dim()), key=lambda d: -x.stride()[d])
    lain = lambda b: b.permute(order).contiguous().permute([order.index(d) for d in range(x.dim())])  # noqa: E731
    assert tenfold.autograd.gradcheck(lambda b, s: run(lain(b), s), (base, src.requires_grad_()))


@pytest.mark.parametrize("t", [tenfold, torch])
def test_a_region_that_shows_an_element_twice_is_refused(t: Any) -> None:
    with pytest.raises(RuntimeError, match="single memory location"):
        t.as_strided_scatter(t.zeros(4), t.ones(2), (2,), (0,))
