"""Gradients that programs assign to sparse tensors lie at places of their own; PyTorch's are beside them."""

from copy import deepcopy
from types import SimpleNamespace

import pytest

import tenfold

torch = pytest.importorskip("torch")


def assigned(lib):
    """A leaf with elements at 1 and 2, whose gradient is given at 0 and 3; then a backward pass adds to it."""
    leaf = lib.sparse_coo_tensor(lib.tensor([[1, 2]]), lib.tensor([5.0, 6.0]), (4,), is_coalesced=True).requires_grad_()
    leaf.grad = lib.sparse_coo_tensor(lib.tensor([[0, 3]]), lib.tensor([7.0, 8.0]), (4,))
    seen = [leaf.grad.to_dense().tolist(), deepcopy(leaf).grad.to_dense().tolist()]
    lib.sparse.sum(leaf * 2).backward()
    seen.append(leaf.grad.to_dense().tolist())
    leaf.grad = None
    return [*seen, leaf.grad]


@pytest.mark.filterwarnings("ignore:Sparse invariant checks:UserWarning")
def test_an_assigned_gradient_keeps_its_places():
    found, expected = assigned(tenfold), assigned(torch)
    assert found[:2] == expected[:2] == [[7.0, 0.0, 0.0, 8.0]] * 2
    assert found[2][1:3] == expected[2][1:3] == [2.0, 2.0]
    assert found[3] is expected[3] is None


def test_a_gradient_may_have_more_elements_than_its_tensor():
    leaf = tenfold.zeros(10).to_sparse()
    leaf.grad = tenfold.ones(10).to_sparse()
    assert leaf.grad._nnz() == 10
    assert deepcopy(leaf).grad.to_dense().tolist() == [1.0] * 10


def test_a_gradient_of_another_size_or_kind_is_refused():
    leaf = tenfold.zeros(10).to_sparse()
    with pytest.raises(RuntimeError, match="assigned grad has data of a different size"):
        leaf.grad = tenfold.ones(9).to_sparse()
    with pytest.raises(RuntimeError, match="assigned grad has data of a different type"):
        leaf.grad = tenfold.ones(10, dtype=tenfold.float64).to_sparse()
    with pytest.raises(TypeError, match="expected to be a Tensor or None"):
        leaf.grad = 3


@pytest.mark.parametrize("half", [False, True])
def test_scaled_gradients_of_sparse_tensors_are_unscaled(half):
    p = tenfold.sparse_coo_tensor(tenfold.tensor([[0, 1, 1], [2, 0, 2]]), tenfold.tensor([16.0, 32.0, 64.0]), (2, 3))
    p = p.half() if half else p
    optimizer = SimpleNamespace(param_groups=[{"params": [p]}])
    scaler = tenfold.amp.GradScaler("cpu")
    for values, overflows in (([16.0, 32.0, 64.0], 0.0), ([16.0, 32.0, float("inf")], 1.0), ([float("nan"), 1.0, 1.0], 1.0)):
        p.grad = tenfold.sparse_coo_tensor(p._indices(), tenfold.tensor(values, dtype=p.dtype), (2, 3))
        found = scaler._unscale_grads_(optimizer, tenfold.tensor([0.25]), tenfold.tensor([0.0]), True)[tenfold.device("cpu")]
        assert found == overflows
        if not overflows:
            assert p.grad._values().tolist() == [4.0, 8.0, 16.0]


def test_elements_that_overflow_together_are_found():
    at = tenfold.tensor([[0, 1, 0], [2, 0, 2]])
    p = tenfold.sparse_coo_tensor(at, tenfold.ones(3), (2, 3)).half()
    p.grad = tenfold.sparse_coo_tensor(at, tenfold.tensor([64000.0, 32.0, 64000.0]), (2, 3)).half()
    scaler, optimizer = tenfold.amp.GradScaler("cpu"), SimpleNamespace(param_groups=[{"params": [p]}])
    found = scaler._unscale_grads_(optimizer, tenfold.tensor([0.25]), tenfold.tensor([0.0]), True)
    assert found[tenfold.device("cpu")] == 1.0
