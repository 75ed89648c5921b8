"""Hooks on sparse tensors see sparse gradients, and what they return takes their place; PyTorch's are beside them."""

import pytest

import tenfold

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:Sparse:UserWarning")


def leaf_of(lib, layout):
    dense = lib.tensor([[0.0, 1.0], [2.0, 0.0]])
    return dense.to_sparse(layout=getattr(lib, layout)).requires_grad_()


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr"])
@pytest.mark.parametrize(
    "hook",
    [lambda g: None, lambda g: g * 3, lambda g: g.to_dense().to_sparse(layout=g.layout) * 5],
    ids="nothing scaled made".split(),
)
def test_a_hook_of_a_leaf(layout, hook):
    found = []
    for lib in (torch, tenfold):
        x, seen = leaf_of(lib, layout), []
        handle = x.register_hook(lambda g, seen=seen: seen.append((str(g.layout)[-10:], g.to_dense().tolist())) or hook(g))
        x.to_dense().sum().backward()
        handle.remove()
        x.to_dense().sum().backward()
        found.append((seen, x.grad.to_dense().tolist()))
    assert found[0] == found[1]


def test_a_hook_and_a_kept_gradient_of_a_result():
    found = []
    for lib in (torch, tenfold):
        x = leaf_of(lib, "sparse_coo")
        y = x * 2
        y.retain_grad()
        y.register_hook(lambda g: g * 3)
        y.to_dense().sum().backward()
        found.append((y.retains_grad, x.retains_grad, y.grad.to_dense().tolist(), x.grad.to_dense().tolist()))
    assert found[0] == found[1]


def test_a_hook_after_a_leafs_gradient_was_added_to():
    found = []
    for lib in (torch, tenfold):
        x, seen = leaf_of(lib, "sparse_coo"), []
        x.register_post_accumulate_grad_hook(lambda p, seen=seen: seen.append(p.grad.to_dense().tolist()))
        x.to_dense().sum().backward()
        x.to_dense().sum().backward()
        found.append(seen)
    assert found[0] == found[1]


def test_a_dense_gradient_takes_the_leafs_places():
    x = leaf_of(tenfold, "sparse_coo")
    x.register_hook(lambda g: tenfold.tensor([[7.0, 8.0], [9.0, 10.0]]))
    x.to_dense().sum().backward()
    assert x.grad.to_dense().tolist() == [[0.0, 8.0], [9.0, 0.0]]


def test_hooks_need_a_gradient():
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        tenfold.ones(2).to_sparse().register_hook(print)


def test_a_hook_sees_that_no_gradient_came():
    found = []
    for lib in (torch, tenfold):
        seen = []

        def function(x, seen=seen):
            y = x.clone()
            y.register_hook(lambda g: seen.append(g is None))
            return y.to_dense()

        x = lib.ones((2, 2), dtype=lib.float64, requires_grad=True).to_sparse()
        passed = lib.autograd.gradcheck(function, (x,), atol=0.1, masked=True, check_batched_grad=False)
        found.append((passed, any(seen), all(seen)))
    assert found[0] == found[1] == (True, True, False)
