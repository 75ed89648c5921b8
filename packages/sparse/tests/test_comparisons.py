"""What `testing.assert_close` says of sparse tensors that differ."""

from __future__ import annotations

import pytest

import tenfold

assert_close = pytest.importorskip("tenfold.testing").assert_close
DENSE = [[0.0, 1.0], [2.0, 0.0]]


def coordinates(at, values):
    return tenfold.sparse_coo_tensor(at, values, (2, 2))


def test_equal_ones_pass():
    for layout in (tenfold.sparse_coo, tenfold.sparse_csr, tenfold.sparse_csc):
        x = tenfold.tensor(DENSE).to_sparse(layout=layout)
        assert_close(x, x.clone())
        assert_close(x, tenfold.tensor(DENSE), check_layout=False)


@pytest.mark.parametrize(
    ("at", "values", "said"),
    [
        ([[0, 1], [1, 0]], [1.0, 3.0], "Sparse COO values are not close"),
        ([[0, 1], [1, 1]], [1.0, 2.0], "Sparse COO indices are not equal"),
        ([[0], [1]], [1.0], "number of specified values in sparse COO tensors does not match: 2 != 1"),
    ],
)
def test_coordinates(at, values, said):
    actual = coordinates([[0, 1], [1, 0]], [1.0, 2.0])
    expected = coordinates(at, values)
    if len(values) == 1:
        actual, expected = actual.coalesce(), expected.coalesce()
    with pytest.raises(AssertionError, match=said):
        assert_close(actual, expected)


def test_dimensions_of_coordinates():
    x = tenfold.ones(2, 3, 4)
    with pytest.raises(AssertionError, match="number of sparse dimensions in sparse COO tensors does not match: 3 != 2"):
        assert_close(x.to_sparse(), x.to_sparse(2))
    once = coordinates([[0, 1], [1, 0]], [1.0, 2.0])
    with pytest.raises(AssertionError, match="is_coalesced"):
        assert_close(once, once.coalesce())


@pytest.mark.parametrize(("layout", "first", "second"), [("csr", "crow", "col"), ("csc", "ccol", "row")])
def test_compressed(layout, first, second):
    make = getattr(tenfold, f"sparse_{layout}_tensor")
    right = make([0, 1, 2], [0, 1], [1.0, 2.0], (2, 2))
    for parts, said in (
        (([0, 2, 2], [0, 1], [1.0, 2.0]), f"{first}_indices are not equal"),
        (([0, 1, 2], [1, 1], [1.0, 2.0]), f"{second}_indices are not equal"),
        (([0, 1, 2], [0, 1], [1.0, 3.0]), "values are not close"),
    ):
        with pytest.raises(AssertionError, match=f"Sparse {layout.upper()} {said}"):
            assert_close(right, make(*parts, (2, 2)))


def test_none_is_only_none():
    for other in (False, 0, tenfold.tensor(0.0)):
        with pytest.raises(AssertionError, match="None mismatch"):
            assert_close(other, None)
    assert_close(tenfold.ones(2, device="meta"), tenfold.zeros(2, device="meta"))


def test_layouts_are_no_classes() -> None:
    x = tenfold.eye(2)
    for options in ({}, {"allow_subclasses": False}):
        assert_close(x.to_sparse(), x.to_sparse_csr(), check_layout=False, **options)
        assert_close(x.to_sparse(), x, check_layout=False, **options)
        with pytest.raises(AssertionError, match="'layout' do not match"):
            assert_close(x.to_sparse_csc(), x.to_sparse_csr(), **options)
