"""Tensors of coordinates: what they hold, what operators make of them, and gradients through them."""

import copy
import pickle

import pytest

import tenfold


def example(**options):
    return tenfold.sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], [3.0, 4.0, 5.0], (2, 3), **options)


DENSE = [[0.0, 0.0, 3.0], [9.0, 0.0, 0.0]]


def test_equal_coordinates_add_up():
    x = example()
    assert not x.is_coalesced()
    assert x._nnz() == 3
    assert x.to_dense().tolist() == DENSE
    summed = x.coalesce()
    assert summed.indices().tolist() == [[0, 1], [2, 0]]
    assert summed.values().tolist() == [3.0, 9.0]
    with pytest.raises(RuntimeError, match=r"call \.coalesce"):
        x.values()


def test_a_tensor_like_any_other_to_who_asks():
    x = example(dtype=tenfold.float64)
    assert isinstance(x, tenfold.Tensor)
    assert x.is_sparse
    assert x.layout is tenfold.sparse_coo
    assert x.shape == (2, 3)
    assert x.dtype is tenfold.float64
    assert x.numel() == 6
    assert len(x) == 2
    assert (x.sparse_dim(), x.dense_dim()) == (2, 0)
    assert x.float().dtype is tenfold.float32
    assert x.to(tenfold.float16)._values().dtype is tenfold.float16


def test_dense_and_back():
    dense = tenfold.tensor(DENSE)
    assert dense.to_dense() is dense
    assert tenfold.equal(dense.to_sparse().to_dense(), dense)
    hybrid = dense.to_sparse(1)
    assert hybrid.sparse_dim() == 1
    assert hybrid.values().shape == (2, 3)
    assert tenfold.equal(hybrid.to_dense(), dense)
    assert tenfold.zeros(2, 3).to_sparse()._nnz() == 0


@pytest.mark.parametrize("seed", range(3))
def test_gradients_reach_values_and_the_dense_factor(seed):
    tenfold.manual_seed(seed)
    at = tenfold.stack([tenfold.randint(4, (7,)), tenfold.randint(5, (7,))])
    values, dense = tenfold.randn(7, requires_grad=True), tenfold.randn(5, 2, requires_grad=True)
    weight = tenfold.randn(4, 2)
    (tenfold.sparse.mm(tenfold.sparse_coo_tensor(at, values, (4, 5)), dense) * weight).sum().backward()
    full = tenfold.sparse_coo_tensor(at, values.detach(), (4, 5)).to_dense()
    assert tenfold.allclose(dense.grad, full.t() @ weight, atol=1e-6)
    assert tenfold.allclose(values.grad, (weight @ dense.detach().t())[tuple(at)], atol=1e-6)


def test_leaf_of_its_own_has_a_sparse_gradient():
    x = example(requires_grad=True)
    assert x.requires_grad
    assert x.is_leaf
    (x @ tenfold.ones(3)).sum().backward()
    assert x.grad.is_sparse
    assert x.grad.to_dense().tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]


def test_operators_that_keep_zeros():
    x, dense = example(), tenfold.tensor(DENSE)
    for made, wanted in [
        (x.sqrt(), dense.sqrt()),
        (2 * x / 4, dense / 2),
        (x + x.t().t(), dense * 2),
        (x - x, dense * 0),
        (x * x, dense * dense),
        (x * tenfold.arange(3.0), dense * tenfold.arange(3.0)),
        (x.t(), dense.t()),
        (x.unsqueeze(1), dense.unsqueeze(1)),
        (x[1], dense[1]),
        (x.index_select(0, tenfold.tensor([1, 1, 0])), dense[[1, 1, 0]]),
        (tenfold.cat([x, x], 1), tenfold.cat([dense, dense], 1)),
        (tenfold.stack(list(x)), dense),
        (x.sum(0), dense.sum(0)),
        (x.pow(2), dense**2),
    ]:
        assert made.is_sparse
        assert tenfold.equal(made.to_dense(), wanted)
    assert x.sum() == 12
    assert x[1, 0] == 9
    assert x.norm() == dense.norm()
    assert tenfold.equal(tenfold.ones(2, 3) + x, 1 + dense)
    assert tenfold.equal(dense.sparse_mask(x.coalesce()).to_dense(), dense)


def test_softmax_counts_only_what_is_stored():
    x = tenfold.sparse_coo_tensor([[0, 0, 1], [0, 2, 1]], [1.0, 2.0, 5.0], (2, 3))
    rows = tenfold.sparse.softmax(x, 1)
    assert tenfold.allclose(rows.values(), tenfold.cat([tenfold.softmax(tenfold.tensor([1.0, 2.0]), 0), tenfold.ones(1)]))
    assert tenfold.allclose(tenfold.sparse.log_softmax(x, 1).values(), rows.values().log())


def test_in_place_operators_change_the_tensor_itself():
    x = example()
    y = x
    x.mul_(2).add_(example())
    assert y.to_dense().tolist() == (tenfold.tensor(DENSE) * 3).tolist()
    assert tenfold.ones(2, 3).add_(x).sum() == 6 + 36


def test_copies_and_pickles():
    x = example()
    for other in (x.clone(), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert other.is_sparse
        assert tenfold.equal(other.to_dense(), x.to_dense())


def test_what_would_fill_the_zeros_is_refused_by_name():
    with pytest.raises(NotImplementedError, match=r"aten::exp.*to_dense"):
        example().exp()
    with pytest.raises(RuntimeError, match=r"Use add\(dense, sparse\)"):
        example() + tenfold.ones(2, 3)
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        example() @ example()


def test_constructor_refuses_what_does_not_fit():
    with pytest.raises(RuntimeError, match="same nnz"):
        tenfold.sparse_coo_tensor([[0, 1]], [1.0], (3,))
    with pytest.raises(RuntimeError, match="sparse_dim"):
        tenfold.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3, 2))
    with tenfold.sparse.check_sparse_tensor_invariants(), pytest.raises(RuntimeError, match="found index 5"):
        tenfold.sparse_coo_tensor([[0, 5]], [1.0, 2.0], (3,))


def test_legacy_classes():
    x = tenfold.sparse.FloatTensor(tenfold.tensor([[0, 1], [1, 0]]), tenfold.tensor([1.0, 2.0]), tenfold.Size([2, 3]))
    assert isinstance(x, tenfold.sparse.FloatTensor)
    assert not isinstance(x, tenfold.sparse.DoubleTensor)
    assert x.type() == "torch.sparse.FloatTensor"
    assert tenfold.sparse.FloatTensor(2, 3)._nnz() == 0


def test_empty_tensors():
    x = tenfold.sparse_coo_tensor(size=(2, 3))
    assert (x @ tenfold.ones(3, 2)).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert repr(x).startswith("tensor(indices=tensor([], size=(2, 0)),")
    assert x.coalesce().values().shape == (0,)


def test_sizes_without_places_and_products_with_one_number():
    x = tenfold.sparse_coo_tensor(tenfold.zeros(2, 3).long(), tenfold.ones(3), (0, 4))
    assert x.coalesce()._nnz() == 0
    assert (example() * tenfold.tensor(2.0).to_sparse()).to_dense().tolist() == (tenfold.tensor(DENSE) * 2).tolist()
    assert tenfold.empty_like(example()).layout is tenfold.sparse_coo
    assert example().new_zeros(5, 6).shape == (5, 6)


def test_places_of_another_sparse_tensor():
    mask = tenfold.sparse_coo_tensor([[0, 0, 1], [0, 2, 1]], [1.0, 1.0, 1.0], (2, 3)).coalesce()
    assert example().sparse_mask(mask).values().tolist() == [0.0, 3.0, 0.0]


def test_diagonals():
    made = tenfold.sparse.spdiags(tenfold.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), tenfold.tensor([0, -1]), (3, 3))
    assert made.to_dense().tolist() == [[1.0, 0.0, 0.0], [4.0, 2.0, 0.0], [0.0, 5.0, 3.0]]
    with pytest.raises(RuntimeError, match="does not match the number of offsets"):
        tenfold.sparse.spdiags(tenfold.ones(2, 2), tenfold.tensor([0]), (2, 2))


def test_checks_are_a_switch_for_a_block_and_a_function():
    checks = tenfold.sparse.check_sparse_tensor_invariants(True)
    with checks, pytest.raises(RuntimeError, match="already activated"):
        checks.__enter__()
    assert not tenfold.sparse.check_sparse_tensor_invariants.is_enabled()

    @tenfold.sparse.check_sparse_tensor_invariants(enable=True)
    def wrong():
        tenfold.sparse_coo_tensor([[0, 5]], [1.0, 2.0], (3,))

    with pytest.raises(RuntimeError, match="found index 5"):
        wrong()


def test_factories_of_a_layout():
    for make in (tenfold.zeros, tenfold.empty):
        for layout in (tenfold.sparse_coo, tenfold.sparse_csr):
            made = make(2, 3, layout=layout, dtype=tenfold.float64)
            assert (made.layout, made.dtype, tuple(made.shape), made._nnz()) == (layout, tenfold.float64, (2, 3), 0)
    assert tenfold.zeros_like(tenfold.ones(2, 3), layout=tenfold.sparse_coo).layout is tenfold.sparse_coo
    assert tenfold.zeros(2, layout=tenfold.sparse_coo, requires_grad=True).requires_grad
    assert tenfold.zeros(2, layout=tenfold.strided).layout is tenfold.strided
    for refused in (
        lambda: tenfold.ones(2, layout=tenfold.sparse_coo),
        lambda: tenfold.full((2,), 1.0, layout=tenfold.sparse_coo),
    ):
        with pytest.raises(RuntimeError, match="not implemented for sparse layout"):
            refused()


def test_products_with_a_sparse_number_keep_what_is_stored():  # 300 as in PyTorch: summed in the product's dtype
    x = tenfold.sparse_coo_tensor([[0, 0]], tenfold.tensor([200, 100], dtype=tenfold.uint8), (1,))
    y = x * tenfold.tensor(1.0).to_sparse()
    assert y._nnz() == 2
    assert y.to_dense().tolist() == [300.0]


def test_gradient_that_was_set_to_zero_is_taken_out_of_the_graph():
    x = tenfold.sparse_coo_tensor(tenfold.tensor([[0, 2]]), tenfold.tensor([1.0, 2.0]), (3,))
    with tenfold.no_grad():
        x.zero_()
    assert x.detach_() is x
    assert x.to_dense().tolist() == [0, 0, 0]


def test_indices_elsewhere_than_the_values_are_refused_unless_a_device_is_named():
    at, values = tenfold.tensor([[0], [2]]), tenfold.ones(1, device="meta")
    with pytest.raises(RuntimeError, match=r"device of indices \(cpu\) must match device of values \(meta\)"):
        tenfold.sparse_coo_tensor(at, values, (1, 3))
    assert tenfold.sparse_coo_tensor(at, values, (1, 3), device="meta").device.type == "meta"
    with pytest.raises(RuntimeError, match="device of plain_indices"):
        tenfold.sparse_csr_tensor(tenfold.tensor([0, 1], device="meta"), tenfold.tensor([0]), values, (1, 3))
