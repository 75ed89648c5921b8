"""Storages; tensors that get other memory or another size; the old constructors."""

from __future__ import annotations

import pytest

import tenfold


def test_untyped_storages() -> None:
    s = tenfold.UntypedStorage([1, 2, 3])
    assert (s.tolist(), s.nbytes(), s[1], s[1:].tolist()) == ([1, 2, 3], 3, 2, [2, 3])
    s.resize_(2)
    assert s.tolist() == [1, 2]
    meta = tenfold.UntypedStorage(4, device="meta")
    with pytest.raises(NotImplementedError, match="Not available"):
        meta[0]
    assert meta.resize_(8).nbytes() == 8


def test_resizing_keeps_what_fits_and_moves_views() -> None:
    x = tenfold.tensor([1.0, 2.0, 3.0])
    view = x[1:]
    assert x.resize_(2).tolist() == [1, 2]
    x.resize_(2, 3)
    view.fill_(5)
    assert x.view(-1)[:3].tolist() == [1, 5, 5]
    assert x.resize_as_(tenfold.zeros(1)).shape == (1,)


def test_what_requires_grad_is_not_resized() -> None:
    pytest.importorskip("tenfold.autograd")
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        tenfold.Tensor._make_subclass(tenfold.Tensor, tenfold.ones(1), True).resize_(2)


def test_set_shares_memory() -> None:
    x, y = tenfold.zeros(1), tenfold.arange(6.0)
    assert x.set_(y).data_ptr() == y.data_ptr()
    x.set_(y.untyped_storage(), 1, (2, 2), (2, 1))
    assert x.tolist() == [[1, 2], [3, 4]]
    assert x.set_().numel() == 0
    with pytest.raises(RuntimeError, match="Could not set tensor of type"):
        x.set_(tenfold.arange(2))


def test_a_number_is_no_tensors_data() -> None:
    with pytest.raises(TypeError, match="data must be a sequence"):
        tenfold.Tensor(2.5)


def test_what_nobody_wrote_shows_with_deterministic_algorithms() -> None:
    tenfold.use_deterministic_algorithms(True)
    try:
        assert tenfold.empty(2).isnan().all()
        assert tenfold.empty(2, dtype=tenfold.int8).tolist() == [127, 127]
        assert tenfold.ones(1).resize_(2)[1].isnan()
    finally:
        tenfold.use_deterministic_algorithms(False)


def test_python_functions_of_elements() -> None:
    x = tenfold.tensor([1, 2])
    assert x.apply_(lambda v: v * 3).tolist() == [3, 6]
    assert x.map_(tenfold.tensor([1, 1]), lambda a, b: a + b).tolist() == [4, 7]
    assert x.map2_(x.clone(), tenfold.tensor([2]), lambda a, b, c: a + b * c).tolist() == [12, 21]


def test_order_of_dimensions_in_memory() -> None:
    assert tenfold.empty(4, 2, 3).permute(1, 2, 0).dim_order() == (2, 0, 1)


def test_an_unclear_order_of_dimensions_is_cleared_by_one_memory_format() -> None:
    x, formats = tenfold.empty(1, 2, 3, 4), [tenfold.contiguous_format, tenfold.channels_last]
    assert x.dim_order(ambiguity_check=formats) == (0, 1, 2, 3)
    for unclear in (True, [], [tenfold.channels_last]):
        with pytest.raises(RuntimeError, match="unique dim order"):
            x.dim_order(ambiguity_check=unclear)
    for wrong in (None, 1):
        with pytest.raises(TypeError):
            x.contiguous().dim_order(ambiguity_check=wrong)
