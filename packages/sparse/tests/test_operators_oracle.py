"""Operators of tensors of coordinates beside PyTorch's: values, what is stored how, and what is refused in which words."""

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:.*(Sparse|sparse).*:UserWarning")  # PyTorch's, on what it has not finished


def matrix(t, dtype=None, coalesced=False):
    x = t.sparse_coo_tensor([[0, 1, 1, 0], [2, 0, 2, 2]], [1.0, -2.0, 3.0, 5.0], (2, 3), dtype=dtype)
    return x.coalesce() if coalesced else x


def cube(t):
    return t.sparse_coo_tensor([[0, 1, 1], [2, 0, 2], [1, 1, 0]], [1.0, 2.0, 3.0], (2, 3, 2)).coalesce()


def hybrid(t, rest=3):
    return t.sparse_coo_tensor([[0, 1]], [[1.0, 2.0, 3.0][:rest], [4.0, 5.0, 6.0][:rest]], (2, rest))


def empty(t):
    return t.sparse_coo_tensor((2, 3))


def number(t, value=2.0, dtype=None):
    return t.tensor(value, dtype=dtype).to_sparse()


def counted(t, *shape):
    n = 1
    for size in shape:
        n *= size
    return t.arange(float(n)).reshape(shape) - 2


PROGRAMS = [
    lambda t: matrix(t) * number(t),
    lambda t: number(t) * matrix(t),
    lambda t: number(t) * number(t, 3, t.int64),
    lambda t: number(t, 3, t.uint8) * number(t, 3, t.int64),
    lambda t: t.tensor(3) * number(t, 3, t.uint8),
    lambda t: t.tensor(2) * matrix(t, t.int16),
    lambda t: matrix(t) * counted(t, 4, 2, 3),
    lambda t: counted(t, 4, 2, 3) * matrix(t),
    lambda t: matrix(t) * counted(t, 2, 1),
    lambda t: counted(t, 3) * matrix(t),
    lambda t: hybrid(t) * hybrid(t, 1),
    lambda t: hybrid(t, 1) * hybrid(t),
    lambda t: hybrid(t) * counted(t, 4, 2, 3),
    lambda t: hybrid(t, 1) * counted(t, 2, 3),
    lambda t: matrix(t).mul_(counted(t, 3)),
    lambda t: counted(t, 2, 3).mul_(matrix(t)),
    lambda t: matrix(t) * matrix(t),
    lambda t: matrix(t) + empty(t),
    lambda t: empty(t) + matrix(t),
    lambda t: empty(t) + hybrid(t),
    lambda t: hybrid(t) + t.sparse_coo_tensor((2, 3), dtype=t.float64),
    lambda t: matrix(t) // 2,
    lambda t: matrix(t).floor_divide_(2),
    lambda t: matrix(t).div_(-2, rounding_mode="floor"),
    lambda t: t.div(matrix(t), -2, rounding_mode="trunc", out=empty(t)),
    lambda t: t.neg(matrix(t), out=empty(t)),
    lambda t: t.asin(matrix(t) / 10, out=empty(t)),
    lambda t: matrix(t, coalesced=True).abs_().log1p_(),
    lambda t: t.zeros((4, 5), out=matrix(t)),
    lambda t: matrix(t).any(),
    lambda t: t.any(empty(t)),
    lambda t: matrix(t).index_select(1, t.tensor([-1, 0, 2, 2, -3])),
    lambda t: matrix(t).index_select(0, t.tensor([], dtype=t.int64)),
    lambda t: cube(t).index_select(1, t.tensor([2, 2, 0])),
    lambda t: hybrid(t).index_select(1, t.tensor([2, 0])),
    lambda t: matrix(t, t.int8)[0, 2],
    lambda t: matrix(t, t.int32)[1],
    lambda t: matrix(t).narrow_copy(1, 1, 2),
    lambda t: hybrid(t).narrow_copy(1, 1, 2),
    lambda t: t.narrow_copy(cube(t), 0, 1, 1),
    lambda t: t.cat([hybrid(t), hybrid(t, 2)], 1),
    lambda t: t.cat([matrix(t), matrix(t)], -1),
    lambda t: cube(t).permute(0, 1, 2),
    lambda t: cube(t).permute(-3, -2, -1),
    lambda t: cube(t).permute(1, 0, 2),
    lambda t: cube(t).transpose(0, 1),
    lambda t: cube(t).transpose(1, 1),
    lambda t: empty(t).transpose(0, 1),
    lambda t: empty(t).t(),
    lambda t: matrix(t).t_(),
    lambda t: cube(t).transpose_(0, 2),
    lambda t: t._sparse_broadcast_to(matrix(t), (2, 2, 3)),
    lambda t: t._sparse_broadcast_to(hybrid(t, 1), (3, 2, 4)),
    lambda t: t.sparse.softmax(matrix(t), 0),
    lambda t: t.sparse.softmax(cube(t), 1),
    lambda t: t.sparse.softmax(hybrid(t), 1),
    lambda t: t.sparse.log_softmax(hybrid(t), 0),
    lambda t: t.sparse.log_softmax(hybrid(t), -1),
    lambda t: t.sparse.log_softmax(matrix(t) * 200, 1),
    lambda t: t.sparse.softmax(t.sparse_coo_tensor((0, 3)), 0),
    lambda t: t.sparse.softmax(matrix(t), 1, dtype=t.float64),
    lambda t: t.sparse.sum(cube(t), [0, 2]),
    lambda t: t.sparse.sum(hybrid(t), 1),
    lambda t: t.sparse.mm(matrix(t), matrix(t).t()),
    lambda t: t.bmm(cube(t), counted(t, 2, 2, 4)),
    lambda t: t.dsmm(matrix(t), counted(t, 3, 2)),
    lambda t: t.hsmm(matrix(t), counted(t, 3, 2)),
    lambda t: t.hspmm(matrix(t), counted(t, 3, 2)),
    lambda t: matrix(t).smm(counted(t, 3, 2)).coalesce(),
    lambda t: t.sspaddmm(t.ones(2, 2).to_sparse(), matrix(t), counted(t, 3, 2), beta=2, alpha=3).coalesce(),
    lambda t: t.ones(2, 2).to_sparse().sspaddmm(matrix(t), counted(t, 3, 2)).coalesce(),
    lambda t: t.saddmm(t.ones(2, 2).to_sparse(), matrix(t), counted(t, 3, 2)).coalesce(),
    lambda t: matrix(t).new(),
    lambda t: matrix(t).new(4, 5),
    lambda t: matrix(t).new(t.Size([4])),
    lambda t: matrix(t).new(t.tensor([[0, 1]]), t.ones(2), t.Size([3])),
    lambda t: matrix(t).new_zeros((4, 5)),
    lambda t: t.zeros_like(hybrid(t)),
    lambda t: t.zeros_like(matrix(t), layout=t.strided),
    lambda t: t.zeros_like(t.ones(2, 3), layout=t.sparse_coo),
    lambda t: t.empty(2, 3, layout=t.sparse_csr),
    lambda t: t.zeros(2, 2, 3, layout=t.sparse_csc),
    lambda t: t.empty_like(matrix(t, coalesced=True).to_sparse_csr()) * 0,
    lambda t: matrix(t).sparse_resize_((3, 4), 2, 0),
    lambda t: hybrid(t).sparse_resize_and_clear_((4, 5, 6), 2, 1),
    lambda t: matrix(t).new().resize_as_(matrix(t)).zero_(),
    lambda t: t.sparse_coo_tensor([[0]], [1.0], (2,)),
    lambda t: t.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2,), is_coalesced=True),
    lambda t: t.sparse.spdiags(counted(t, 2, 3), t.tensor([1, -1]), (3, 3)).coalesce(),
]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_result_is_pytorchs(number):
    expected, got = PROGRAMS[number](torch), PROGRAMS[number](tenfold)
    assert tuple(got.shape) == tuple(expected.shape)
    assert str(got.dtype).partition(".")[2] == str(expected.dtype).partition(".")[2]
    assert str(got.layout).partition(".")[2] == str(expected.layout).partition(".")[2]
    if expected.is_sparse:
        assert (got.sparse_dim(), got.dense_dim()) == (expected.sparse_dim(), expected.dense_dim())
        if expected.is_coalesced():  # as which PyTorch counts some products that come in order; ours may come in another
            got = got.coalesce()
    want = expected.to_dense().numpy()
    assert got.to_dense().numpy() == pytest.approx(want, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    "program",
    [
        lambda t: cube(t).permute(0, 1, 2),
        lambda t: cube(t).permute(-3, -2, -1),
        lambda t: cube(t).permute(1, 0, 2),
        lambda t: cube(t).transpose(0, 1),
        lambda t: cube(t).transpose(1, 1),
        lambda t: empty(t).transpose(0, 1),
        lambda t: empty(t).permute(1, 0),
        lambda t: t.sparse_coo_tensor([[0]], [1.0], (2,)),
        lambda t: t.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2,)),
        lambda t: t.sparse_coo_tensor((2, 3)),
        lambda t: t.sparse_coo_tensor([[0, 0]], [1.0, 2.0], (2,), is_coalesced=False),
        lambda t: t.zeros_like(matrix(t)),
        lambda t: t._sparse_broadcast_to(matrix(t), (2, 2, 3)),
        lambda t: t.sparse.mm(matrix(t), matrix(t).t()),
        lambda t: t.hspmm(matrix(t), counted(t, 3, 2)).coalesce(),
        lambda t: counted(t, 2, 3) * matrix(t),
    ],
)
def test_what_counts_as_coalesced(program):
    assert program(tenfold).is_coalesced() == program(torch).is_coalesced()


def assigned(t):
    x = matrix(t)
    x[0] = 100


REFUSED = [  # with a part of PyTorch's words
    (lambda t: matrix(t, t.int64).coalesce().log1p_(), "can't be cast to"),
    (lambda t: t.asin(matrix(t, t.int64), out=matrix(t, t.int64)), "can't be cast to"),
    (lambda t: matrix(t, t.int64).div_(2), "can't be cast to"),
    (lambda t: matrix(t).log1p_(), "log1p_ requires coalesced input"),
    (lambda t: matrix(t).sin_(), "sin_ requires coalesced input"),
    (lambda t: matrix(t) // matrix(t), "Sparse floor division requires"),
    (lambda t: counted(t, 4, 2, 3) + matrix(t), "add: expected 'self' and 'other' to have same size"),
    (lambda t: matrix(t) + hybrid(t), "same density"),
    (lambda t: matrix(t) * t.ones(3).to_sparse(), "equal dimensionality"),
    (lambda t: t.sparse.mm(matrix(t), matrix(t, t.float64).t()), "mat1 dtype Float does not match mat2 dtype Double"),
    (lambda t: t.sparse.mm(matrix(t), t.ones(3, 2).double()), "expected scalar type Float but found Double"),
    (lambda t: matrix(t) @ t.ones(4), r"mv: expected self\.size\(-1\) == vec\.size\(-1\)"),
    (lambda t: matrix(t).mv(matrix(t)), "mv: two tensor dim should be 2 and 1"),
    (lambda t: t.bmm(cube(t), t.ones(3, 2, 4)), r"'self.size\(0\)' and 'mat2.size\(0\)' must match"),
    (lambda t: t.bmm(cube(t), t.ones(2, 3, 4)), r"'self.size\(2\)' and 'mat2.size\(1\)' must match"),
    (lambda t: t.hspmm(matrix(t), t.ones(2, 2)), "Expected dim 0 size 3, got 2"),
    (lambda t: t.sspaddmm(matrix(t), matrix(t), t.ones(2, 2)), "Expected dim 0 size 3, got 2"),
    (lambda t: cube(t).permute(0, 1), "does not match the length"),
    (lambda t: cube(t).permute(0, 1, 1), "duplicate dims"),
    (lambda t: hybrid(t).permute(1, 0), "transpositions between sparse and dense dimensions are not allowed"),
    (lambda t: t.cat([matrix(t), matrix(t).t()]), r"All tensors must have the same shape: \[2, 3\].*\[3, 2\]"),
    (lambda t: t.cat([matrix(t), hybrid(t)]), "All tensors must have the same.*2, 0, but tensor at position 1 has 1, 1"),
    (lambda t: t.cat([matrix(t), t.ones(2, 3)]), "a dense tensor was found at position 1"),
    (lambda t: matrix(t).narrow_copy(10, 0, 1), "out of range"),
    (lambda t: matrix(t).narrow_copy(0, 0, 5), "Invalid range to narrow"),
    (lambda t: matrix(t).norm(keepdim=True), "norm_sparse currently does not support keepdim=True"),
    (lambda t: matrix(t).norm(dim=0), "norm_sparse currently only supports full reductions"),
    (lambda t: matrix(t).norm(dtype=t.double), "dtype argument is not supported in frobenius norm"),
    (lambda t: matrix(t).norm(p=0, dtype=t.double), "norm_sparse currently does not support 'dtype' argument"),
    (assigned, "Cannot assign to a sparse tensor"),
    (lambda t: matrix(t).new([6]), "only accepts sizes"),
    (lambda t: matrix(t).new(t.ones(3)), "invalid combination of arguments"),
    (lambda t: matrix(t).new(device="cuda"), "legacy constructor expects device type: cpu"),
    (lambda t: t.sparse.sum(matrix(t), [0, 0]), "dim 0 appears multiple times in the list of dims"),
    (lambda t: t.sparse.softmax(matrix(t), 5), "Dimension out of range"),
    (lambda t: t.empty_like(t.ones(2), layout=t.sparse_coo), "Could not run 'aten::empty_strided'"),
    (lambda t: t.zeros_like(matrix(t), memory_format=t.contiguous_format), "only supported by strided tensors"),
    (lambda t: matrix(t).sparse_resize_((1, 3), 2, 0), "shrinking the size of sparse dimensions"),
    (lambda t: hybrid(t).sparse_resize_((2, 2), 1, 1), "shrinking the size of dense dimensions"),
    (lambda t: matrix(t).sparse_resize_((2, 3, 4), 2, 1), "changing the number of dense dimensions"),
    (lambda t: matrix(t).sparse_resize_((2, 3, 4), 3, 0), "changing the number of sparse dimensions"),
    (lambda t: matrix(t).resize_(3, 3), "Could not run 'aten::resize_'"),
    (lambda t: t.ones(2).to_sparse(blocksize=(1,)), "blocksize.*, but got 1"),
    (lambda t: t._sparse_broadcast_to(cube(t), (3,)), "fewer dimensions"),
    (lambda t: matrix(t).copy_(matrix(t).t()), "."),
    (lambda t: t.zeros((2, 3), out=matrix(t), dtype=t.float64), "does not match dtype of out parameter"),
    (lambda t: t.sparse_coo_tensor([[1, 0]], [1.0, 2.0], is_coalesced=True, check_invariants=True), "cannot set is_coalesced"),
    (lambda t: hybrid(t).unsqueeze(2).transpose(1, 2), "transposed dimensions must be sparse"),
    (lambda t: t.sparse_coo_tensor([[0]] * 4, [1.0], (10**5 + 1,) * 4), "integer multiplication overflow"),
    (lambda t: t.sparse.spdiags(t.ones(1, 3), t.tensor([0]).int(), (3, 3)), "Offset Tensor must have dtype Long but got"),
    (lambda t: t.tensor([1]).to_sparse().requires_grad_(), "only Tensors of floating point dtype can require gradients"),
    (lambda t: matrix(t).is_nonzero(), "Boolean value of Tensor with more than one value is ambiguous"),
    (lambda t: t.Tensor.crow_indices(matrix(t)), "crow_indices expected sparse row compressed tensor layout but got Sparse"),
    (lambda t: t.Tensor.indices(matrix(t).to_sparse_csr()), "indices expected sparse coordinate tensor layout but got SparseCsr"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refusals_are_pytorchs(number):
    program, words = REFUSED[number]
    with pytest.raises(Exception, match=words) as theirs:
        program(torch)
    with pytest.raises(theirs.type, match=words):
        program(tenfold)


def test_a_dense_factor_enlarges_dimensions_of_size_one():  # of which PyTorch fills the first place only
    x = tenfold.sparse_coo_tensor([[0]], [2.0], (1,))
    dense = counted(tenfold, 5, 1, 3)
    assert tenfold.equal((dense * x).to_dense(), dense * 2)


def test_unbound_methods_reach_parts_of_the_layout():
    x = matrix(tenfold, coalesced=True)
    assert tenfold.Tensor.indices(x).shape == (2, 3)
    assert tenfold.Tensor.is_coalesced(x)
    assert tenfold.Tensor.crow_indices(x.to_sparse_csr()).tolist() == [0, 1, 3]
    assert tenfold.Tensor.values(x.to_sparse_csc()).shape == (3,)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_gradients_of_softmax(name, dim):
    grads = []
    for t in (torch, tenfold):
        x = t.sparse_coo_tensor(cube(t).indices(), cube(t).values(), (2, 3, 2)).coalesce().requires_grad_()
        (getattr(t.sparse, name)(x, dim).to_dense() * counted(t, 2, 3, 2)).sum().backward()
        grads.append(x.grad.to_dense().numpy())
    assert grads[1] == pytest.approx(grads[0], rel=1e-5, abs=1e-6)
    assert abs(grads[0]).max() < 100


def test_gradients_of_a_product_of_two_sparse_matrices():
    grads = []
    for t in (torch, tenfold):
        a, b = matrix(t, coalesced=True).requires_grad_(), matrix(t, coalesced=True).t().coalesce().requires_grad_()
        (t.sparse.mm(a, b).to_dense() * counted(t, 2, 2)).sum().backward()
        grads.append((a.grad.to_dense().numpy(), b.grad.to_dense().numpy()))
    for want, got in zip(*grads, strict=True):
        assert got == pytest.approx(want, rel=1e-5)


def test_numbers_of_tensors_of_one_element():
    for value in (0.0, 2.5):
        x = tenfold.sparse_coo_tensor([[0]], [value], (1,))
        assert bool(x) is x.is_nonzero() is (value != 0)
        assert x.item() == float(x) == value
    assert not tenfold.sparse_coo_tensor([[0, 0]], [-1.0, 1.0], (1,)).is_nonzero()


def test_given_parts_may_change_their_sizes_afterwards():
    at, values = tenfold.tensor([[0], [1]]), tenfold.tensor([[3.0, 4.0, 5.0]])
    x = tenfold.sparse_coo_tensor(at, values, (1, 2, 3))
    at.resize_(2, 3)
    values.transpose_(0, 1)
    assert x.coalesce().indices().tolist() == [[0], [1]]
    assert x.coalesce().values().tolist() == [[3.0, 4.0, 5.0]]


def test_empty_tensors_of_huge_sizes_need_no_memory():
    x = tenfold.zeros(10**6, 10**6, layout=tenfold.sparse_coo)
    assert x._nnz() == 0
    assert tenfold.empty(10**5, 10**6, layout=tenfold.sparse_csr).crow_indices().shape == (10**5 + 1,)


def test_meta():
    for layout in (tenfold.sparse_coo, tenfold.sparse_csr, tenfold.sparse_csc):
        x = tenfold.empty(4, 6, layout=layout, device="meta", dtype=tenfold.float64)
        assert x.is_meta
        assert (x.layout, x._nnz(), x.dtype) == (layout, 0, tenfold.float64)
        like = tenfold.empty_like(x)
        assert like.is_meta
        assert like.layout is layout


@pytest.mark.parametrize("dtypes", [("uint8", "int8"), ("int8", "uint8"), ("uint8", "int32"), ("uint8", "float32")])
def test_differences_of_two_dtypes_are_taken_in_their_common_one(dtypes):
    def run(lib):
        a, b = (
            lib.sparse_coo_tensor([[0, 0, k]], lib.tensor([100, 2, 3]).to(getattr(lib, dtype)), (3,))
            for k, dtype in enumerate(dtypes, 1)
        )
        found = [lib.sub(*pair, alpha=alpha).to_dense() for pair in ((a, b), (b, a)) for alpha in (1, 2)]
        return [(str(x.dtype).split(".")[1], x.tolist()) for x in found]

    assert run(tenfold) == run(torch)


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4)], ids=str)
def test_a_linear_layer_with_a_sparse_weight(layout: str, shape: tuple[int, ...]) -> None:
    pytest.importorskip("tenfold.nn")
    weight = np.array([[0, 1.5, 0, -2], [0, 0, 0, 0], [3, 0, 0.5, 0], [0, 0, 0, 1], [1, 1, 1, 1]])
    x, bias = np.random.default_rng(0).standard_normal(shape), np.arange(5.0)
    sparse = getattr(tenfold.tensor(weight), f"to_sparse_{layout}")().requires_grad_()
    given = tenfold.tensor(x).requires_grad_()
    result = tenfold.nn.functional.linear(given, sparse, tenfold.tensor(bias))
    np.testing.assert_allclose(result.detach().numpy(), x @ weight.T + bias)
    of_weight, of_input = tenfold.autograd.grad(result.sum(), [sparse, given])
    np.testing.assert_allclose(of_input.numpy(), np.broadcast_to(weight.sum(0), shape))
    at_stored = weight != 0
    np.testing.assert_allclose(
        of_weight.to_dense().numpy()[at_stored], np.broadcast_to(x.reshape(-1, 4).sum(0), (5, 4))[at_stored]
    )


def test_a_sparse_gradient_set_to_zero_is_detached_in_place() -> None:
    nn = pytest.importorskip("tenfold.nn")
    table = nn.Embedding(5, 3, sparse=True)
    table(tenfold.tensor([1, 2])).sum().backward()
    with tenfold.no_grad():
        table.weight.grad.zero_()
    assert table.weight.grad.detach_() is table.weight.grad
