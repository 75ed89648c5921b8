"""`view_copy` and its kin: values of the view, memory of their own, gradients, `out=`."""

from __future__ import annotations

import pytest

import tenfold

CALLS = {
    "as_strided": ((2, 2), (1, 2)),
    "diagonal": (),
    "expand": ((4, 3, 3),),
    "permute": ((1, 0),),
    "select": (0, 1),
    "squeeze": (),
    "t": (),
    "transpose": (0, 1),
    "unfold": (0, 2, 1),
    "unsqueeze": (0,),
    "view": ((9,),),
}


def both(name, x):
    """A copying form's result and its view's."""
    view = getattr(tenfold, name, None) or getattr(tenfold.Tensor, name)
    return getattr(tenfold, f"{name}_copy")(x, *CALLS[name]), view(x, *CALLS[name])


@pytest.mark.parametrize("name", CALLS)
def test_values_and_memory(name):
    x = tenfold.arange(9.0).view(3, 3)
    made, seen = both(name, x)
    assert made.tolist() == seen.tolist()
    assert made.is_contiguous()
    assert made._base is None
    out = tenfold.empty(0)
    assert getattr(tenfold, f"{name}_copy")(x, *CALLS[name], out=out) is out
    assert out.tolist() == seen.tolist()


@pytest.mark.parametrize("name", CALLS)
def test_gradients(name):
    pytest.importorskip("tenfold.autograd")
    x = tenfold.arange(9.0).view(3, 3).requires_grad_()
    (mine,), (theirs,) = (tenfold.autograd.grad(t.square().sum(), x) for t in both(name, x))
    assert mine.tolist() == theirs.tolist()


def test_several_parts_and_complex_numbers():
    x = tenfold.arange(4)
    parts = [tenfold.empty(0, dtype=tenfold.int64) for _ in range(2)]
    assert tenfold.split_copy(x, 2, out=parts) is None
    assert [p.tolist() for p in parts] == [[0, 1], [2, 3]]
    assert [p.tolist() for p in tenfold.split_with_sizes_copy(x, [1, 3])] == [[0], [1, 2, 3]]
    assert [p.item() for p in tenfold.unbind_copy(x)] == [0, 1, 2, 3]
    with pytest.raises(RuntimeError, match="expected a list of 2 tensors"):
        tenfold.split_copy(x, 2, out=parts[:1])
    pairs = tenfold.view_as_real_copy(tenfold.tensor([1 + 2j]))
    assert pairs.tolist() == [[1.0, 2.0]]
    assert tenfold.view_as_complex_copy(pairs).tolist() == [1 + 2j]


def test_slices_and_the_whole():
    rows = tenfold.arange(12.0).view(3, 4)
    made = tenfold.slice_copy(rows, -1, 1, 4, 2)
    assert made.tolist() == rows[:, 1:4:2].tolist()
    assert tenfold.slice_copy(rows, start=-2).tolist() == rows[-2:].tolist()
    assert tenfold.alias_copy(rows).tolist() == rows.tolist()
    assert tenfold.alias_copy(rows).data_ptr() != rows.data_ptr()


def test_outputs_of_another_dtype_and_dimensions_that_are_not_there():
    x = tenfold.ones(3, 3)
    for name in (*CALLS, "alias", "slice"):
        with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got double instead"):
            getattr(tenfold, f"{name}_copy")(x, *CALLS.get(name, ()), out=tenfold.empty(0, dtype=tenfold.float64))
    with pytest.raises(IndexError, match="Dimension out of range"):
        tenfold.slice_copy(x, -3)


def test_view_copy_of_what_does_not_lie_row_by_row():
    x = tenfold.arange(6.0).view(2, 3).T
    assert tenfold.view_copy(x, (-1,)).tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
    assert tenfold.view_copy(x, (6,), out=tenfold.empty(6)).tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
    assert tenfold.view_copy(x.contiguous(), tenfold.int32).dtype is tenfold.int32
