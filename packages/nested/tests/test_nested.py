"""Nested tensors: what they keep, where gradients go, and what is refused."""

import copy
import io
import pickle

import pytest

import tenfold
from tenfold import nested
from tenfold.nn import Dropout, Embedding, LayerNorm, Linear, functional as F

LAYOUTS = [tenfold.strided, tenfold.jagged]


def rows():
    return [tenfold.arange(6.0).reshape(2, 3), tenfold.full((4, 3), 0.5), tenfold.ones(1, 3)]


@pytest.fixture(params=LAYOUTS, ids=["strided", "jagged"])
def layout(request):
    return request.param


def test_rows_come_back(layout):
    x = nested.nested_tensor(rows(), layout=layout)
    assert x.is_nested
    assert x.layout is layout
    assert x.size(0) == 3
    assert x.size(2) == 3
    assert x.dim() == 3
    assert x.numel() == 21
    assert all(tenfold.equal(a, b) for a, b in zip(x.unbind(), rows()))
    assert all(tenfold.equal(a, b) for a, b in zip(x, rows()))


def test_gradients_reach_the_rows(layout):
    given = [r.requires_grad_() for r in rows()]
    x = nested.as_nested_tensor(given, layout=layout)
    (x * x).to_padded_tensor(7.0).sum().backward()
    assert all(tenfold.equal(r.grad, 2 * r.detach()) for r in given)


def test_a_nested_leaf_has_a_nested_gradient(layout):
    x = nested.nested_tensor(rows(), layout=layout, requires_grad=True)
    (x * 3).backward(tenfold.ones_like(x))
    assert x.grad.is_nested
    assert x.grad.layout is layout
    assert tenfold.equal(x.grad.values(), tenfold.full_like(x.values(), 3.0))
    ((x * 3) * x).backward(tenfold.ones_like(x))
    assert tenfold.allclose(x.grad.values(), 3.0 + 6.0 * x.values())


@pytest.mark.parametrize("layer", [Linear(3, 5), LayerNorm(3), Dropout(0.0)], ids=lambda m: type(m).__name__)
def test_layers_give_what_they_give_of_each_row(layer, layout):
    got = layer(nested.nested_tensor(rows(), layout=layout))
    assert all(tenfold.allclose(a, layer(b), atol=1e-6) for a, b in zip(got.unbind(), rows()))


def test_weights_get_the_gradients_of_all_rows(layout):
    layer = Linear(3, 2)
    layer(nested.nested_tensor(rows(), layout=layout)).values().pow(2).sum().backward()
    by_rows = copy.deepcopy(layer)
    by_rows.zero_grad()
    sum(by_rows(r).pow(2).sum() for r in rows()).backward()
    assert tenfold.allclose(layer.weight.grad, by_rows.weight.grad)


def test_embedding(layout):
    table = Embedding(9, 4)
    got = table(nested.nested_tensor([[1, 2, 8], [0]], layout=layout))
    assert tenfold.equal(got.unbind()[0], table(tenfold.tensor([1, 2, 8])))


@pytest.mark.parametrize("dim", [1, 2])
def test_softmax_is_of_each_row_with_its_gradient(dim, layout):
    given = [r.double().requires_grad_() for r in rows()]
    x = nested.as_nested_tensor(given, layout=layout)
    weights = [tenfold.linspace(0, 1, r.numel(), dtype=tenfold.float64).reshape(r.shape) for r in given]
    got = F.softmax(x, dim).unbind()
    grads = tenfold.autograd.grad(sum((a * w).sum() for a, w in zip(got, weights)), given)
    wanted = tenfold.autograd.grad(sum((F.softmax(r, dim - 1) * w).sum() for r, w in zip(given, weights)), given)
    assert all(tenfold.allclose(a, b) for a, b in zip(grads, wanted))


def heads(lengths, requires_grad=True):
    tenfold.manual_seed(1)
    return [tenfold.randn(n, 2, 4, dtype=tenfold.float64, requires_grad=requires_grad) for n in lengths]


def test_attention_is_of_each_row_with_its_gradient(layout):
    q, k, v = heads([3, 1, 4]), heads([2, 5, 4]), heads([2, 5, 4])
    got = F.scaled_dot_product_attention(*[nested.as_nested_tensor(x, layout=layout).transpose(1, 2) for x in (q, k, v)])
    each = [F.scaled_dot_product_attention(*[x.transpose(0, 1) for x in row]) for row in zip(q, k, v)]
    assert all(tenfold.allclose(a, b) for a, b in zip(got.unbind(), each))
    grads = tenfold.autograd.grad(sum(a.pow(2).sum() for a in got.unbind()), q)
    assert all(tenfold.allclose(a, b) for a, b in zip(grads, tenfold.autograd.grad(sum(e.pow(2).sum() for e in each), q)))


def test_writing_into_a_row_writes_into_the_tensor(layout):
    x = nested.nested_tensor(rows(), layout=layout)
    x[0].fill_(9.0)
    assert x.values().reshape(-1)[:6].tolist() == [9.0] * 6
    x.add_(1.0).zero_()
    assert not x.values().any()


def test_copies_and_files(layout):
    x = nested.nested_tensor(rows(), layout=layout, requires_grad=True)
    file = io.BytesIO()
    tenfold.save(x, file)
    file.seek(0)
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), tenfold.load(file, weights_only=False)):
        assert y.layout is layout
        assert y.requires_grad
        assert y.is_leaf
        assert tenfold.equal(y.values(), x.values())
        assert y.values().data_ptr() != x.values().data_ptr()


def test_ragged_sizes_are_equal_by_their_offsets():
    x = nested.nested_tensor(rows(), layout=tenfold.jagged)
    y = nested.nested_tensor(rows(), layout=tenfold.jagged)
    assert (x + 1).shape == x.shape
    assert x.shape != y.shape
    assert x.shape[1] != 4
    with pytest.raises(RuntimeError, match="cannot call binary pointwise function add"):
        x + y
    z = nested.nested_tensor_from_jagged(y.values(), x.offsets())
    assert tenfold.equal((x + z).values(), 2 * x.values())


def test_rows_with_gaps():
    values = tenfold.arange(12.0).reshape(6, 2)
    x = nested.nested_tensor_from_jagged(values, tenfold.tensor([0, 3, 6]), tenfold.tensor([2, 1]))
    assert not x.is_contiguous()
    assert [r.tolist() for r in x.unbind()] == [[[0, 1], [2, 3]], [[6, 7]]]
    assert x.sum(1).tolist() == [[2.0, 4.0], [6.0, 7.0]]
    assert x.contiguous().offsets().tolist() == [0, 2, 3]
    assert x.contiguous().is_contiguous()


@pytest.mark.parametrize("lengths", [[0, 2], [0, 0], [3]])
def test_empty_rows(lengths):
    x = nested.nested_tensor([tenfold.ones(n, 2) for n in lengths], layout=tenfold.jagged)
    assert [len(r) for r in (x * 2).unbind()] == lengths
    assert x.sum(1).tolist() == [[float(n)] * 2 for n in lengths]
    assert x.to_padded_tensor(0.0).shape == (len(lengths), max(lengths), 2)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0])
@pytest.mark.parametrize("dtype", [tenfold.float16, tenfold.bfloat16, tenfold.float64])
def test_padding_changes_no_value(value, dtype, layout):
    x = nested.nested_tensor([tenfold.full((2, 3), value, dtype=dtype), tenfold.ones(1, 3, dtype=dtype)], layout=layout)
    padded = x.to_padded_tensor(-1.0)
    wanted = tenfold.full((2, 3), value, dtype=dtype)
    assert padded.dtype is dtype
    assert tenfold.equal(padded[0].nan_to_num(5.0), wanted.nan_to_num(5.0))
    assert padded[1].tolist() == [[1.0] * 3, [-1.0] * 3]


def test_what_an_operator_lacks_is_said(layout):
    with pytest.raises(NotImplementedError, match=r"cumsum.*tenfold-nested lacks it"):
        nested.nested_tensor(rows(), layout=layout).cumsum(1)


def test_a_strided_tensor_has_rows_of_any_sizes():
    x = nested.nested_tensor([tenfold.ones(2, 3), tenfold.ones(1, 5)])
    with pytest.raises(RuntimeError, match="dimension 2 is irregular"):
        x.size(2)
    assert x.to_padded_tensor(0.0).shape == (2, 2, 5)
    assert tenfold.equal(x.transpose(1, 2).contiguous().unbind()[1], tenfold.ones(5, 1))
    assert not x.transpose(1, 2).is_contiguous()


def test_masks_that_are_not_aligned_are_refused():
    mask = tenfold.tensor([[True, False, True], [True, True, False]])
    with pytest.raises(RuntimeError, match="left-aligned"):
        tenfold._nested_tensor_from_mask(tenfold.ones(2, 3, 4), mask)
    assert not tenfold._nested_tensor_from_mask_left_aligned(tenfold.ones(2, 3, 4), mask)


@pytest.mark.parametrize("name", ["gelu", "silu", "relu", "softplus", "hardtanh", "logsigmoid"])
def test_activations_work_row_by_row(layout, name):
    x = nested.nested_tensor(rows(), layout=layout)
    for got, row in zip(getattr(F, name)(x).unbind(), rows()):
        assert got.tolist() == getattr(F, name)(row).tolist()


ROWS = {"as many": ([3, 0, 2, 2], [3, 0, 2, 2]), "other lengths": ([3, 1, 2, 2], [2, 4, 1, 1])}


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.3, "enable_gqa": True}], ids=str)
@pytest.mark.parametrize("lengths", ROWS)
def test_attention_is_that_of_each_row(lengths, options):
    heads = 4 if "enable_gqa" in options else 2
    queries, keys = ([tenfold.randn(n, h, 3) for n in each] for h, each in zip((heads, 2), ROWS[lengths], strict=True))
    q, k = (tenfold.nested.nested_tensor(x, layout=tenfold.jagged, requires_grad=True) for x in (queries, keys))
    if lengths == "as many":
        k = tenfold.nested.nested_tensor_from_jagged(k.values().detach(), q.offsets()).requires_grad_()
    x, y = q.transpose(1, 2), k.transpose(1, 2)
    out = F.scaled_dot_product_attention(x, y, y, **options)
    assert out.shape == x.shape
    pairs = [(a.transpose(0, 1), b.transpose(0, 1)) for a, b in zip(q.unbind(), k.unbind(), strict=True)]
    expected = [F.scaled_dot_product_attention(a, b, b, **options) for a, b in pairs]
    assert all(tenfold.allclose(a, b, atol=1e-6) for a, b in zip(out.unbind(), expected, strict=True))
    grads = tenfold.autograd.grad(out.values().square().sum(), [q, k])
    others = tenfold.autograd.grad(sum(x.square().sum() for x in expected), [q, k])
    assert all(tenfold.allclose(a.values(), b.values(), atol=1e-5) for a, b in zip(grads, others, strict=True))
