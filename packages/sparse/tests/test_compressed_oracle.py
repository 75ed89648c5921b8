"""Compressed tensors beside PyTorch's: parts, printed text, sampled products."""

import pytest

import tenfold

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:.*(Sparse|sparse).*:UserWarning")  # PyTorch's, on what it has not finished

MADE = [
    lambda t: t.sparse_csr_tensor(t.tensor([0, 2, 3]), t.tensor([0, 1, 2]), t.tensor([1.0, 2, 3]), (2, 4)),
    lambda t: t.sparse_csc_tensor(t.tensor([0, 2, 3]), t.tensor([0, 1, 2]), t.tensor([1, 2, 3]), (4, 2)),
    lambda t: t.sparse_bsr_tensor(t.tensor([0, 1, 2]), t.tensor([0, 1]), t.arange(8.0).reshape(2, 2, 2), (4, 4)),
    lambda t: t.arange(24.0).reshape(4, 6).to_sparse_bsc((2, 3)),
    lambda t: t.zeros(2, 3, dtype=t.float64).to_sparse_csr(),
    lambda t: t.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse_csr().t(),
    lambda t: t.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=t.float64).to_sparse_csr(),
    lambda t: t.arange(1.0, 13.0).double()[None].to_sparse_csr(),
    lambda t: t.arange(1.0, 5.0).half()[None].to_sparse_csc(),
    lambda t: t.arange(1.0, 65.0).repeat(8, 1).to_sparse_bsr((2, 2)),
]


@pytest.mark.parametrize("make", MADE)
def test_text_and_elements(make):
    ours, theirs = make(tenfold), make(torch)
    assert repr(ours).replace("tenfold.", "torch.") == repr(theirs)
    assert ours.to_dense().tolist() == theirs.to_dense().tolist()
    assert ours.values().tolist() == theirs.values().tolist()


@pytest.mark.parametrize("n", [3, 4, 11, 13])
def test_text_of_leaves(n):
    """Facts go to the next line where they do in PyTorch, which counts two places more than a line has."""
    ours, theirs = (t.arange(1.0, n + 1)[None].to_sparse_csr().requires_grad_() for t in (tenfold, torch))
    assert repr(ours).replace("tenfold.", "torch.") == repr(theirs)


def test_sampled_products():
    def run(t):
        x = t.sparse_csr_tensor(t.tensor([0, 2, 3]), t.tensor([0, 1, 2]), t.tensor([1.0, 2, 3]), (2, 4))
        a, b = t.arange(6.0).reshape(2, 3), t.arange(12.0).reshape(3, 4)
        return t.sparse.sampled_addmm(x, a, b, beta=0.5, alpha=2.0).values().tolist()

    assert run(tenfold) == run(torch)


WRONG = [((2, 3), (2, 3), (2, 3)), ((2, 3), (2, 4), (4, 5)), ((2, 3), (4, 5), (5, 3)), ((2, 3), (3,), (3, 3)),
         ((2, 2, 3), (3, 2, 4), (3, 4, 3))]  # fmt: skip


@pytest.mark.parametrize("shapes", WRONG, ids=str)
def test_sampled_products_of_other_shapes_are_refused(shapes):
    def words(t):
        first, *others = (t.ones(*shape) for shape in shapes)
        with pytest.raises(RuntimeError) as error:
            t.sparse.sampled_addmm(first.to_sparse_csr(), *others)
        return str(error.value)

    assert words(tenfold).startswith(words(torch).partition(", got")[0][:40])


@pytest.mark.parametrize("name", ["mat1", "mat2"])
def test_sampled_products_are_of_dense_matrices(name):
    x = tenfold.eye(2)
    given = [x.to_sparse_csr() if n == name else x for n in ("mat1", "mat2")]
    with pytest.raises(RuntimeError, match=f"Expected {name} to have strided layout"):
        tenfold.sparse.sampled_addmm(x.to_sparse_csr(), *given)


@pytest.mark.parametrize("kinds", [("int32", "int64"), ("int16", "int16"), ("int16", "int64")])
@pytest.mark.parametrize("layout", ["csr", "csc", "bsr", "bsc"])
def test_dtypes_of_indices_are_refused(layout, kinds):
    said = []
    for t in (torch, tenfold):
        values = t.ones(2) if layout in ("csr", "csc") else t.ones(2, 1, 1)
        make = getattr(t, f"sparse_{layout}_tensor")
        starts, places = (t.tensor(n, dtype=getattr(t, kind)) for n, kind in zip(([0, 1, 2], [0, 1]), kinds))
        with pytest.raises(RuntimeError) as refused:
            make(starts, places, values, (2, 2), check_invariants=True)
        said.append(str(refused.value).splitlines()[0])
    assert said[0] == said[1]


@pytest.mark.parametrize("layout", ["csr", "csc"])
@pytest.mark.parametrize("several", [False, True])
def test_masks_keep_their_shape(layout, several):
    """The values of a batch of masks are a batch, too; those of columns stand by columns."""
    found = []
    for t in (torch, tenfold):
        x = t.tensor([[[1.0, 0.0, 2.0], [7.0, 3.0, 0.0]], [[0.0, 4.0, 5.0], [6.0, 0.0, 8.0]]])
        x = x if several else x[0]
        mask = getattr(x, f"to_sparse_{layout}")()
        y = (x + 1).sparse_mask(mask)
        found.append((str(y.layout)[-3:], y.values().tolist(), tuple(y.values().shape), y.to_dense().tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("layout", ["sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"])
@pytest.mark.parametrize("several", [False, True])
def test_zeros_in_place_leave_no_elements(layout, several):
    found = []
    for t in (torch, tenfold):
        x = t.tensor([[1.0, 0, 2, 0], [0, 0, 3, 0]])
        x = t.stack([x, x]) if several else x
        s = x.to_sparse(layout=getattr(t, layout), blocksize=(1, 2) if "_b" in layout else None).requires_grad_().clone()
        z = s.zero_()
        found.append((z is s, z.requires_grad, z._nnz(), tuple(z.values().shape), z.to_dense().tolist()))
    assert found[0] == found[1]


def test_a_loop_over_several_matrices_keeps_their_layout():
    for layout in ("sparse_csr", "sparse_bsc"):
        found = []
        for t in (torch, tenfold):
            x = t.tensor([[1.0, 0, 2, 0], [0, 0, 3, 0]])
            s = t.stack([x, 2 * x]).to_sparse(layout=getattr(t, layout), blocksize=(1, 2) if "_b" in layout else None)
            found.append([(str(each.layout)[-10:], each.values().tolist()) for part in (list(s), s.unbind(-3)) for each in part])
        assert found[0] == found[1]
