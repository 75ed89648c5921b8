"""Operators of compressed layouts beside PyTorch's: values, `out=`, in-place forms, what is refused."""

import pytest

import tenfold

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:.*(Sparse|sparse).*:UserWarning")  # PyTorch's, on what it has not finished


def matrix(t, dtype=None):
    return t.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [1.0, 2.0, 3.0], (2, 3), dtype=dtype)


def empty(t):
    return t.empty(2, 3, layout=t.sparse_csr)


PROGRAMS = [
    lambda t: t.neg(matrix(t), out=matrix(t)),
    lambda t: matrix(t).sin_(),
    lambda t: matrix(t).expm1_(),
    lambda t: matrix(t).mul_(2),
    lambda t: matrix(t).add_(matrix(t), alpha=2),
    lambda t: matrix(t).zero_(),
    lambda t: matrix(t).fill_(2.0),
    lambda t: t.ones_like(matrix(t)),
    lambda t: matrix(t).signbit(),
    lambda t: matrix(t).angle(),
    lambda t: t.addmv(t.ones(2), matrix(t), t.ones(3), beta=2, alpha=3),
    lambda t: t.add(matrix(t), matrix(t), out=matrix(t)),
    lambda t: t.mul(matrix(t), matrix(t), out=matrix(t)),
    lambda t: t.mm(matrix(t), t.ones(3, 2), out=t.empty(2, 2)),
    lambda t: t.mm(matrix(t), matrix(t).t(), out=t.empty(2, 2, layout=t.sparse_csr)),
    lambda t: matrix(t).copy_(matrix(t) * 2),
    lambda t: matrix(t).requires_grad_().mul(2).detach_(),
]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_result_is_pytorchs(number):
    expected, got = PROGRAMS[number](torch), PROGRAMS[number](tenfold)
    assert str(got.layout).partition(".")[2] == str(expected.layout).partition(".")[2]
    assert str(got.dtype).partition(".")[2] == str(expected.dtype).partition(".")[2]
    assert got.to_dense().numpy() == pytest.approx(expected.to_dense().numpy(), rel=1e-5)


def test_in_place_results_are_in_the_tensor_itself():
    x = matrix(tenfold)
    y = x
    assert x.sqrt_() is x
    assert y.values()[2].item() == pytest.approx(3**0.5)
    out = empty(tenfold)
    assert tenfold.sqrt(matrix(tenfold), out=out) is out
    assert out._nnz() == 3


@pytest.mark.parametrize("program", [lambda t: matrix(t, t.int64).sin_(), lambda t: t.sin(matrix(t), out=matrix(t, t.int64))])
def test_results_that_the_dtype_cannot_hold_are_refused(program):
    for t in (torch, tenfold):
        with pytest.raises(RuntimeError, match="can't be cast to"):
            program(t)


def test_random_numbers_go_to_the_places():
    x = matrix(tenfold).normal_()
    assert x.crow_indices().tolist() == [0, 1, 3]
    assert x.values().tolist() != [1.0, 2.0, 3.0]


def test_the_only_element_is_a_number():
    x = tenfold.sparse_csr_tensor([0, 1], [0], [2.0], (1, 1))
    assert x.item() == float(x) == 2
    assert x.is_nonzero()
    assert not x.zero_().is_nonzero()
    with pytest.raises(TypeError, match="assign"):
        x[0, 0] = 1


def test_back_to_coordinates():
    for name in ("csr", "csc"):
        x = getattr(matrix(tenfold), f"to_sparse_{name}")().to_sparse_coo()
        assert x.layout is tenfold.sparse_coo
        assert tenfold.equal(x.to_dense(), matrix(tenfold).to_dense())
    assert tenfold.zeros(0, 5).to_sparse_csr().to_sparse_coo()._nnz() == 0


@pytest.mark.parametrize("options", [{}, {"transpose": True}, {"out_int32": True}])
def test_coordinates_of_compressed_indices(options):
    for starts, places in (([0, 1, 3], [2, 0, 2]), ([[0, 1, 2], [0, 2, 2]], [[0, 1], [2, 3]])):
        expected = torch._convert_indices_from_csr_to_coo(torch.tensor(starts), torch.tensor(places), **options)
        got = tenfold._convert_indices_from_csr_to_coo(tenfold.tensor(starts), tenfold.tensor(places), **options)
        assert got.tolist() == expected.tolist()
        assert str(got.dtype).partition(".")[2] == str(expected.dtype).partition(".")[2]


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (lambda t: t.empty(3, layout=t.sparse_csr), r"Only batched sparse compressed .* are supported, but got size \[3\]"),
        (lambda t: t.empty(4, 4, layout=t.sparse_bsr), "expected sparse compressed .* tensor layout but got SparseBsr"),
        (
            lambda t: t._validate_sparse_compressed_tensor_args(
                t.tensor([0, 1, 3]), t.tensor([2, 0, 7]), t.ones(3), (2, 3), t.sparse_csr
            ),
            "0 <= col_indices < ncols",
        ),
    ],
)
def test_refusals_are_pytorchs(program, words):
    for t in (torch, tenfold):
        with pytest.raises(RuntimeError, match=words):
            program(t)


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin", "max", "min"])
def test_what_becomes_of_a_rows_products(reduce):
    """An empty row, and negative products, so that a 0 of no element would show."""
    found = []
    for t in (tenfold, torch):
        a = t.tensor([[1.0, 0, 2], [0, 0, 0], [3, 4, 0], [0, -1, 0]], dtype=t.float64).to_sparse_csr().requires_grad_()
        b = t.tensor([[1.0, -2], [3, 4], [5, -6]], dtype=t.float64, requires_grad=True)
        made = t.sparse.mm(a, b, reduce)
        (made * t.arange(8.0, dtype=t.float64).reshape(4, 2)).sum().backward()
        found.append([made.tolist(), a.grad.to_dense().tolist(), b.grad.tolist()])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "program",
    [
        lambda t: t.sparse.mm(matrix(t), t.ones(3, 2), "prod"),
        lambda t: t.sparse.mm(matrix(t), t.ones(2, 2), "mean"),
        lambda t: t.sparse.mm(matrix(t).to_sparse_csc(), t.ones(3, 2), "mean"),
        lambda t: t.sparse.mm(matrix(t).to_dense(), t.ones(3, 2), reduce="amax"),
    ],
)
def test_what_has_no_such_reduction(program):
    for t in (tenfold, torch):
        with pytest.raises(RuntimeError):
            program(t)


def sampled(t, kind, **options):
    one = t.tensor([[1.0, 0, 2], [0, 3, 0]]).to_sparse_csr()
    starts, places = t.stack([one.crow_indices()] * 2), t.stack([one.col_indices(), t.tensor([0, 1, 2])])
    several = t.sparse_csr_tensor(starts, places, t.arange(6.0).reshape(2, 3), (2, 2, 3))
    a, b = t.arange(16.0).reshape(2, 2, 4) / 7, t.arange(24.0).reshape(2, 4, 3) / 5
    parts = {
        "one": (one, a[0], b[0]), "several": (several, a, b), "one for all": (one, a, b),
        "nothing to add": (one, a[0, :, :0], b[0, :0]),
        "one of several": (several, a[:1], b), "no batch": (several, a[0], b), "the first alone": (one, a, b[0]),
        "fewer": (several, a[:1], b[:1]),
    }  # fmt: skip
    return t.sparse.sampled_addmm(*parts[kind], **options)


@pytest.mark.parametrize("options", [{}, {"alpha": 2.0, "beta": 0.5}])
@pytest.mark.parametrize("kind", ["one", "several", "one for all", "nothing to add"])
def test_products_at_places_of_several_matrices(kind, options):
    ours, theirs = sampled(tenfold, kind, **options), sampled(torch, kind, **options)
    assert tuple(ours.shape) == tuple(theirs.shape)
    torch.testing.assert_close(torch.tensor(ours.values().tolist()), theirs.values())
    assert ours.col_indices().tolist() == theirs.col_indices().tolist()


@pytest.mark.parametrize("kind", ["one of several", "no batch", "the first alone", "fewer"])
def test_products_at_places_need_as_many_matrices(kind):
    for t in (tenfold, torch):
        with pytest.raises(RuntimeError, match="to have the same batch size"):
            sampled(t, kind)
