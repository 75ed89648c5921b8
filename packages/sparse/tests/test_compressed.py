"""Compressed rows and columns: what they hold, other layouts, operators, gradients, refusals."""

import copy
import pickle

import pytest

import tenfold

LAYOUTS = ["csr", "csc", "bsr", "bsc"]
DENSE = [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0]]


def example(layout="csr", dense=DENSE):
    block = ((1, 2),) if layout in ("bsr", "bsc") else ()
    return getattr(tenfold.tensor(dense), f"to_sparse_{layout}")(*block)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_make_the_tensor_again(layout):
    x = example(layout)
    assert x.layout is getattr(tenfold, f"sparse_{layout}")
    assert x.to_dense().tolist() == DENSE
    starts, places = (x.crow_indices, x.col_indices) if layout in ("csr", "bsr") else (x.ccol_indices, x.row_indices)
    made = getattr(tenfold, f"sparse_{layout}_tensor")(starts(), places(), x.values(), x.shape, check_invariants=True)
    assert tenfold.equal(made, x)
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.clone(), x.to_sparse().to_sparse(layout=tenfold.sparse_csr)):
        assert tenfold.equal(other, x)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("other", LAYOUTS)
def test_from_layout_to_layout(layout, other):
    x, target, blocks = example(layout), getattr(tenfold, f"sparse_{other}"), ("bsr", "bsc")
    if layout in blocks and other not in blocks:
        with pytest.raises(RuntimeError, match="of blocks is not supported: use to_dense"):
            x.to_sparse(layout=target)
        x = x.to_sparse()
    block = None if other not in blocks else x.blocksize if layout in blocks else (2, 1)
    assert x.to_sparse(layout=target, blocksize=block).to_dense().tolist() == DENSE
    assert example(layout).to_sparse().is_sparse


@pytest.mark.parametrize("layout", LAYOUTS)
def test_operators(layout):
    x, dense = example(layout), tenfold.tensor(DENSE)
    for made, wanted in [
        (x * 2, dense * 2),
        (x.sin(), dense.sin()),
        (x.t(), dense.t()),
        (x + x, dense * 2),
        (x - x * 2, -dense),
        (x + dense, dense * 2),
        (x * dense, dense * dense),
        (x @ tenfold.ones(4, 3), dense @ tenfold.ones(4, 3)),
        (tenfold.ones(3, 2) @ x, tenfold.ones(3, 2) @ dense),
        (x.mv(tenfold.arange(4.0)), dense.mv(tenfold.arange(4.0))),
        (x @ x.t(), dense @ dense.t()),
        (x.double(), dense.double()),
        (x.clone().mul_(3), dense * 3),
        (x.sum(), dense.sum()),
        (x[1], dense[1]),
    ]:
        assert made.dtype is wanted.dtype
        assert tenfold.equal(made.to_dense(), wanted)


def test_gradients_reach_the_values():
    values, dense = tenfold.tensor([1.0, 2.0, 3.0], requires_grad=True), tenfold.rand(4, 2, requires_grad=True)
    x = tenfold.sparse_csr_tensor([0, 2, 3], [0, 1, 2], values, (2, 4))
    (x @ dense).sum().backward()
    assert tenfold.allclose(values.grad, dense.detach().sum(1)[:3])
    assert tenfold.allclose(dense.grad, tenfold.tensor([1.0, 2.0, 3.0, 0.0]).unsqueeze(1).expand(4, 2))
    leaf = tenfold.sparse_csr_tensor([0, 2, 3], [0, 1, 2], [1.0, 2.0, 3.0], (2, 4), requires_grad=True)
    leaf.to_dense().square().sum().backward()
    assert leaf.grad.layout is tenfold.sparse_csr
    assert leaf.grad.values().tolist() == [2.0, 4.0, 6.0]


def test_batches_of_matrices():
    dense = tenfold.tensor(DENSE).expand(2, 3, 2, 4)
    x = dense[0].to_sparse_csr()
    assert x.values().shape == (3, 3)
    assert tenfold.equal(x.to_dense(), dense[0])
    assert tenfold.equal(x[1].to_dense(), dense[0, 1])
    with pytest.raises(RuntimeError, match="same number of specified elements"):
        tenfold.tensor([[[1.0]], [[0.0]]]).to_sparse_csr()


@pytest.mark.parametrize(
    ("starts", "places", "size", "demand"),
    [
        ([1, 2, 3], [0, 1, 2], (2, 4), r"crow_indices\[\.\.\., 0\] == 0"),
        ([0, 2, 4], [0, 1, 2], (2, 4), "== nnz"),
        ([0, 2, 3], [0, 1, 9], (2, 4), "0 <= col_indices < ncols"),
        ([0, 2, 3], [1, 0, 2], (2, 4), "sorted and distinct"),
        ([0, 3], [0, 1, 2], (2, 4), r"number of rows \+ 1"),
    ],
)
def test_invariants(starts, places, size, demand):
    values = [1.0, 2.0, 3.0]
    assert tenfold.sparse_csr_tensor(starts, places, values, size)._nnz() == 3
    with pytest.raises(RuntimeError, match=demand):
        tenfold.sparse_csr_tensor(starts, places, values, size, check_invariants=True)


def test_refusals():
    with pytest.raises(RuntimeError, match="column compressed tensor layout but got SparseCsr"):
        example().ccol_indices()
    with pytest.raises(RuntimeError, match="coordinate tensor layout but got Strided"):
        tenfold.ones(2).coalesce()
    with pytest.raises(RuntimeError, match="divisible by given blocksize"):
        tenfold.ones(2, 3).to_sparse_bsr((2, 2))
    with pytest.raises(RuntimeError, match="blocksize"):
        tenfold.ones(2, 3).to_sparse(layout=tenfold.sparse_bsr)
    with pytest.raises(NotImplementedError, match="exp"):
        example().exp()


@pytest.mark.parametrize("dense", [[[0.0, 0.0]], [[float("inf"), float("nan")]]])
def test_zeros_and_what_is_no_number(dense):
    assert str(example(dense=dense).to_dense()) == str(tenfold.tensor(dense))
    assert tenfold.zeros(0, 3).to_sparse_csr().to_dense().shape == (0, 3)


@pytest.mark.parametrize(
    ("starts", "places", "values", "size", "demand"),
    [
        ([[0, 2, 4]], [0, 1, 0, 1], [4], (2, 2), "dimensionalities must be equal but got 2 and 1"),
        ([[0, 2, 4]], [[0, 1, 0, 1]], [4], (2, 2), "values must have dimensionality > sum of batch and block"),
        ([0, 2, 4], [0, 1, 0, 1], [4], (2, 2, 2), r"\(=0 \+ 2 \+ 0\) but got 3"),
        ([[0, 2, 4]], [[0, 1, 0, 1]], [1, 4], (2, 2, 2), r"tensor batch dimensions \(=\[2\]\)"),
        ([0, 2, 4], [0, 1, 0, 1, 1], [4], (2, 2), r"col_indices.shape\[-1\] must be equal to nnz \(=4\)"),
    ],
)
def test_parts_of_other_sizes_are_refused(starts, places, values, size, demand):
    parts = tenfold.tensor(starts), tenfold.tensor(places), tenfold.ones(values)
    with pytest.raises(RuntimeError, match=demand):
        tenfold._validate_sparse_compressed_tensor_args(*parts, size, tenfold.sparse_csr)


def test_indices_with_gaps_between_them_are_refused():
    places, values = tenfold.tensor([0, 1, 0, 1]), tenfold.ones(4)
    with pytest.raises(RuntimeError, match="expected crow_indices to be a contiguous tensor per batch"):
        tenfold.sparse_csr_tensor(tenfold.tensor([0, 9, 2, 9, 4])[::2], places, values, (2, 2), check_invariants=True)


def test_what_conversions_cannot_heed_is_refused():
    for given, what in (({"blocksize": (1, 1)}, "blocksize"), ({"dense_dim": 1}, "dense_dim"), ({"sparse_dim": 1}, "sparse_dim")):
        with pytest.raises(RuntimeError, match=f"conversion from SparseCsr to Sparse with {what} argument"):
            example().to_sparse(**given)
    with pytest.raises(RuntimeError, match="to_sparse_csc: Expected product of batch dimensions to be non-zero"):
        tenfold.ones(0, 2, 2).to_sparse_csc()


def test_matrices_of_several_dimensions_are_chosen_by_one_index():
    dense = tenfold.arange(1.0, 25.0).reshape(2, 3, 2, 2)
    x = dense.to_sparse_csr()
    assert x[1, 2].layout is tenfold.sparse_csr
    assert tenfold.equal(x[1, 2].to_dense(), dense[1, 2])
    assert x[1, 2, 1].to_dense().tolist() == dense[1, 2, 1].tolist()


def test_coordinates_of_no_elements():
    x = tenfold.zeros(2, 3).to_sparse_csr()
    assert tenfold._convert_indices_from_csr_to_coo(x.crow_indices(), x.col_indices()).shape == (2, 0)
