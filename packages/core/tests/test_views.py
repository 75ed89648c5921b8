"""View operators against NumPy: random chains of them give NumPy's values, share memory, and pass writes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tenfold
from tenfold.dispatch.operators import OPERATORS
from tenfold.ops.view.shapes import view_strides

SHAPES = st.lists(st.integers(1, 4), min_size=0, max_size=4)
FAST = settings(max_examples=150, deadline=None)


def fresh(shape: list[int]) -> tuple[Any, Any]:
    a = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    return tenfold.tensor(a), a.copy()


def a_step(draw: Any, x: Any, a: Any) -> tuple[Any, Any]:
    """One random view operator, applied to the tensor and to the array."""
    n = a.ndim
    kind = draw(
        st.sampled_from(["unsqueeze", "squeeze", "permute", "transpose", "select", "slice", "diagonal", "expand", "flatten"])
    )
    if kind == "unsqueeze":
        d = draw(st.integers(-n - 1, n))
        return x.unsqueeze(d), np.expand_dims(a, d)
    if kind == "expand":
        size = [draw(st.integers(1, 3)), *(draw(st.integers(1, 3)) if m == 1 else m for m in a.shape)]
        return x.expand(size), np.broadcast_to(a, size)
    if kind == "flatten" and a.flags.c_contiguous:
        return x.flatten(), a.reshape(-1)
    if n == 0:
        return x.view(1), a.reshape(1)
    d, e = draw(st.integers(-n, n - 1)), draw(st.integers(-n, n - 1))
    if kind == "squeeze":
        return (x.squeeze(d), a.squeeze(d)) if a.shape[d] == 1 else (x.squeeze(), a.squeeze())
    if kind == "permute":
        order = draw(st.permutations(range(n)))
        return x.permute(*order), a.transpose(order)
    if kind == "transpose":
        return x.transpose(d, e), a.swapaxes(d, e)
    if kind == "select" and a.shape[d]:
        i = draw(st.integers(-a.shape[d], a.shape[d] - 1))
        return x.select(d, i), np.moveaxis(a, d, 0)[i, ...]
    if kind == "diagonal" and d % n != e % n:
        k = draw(st.integers(-2, 2))
        return x.diagonal(k, d, e), a.diagonal(k, d, e)
    cut = slice(draw(st.none() | st.integers(-4, 4)), draw(st.none() | st.integers(-4, 4)), draw(st.none() | st.integers(1, 3)))
    return x[cut], a[cut]


@FAST
@given(SHAPES, st.integers(1, 5), st.data())
def test_chains_of_views_are_numpys(shape: list[int], length: int, data: Any) -> None:
    base, a = fresh(shape)
    x = base
    for _ in range(length):
        x, a = a_step(data.draw, x, a)
    assert tuple(x.shape) == a.shape
    np.testing.assert_array_equal(x.numpy(), a)
    if x.numel() and x is not base:
        assert x.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()
        assert x._is_view()


@FAST
@given(SHAPES, st.integers(1, 4), st.data())
def test_writes_through_views_reach_the_base(shape: list[int], length: int, data: Any) -> None:
    base, a = fresh(shape)
    x, places = base, np.arange(a.size).reshape(a.shape)
    for _ in range(length):
        x, places = a_step(data.draw, x, places)
    version = base._version
    if any(n > 1 and step == 0 for n, step in zip(x.shape, x.stride())) and x.numel():
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
            x[...] = -1.0
        return
    x[...] = -1.0
    expected = a.copy().reshape(-1)
    expected[places.reshape(-1)] = -1
    np.testing.assert_array_equal(base.numpy(), expected.reshape(a.shape))
    assert base._version == version + 1


@FAST
@given(SHAPES, st.data())
def test_view_strides_agree_with_numpys_reshape_without_a_copy(shape: list[int], data: Any) -> None:
    _, a = fresh(shape)
    for _ in range(data.draw(st.integers(0, 3))):
        _, a = a_step(data.draw, tenfold.empty(a.shape), a)
    new = data.draw(st.sampled_from(factorings(a.size)))
    ours = view_strides(a.shape, a.strides, new)
    try:
        theirs: Any = a.reshape(new, copy=False)
    except ValueError:
        theirs = None
    assert (ours is None) == (theirs is None)
    if theirs is not None and theirs.size:
        wide = [i for i, n in enumerate(new) if n > 1]
        assert [ours[i] for i in wide] == [theirs.strides[i] for i in wide]


def factorings(size: int) -> list[tuple[int, ...]]:
    """Shapes of up to three dimensions with this many elements."""
    found = [(size,), (1, size), (size, 1)]
    for m in range(1, size + 1):
        if size % m == 0:
            rest = size // m
            found += [(m, rest), *((m, k, rest // k) for k in range(1, rest + 1) if rest % k == 0)]
    return found


@FAST
@given(SHAPES.filter(bool), st.data())
def test_splits_cover_the_dimension(shape: list[int], data: Any) -> None:
    x, a = fresh(shape)
    d = data.draw(st.integers(0, len(shape) - 1))
    size, parts = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    for split in (x.split(size, d), x.chunk(parts, d)):
        np.testing.assert_array_equal(np.concatenate([p.numpy() for p in split], d), a)
    for i, part in enumerate(x.unbind(d)):
        np.testing.assert_array_equal(part.numpy(), a.take(i, d))
        assert part._is_view()


VIEWS = {
    "view": lambda x: x.view(3, 2),
    "select": lambda x: x.select(1, 2),
    "slice": lambda x: x[:, 1:],
    "ints": lambda x: x[1, 2],
    "mixed": lambda x: x[None, ..., 1],
    "second slice": lambda x: x[1:][0, 1:],
    "diagonal": lambda x: x.diagonal(1),
    "unfold": lambda x: x.unfold(1, 2, 1),
    "expand": lambda x: x.expand(4, 2, 3),
    "permute": lambda x: x.permute(1, 0),
    "T": lambda x: x.T,
    "as_strided": lambda x: x.as_strided((2,), (3,), 1),
    "unbind": lambda x: x.unbind(1)[1],
    "split": lambda x: x.split(2, 1)[1],
    "narrow": lambda x: x.narrow(1, 1, 2),
    "squeeze": lambda x: x.unsqueeze(1).squeeze(1),
    "movedim": lambda x: x.movedim(0, 1),
    "unflatten": lambda x: x.unflatten(1, (3, 1)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_meta_tensors_have_the_same_geometry(name: str) -> None:
    here = VIEWS[name](tenfold.arange(6).view(2, 3))
    there = VIEWS[name](tenfold.empty(2, 3, dtype=tenfold.int64, device="meta"))
    assert there.shape == here.shape
    assert there.storage_offset() == here.storage_offset()
    assert [s for s, n in zip(there.stride(), here.shape) if n > 1] == [s for s, n in zip(here.stride(), here.shape) if n > 1]


@pytest.mark.parametrize("name", VIEWS)
def test_the_generic_kernels_give_the_same_views(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tenfold import plugins
    from tenfold.dispatch import devices, kernels

    expected = VIEWS[name](tenfold.arange(6).view(2, 3)).tolist()
    plugins.load_kernels("cpu", "view"), plugins.load_kernels("cpu", "indexing")
    only_generic = {
        key: ([] if key[1] == "cpu" and tenfold.op.__getattr__(key[0]).view else entries)
        for key, entries in kernels.KERNELS.items()
    }
    monkeypatch.setattr(kernels, "KERNELS", only_generic)
    table = kernels.KernelTable("cpu")
    monkeypatch.setattr(devices.CPU, "_kernels", table)
    tables = {name: operator.calls.kernels for name, operator in OPERATORS.items()}
    saved = {k: dict(v) for k, v in tables.items()}
    try:
        for found in tables.values():
            found.clear()
        assert VIEWS[name](tenfold.arange(6).view(2, 3)).tolist() == expected
    finally:
        for k, v in tables.items():
            v.clear()
            v.update(saved[k])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: x.view(4), RuntimeError, r"shape '\[4\]' is invalid for input of size 6"),
        (lambda x: x.T.view(6), RuntimeError, r"view size is not compatible with input tensor's size and stride"),
        (lambda x: x.view(-1, -1), RuntimeError, "only one dimension can be inferred"),
        (lambda x: x.reshape(5), RuntimeError, r"shape '\[5\]' is invalid for input of size 6"),
        (lambda x: x.transpose(0, 2), IndexError, r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 2\)"),
        (lambda x: x.permute(0, 0), RuntimeError, "duplicate dims"),
        (lambda x: x.permute(0), RuntimeError, "number of dimensions"),
        (lambda x: x.expand(4, 3), RuntimeError, r"expanded size of the tensor \(4\) must match the existing size \(2\)"),
        (lambda x: x.expand(3), RuntimeError, "must be greater or equal to the number of dimensions"),
        (lambda x: x.unsqueeze(3), IndexError, "Dimension out of range"),
        (lambda x: x.squeeze(2), IndexError, "Dimension out of range"),
        (lambda x: x.select(0, 2), IndexError, "index 2 out of range"),
        (lambda x: x.narrow(0, 1, 2), RuntimeError, "exceeds dimension size"),
        (lambda x: x.unfold(0, 3, 1), RuntimeError, "maximum size for tensor at dimension 0 is 2 but size is 3"),
        (lambda x: x.split([1, 2]), RuntimeError, "expects split_sizes to sum exactly to 2"),
        (lambda x: x.unbind(2), IndexError, "Dimension out of range"),
        (lambda x: x.unsqueeze(0).t(), RuntimeError, "<= 2 dimensions"),
        (lambda x: x.view(tenfold.complex128), RuntimeError, "must be divisible"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        call(tenfold.arange(6).view(2, 3))


def test_a_dtype_view_reads_the_same_bytes() -> None:
    x = tenfold.tensor([1.0, -2.0])
    bits = x.view(tenfold.int32)
    np.testing.assert_array_equal(bits.numpy(), x.numpy().view(np.int32))
    bits[0] = 0
    assert x.tolist() == [0.0, -2.0]
    assert x.view(tenfold.uint8).shape == (8,)
    assert x.view(tenfold.uint8).view(tenfold.float32).tolist() == x.tolist()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "bool", "complex64"])
def test_views_of_every_kind_of_dtype(dtype: str) -> None:
    x = tenfold.tensor([[1, 0, 1], [0, 1, 1]]).to(getattr(tenfold, dtype))
    for name, view in VIEWS.items():
        want = view(tenfold.tensor([[1, 0, 1], [0, 1, 1]]))
        got = view(x).real if x.is_complex() else view(x)
        assert got.to(tenfold.int64).tolist() == want.tolist(), name


@FAST
@given(SHAPES.filter(bool), st.data())
def test_adding_into_a_region_is_the_adjoint_of_reading_it(shape: list[int], data: Any) -> None:
    from tenfold.cpu import indexing as cpu
    from tenfold.generic import indexing as generic

    whole = int(np.prod(shape))
    size = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    stride = data.draw(st.lists(st.integers(0, 3), min_size=len(size), max_size=len(size)))
    reach = sum(max(n - 1, 0) * s for n, s in zip(size, stride))
    if reach >= whole:
        return
    offset = data.draw(st.integers(0, whole - reach - 1))
    g = np.arange(1.0, 1 + np.prod(size)).reshape(size)
    expected = np.zeros(whole)
    for place in np.ndindex(*size):
        expected[offset + sum(i * s for i, s in zip(place, stride))] += g[place]
    found = cpu.strided_sum(g, shape, size, stride, offset)
    np.testing.assert_array_equal(found, expected.reshape(shape))
    elsewhere = generic.strided_sum(tenfold.device("cpu").backend, g, shape, size, stride, offset)
    np.testing.assert_array_equal(elsewhere, expected.reshape(shape))


@pytest.mark.parametrize("shape", [(2, -2), (-3,), (-2, 2), (2, -3)])
@pytest.mark.parametrize("turned", [False, True])
def test_no_size_but_minus_one_is_inferred(shape, turned):
    x = tenfold.arange(24.0).reshape(6, 4)
    for _ in range(3):  # later calls go another way
        with pytest.raises(RuntimeError, match="invalid shape dimension"):
            (x.t() if turned else x).reshape(shape)
        with pytest.raises(RuntimeError, match="invalid shape dimension"):
            x.view(*shape)


@pytest.mark.parametrize("shape", [(), []])
def test_one_element_without_dimensions(shape):
    for x in (tenfold.ones(1), tenfold.ones(2, 1)[1:].t()):
        assert x.reshape(shape).shape == tenfold.reshape(x, shape).shape == ()
