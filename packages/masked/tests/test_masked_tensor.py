"""Tensors with masks: what operators make of them, gradients through them, and what is refused."""

import pytest

import tenfold
from tenfold import masked
from tenfold.masked import as_masked_tensor, is_masked_tensor, masked_tensor

MASK = [[True, False, True], [True, True, False]]


def example(**options):
    return masked_tensor(tenfold.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]), tenfold.tensor(MASK), **options)


def test_printed():
    assert (
        repr(example()) == "MaskedTensor(\n  [\n    [  0.0000,       --,   2.0000],\n    [  3.0000,   4.0000,       --]\n  ]\n)"
    )
    assert repr(example().sum()) == "MaskedTensor(  9.0000, True)"
    assert repr(example()[0, 1]) == "MaskedTensor(--, False)"


@pytest.mark.parametrize(
    ("made", "data", "mask"),
    [
        (lambda x: x.sum(0), [3, 4, 2], [True] * 3),
        (lambda x: x.mean(1), [1, 3.5], [True] * 2),
        (lambda x: x.prod(), 0, True),
        (lambda x: x.amax(1), [2, 4], [True] * 2),
        (lambda x: x[:1].amin(0), [0, 0, 2], [True, False, True]),
        (lambda x: x * 2 + x, [[0, 0, 6], [9, 12, 0]], MASK),
        (lambda x: 1 - x, [[1, 0, -1], [-2, -3, 0]], MASK),
        (lambda x: x.t(), [[0, 3], [0, 4], [2, 0]], [[True, True], [False, True], [True, False]]),
        (lambda x: x.reshape(-1)[2:4], [2, 3], [True, True]),
        (lambda x: tenfold.cat([x[1], x[0]]), [3, 4, 0, 0, 0, 2], [True, True, False, True, False, True]),
        (lambda x: tenfold.where(tenfold.tensor([True, False, True]), x, -x), [[0, 0, 2], [3, -4, 0]], MASK),
        (lambda x: x.clone().mul_(3), [[0, 0, 6], [9, 12, 0]], MASK),
        (lambda x: x.to_sparse().to_dense(), [[0, 0, 2], [3, 4, 0]], MASK),
    ],
)
def test_operators(made, data, mask):
    result = made(example())
    assert is_masked_tensor(result)
    assert result.get_mask().tolist() == mask
    assert result.to_tensor(0).tolist() == tenfold.tensor(data, dtype=result.dtype).tolist()


def test_gradients_reach_only_what_is_there():
    x = example(requires_grad=True)
    x.mean(1).sum().backward()
    assert is_masked_tensor(x.grad)
    assert x.grad.to_tensor(0).tolist() == [[0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]
    plain = tenfold.ones(3, requires_grad=True)
    as_masked_tensor(plain, tenfold.tensor([True, False, True])).exp().sum().backward()
    assert plain.grad.bool().tolist() == [True, False, True]


def test_what_is_not_there_changes_nothing():
    data = tenfold.tensor([1.0, float("nan"), 3.0])
    x = masked_tensor(data, tenfold.tensor([True, False, True]), requires_grad=True)
    x.softmax(0).prod().backward()
    assert not x.grad.get_data().isnan().any()


def test_refusals():
    x = example()
    with pytest.raises(ValueError, match="Input masks must match"):
        x + masked_tensor(x.get_data(), ~x.get_mask())
    with pytest.raises(TypeError, match=r"aten\.max"):
        x.max()
    with pytest.raises(TypeError, match="data must be a Tensor"):
        masked_tensor(x, x.get_mask())
    with pytest.raises(ValueError, match="size"):
        masked_tensor(tenfold.ones(2), tenfold.ones(3).bool())
    with pytest.warns(UserWarning, match="not recommended"):
        masked_tensor(tenfold.ones(2, requires_grad=True), tenfold.ones(2).bool())
    with pytest.raises(IndexError, match="dimensionality higher"):
        masked.sum(tenfold.ones(2), mask=tenfold.ones(1, 2).bool())
    with pytest.raises(RuntimeError, match="multiple times"):
        masked.sum(tenfold.ones(2, 2), (0, 0))


def test_reductions_under_transforms_and_without_numbers():
    x, mask = tenfold.rand(4, 3), tenfold.tensor([True, False, True])
    batched = tenfold.vmap(lambda row: masked.mean(row, mask=mask))(x)
    assert tenfold.allclose(batched, (x[:, 0] + x[:, 2]) / 2)
    _, tangent = tenfold.func.jvp(lambda v: masked.sum(v, mask=mask), (x[0],), (tenfold.ones(3),))
    assert tangent == 2
    assert masked.softmax(tenfold.empty(2, 3, device="meta"), 1, mask=mask.to("meta")).shape == (2, 3)


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "argmin", "logsumexp", "norm", "var"])
def test_masked_tensors_are_taken_by_the_functions(name):
    x = example()
    direct = getattr(masked, name)(x.get_data(), dim=1, mask=x.get_mask())
    assert tenfold.equal(getattr(masked, name)(x, dim=1), direct)


def test_where_leaves_out_of_gradients_what_it_did_not_choose():
    x = masked_tensor(tenfold.tensor(2.0), tenfold.tensor(True), requires_grad=True)
    (g,) = tenfold.autograd.grad(tenfold.where(tenfold.tensor(False), x / 0, tenfold.ones(())), x)
    assert repr(g) == "MaskedTensor(--, False)"
    y = example(requires_grad=True)
    condition = tenfold.tensor([True, False, True])
    tenfold.where(condition, y * 2, tenfold.zeros(())).sum().backward()
    assert y.grad.get_mask().tolist() == [[True, False, True], [True, False, False]]
    assert y.grad.to_tensor(0).tolist() == [[2.0, 0.0, 2.0], [2.0, 0.0, 0.0]]
    y.grad = None
    (y * 2).sum().backward()  # a later pass does not know of the condition
    assert y.grad.get_mask().tolist() == MASK


def test_gradients_asked_for_by_name():
    x = example(requires_grad=True)
    (g,) = tenfold.autograd.grad(x * 2, x, masked_tensor(tenfold.full((2, 3), 3.0), tenfold.tensor(MASK)))
    assert is_masked_tensor(g)
    assert g.to_tensor(0).tolist() == [[6.0, 0.0, 6.0], [6.0, 6.0, 0.0]]


def test_sparse_data_are_taken_at_the_places_of_the_mask():
    data, mask = tenfold.arange(1.0, 7.0).reshape(2, 3).to_sparse(), tenfold.tensor(MASK).to_sparse()
    x = masked_tensor(data, mask)
    assert x.get_data()._nnz() == 4
    assert x.to_tensor(0).tolist() == [[1.0, 0.0, 3.0], [4.0, 5.0, 0.0]]
    with pytest.raises(ValueError, match="do not have the same indices"):
        masked_tensor(tenfold.tensor([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).to_sparse(), mask)


@pytest.mark.parametrize(("made", "kinds"), [("to_dense", (0, 0, 0)), ("to_sparse", (1, 1, 0)), ("to_sparse_csr", (1, 0, 1))])
def test_layouts_asked_for(made, kinds):
    x = getattr(example(), made)()
    assert (x.is_sparse, x.is_sparse_coo(), x.is_sparse_csr()) == kinds


def test_sparse_data_lie_in_no_order_of_rows():
    x = tenfold.eye(2)
    sparse = masked_tensor(x.to_sparse(), (x > 0).to_sparse())
    for ask in (sparse.is_contiguous, sparse.contiguous):
        with pytest.raises(ValueError, match="MaskedTensors with sparse data do not have is_contiguous"):
            ask()
