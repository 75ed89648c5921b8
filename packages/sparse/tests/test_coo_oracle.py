"""Sparse tensors beside PyTorch's: values, gradients and printed text."""

import pytest

import tenfold

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:.*(Sparse|sparse).*:UserWarning")  # PyTorch's, on what it has not finished


def both(seed, requires_grad=False):
    generator = torch.Generator().manual_seed(seed)
    at = torch.stack([torch.randint(6, (11,), generator=generator), torch.randint(4, (11,), generator=generator)])
    values = torch.randn(11, generator=generator)
    theirs = torch.sparse_coo_tensor(at, values, (6, 4), requires_grad=requires_grad)
    ours = tenfold.sparse_coo_tensor(at.tolist(), values.numpy().copy(), (6, 4), requires_grad=requires_grad)
    return theirs, ours


PROGRAMS = [
    lambda t, x: x.coalesce().values(),
    lambda t, x: x.to_dense(),
    lambda t, x: t.sparse.mm(x, t.arange(12.0).reshape(4, 3)),
    lambda t, x: t.spmm(x, t.ones(4, 2)),
    lambda t, x: t.ones(2, 6) @ x,
    lambda t, x: t.addmm(t.ones(6, 2), x, t.ones(4, 2), beta=0.5, alpha=2.0),
    lambda t, x: t.mv(x, t.arange(4.0)),
    lambda t, x: t.sparse.sum(x, 0).to_dense(),
    lambda t, x: t.sparse.sum(x),
    lambda t, x: t.sparse.softmax(x, 1).to_dense(),
    lambda t, x: (x.t() * 3).to_dense(),
    lambda t, x: (x + x.coalesce()).to_dense(),
    lambda t, x: x.add(x.coalesce(), alpha=-0.5).to_dense(),
    lambda t, x: t.ones(6, 4).add(x, alpha=-0.5),
    lambda t, x: t.ones(6, 4).add_(x, alpha=-0.5),
    lambda t, x: x.clone().add_(x.coalesce(), alpha=2).to_dense(),
    lambda t, x: t.cat([x, x], 1).to_dense(),
    lambda t, x: x.coalesce().tanh().to_dense(),
    lambda t, x: x.index_select(0, t.tensor([2, 2, 5])).to_dense(),
    lambda t, x: x[3].to_dense(),
]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("seed", [0, 1])
def test_values(program, seed):
    theirs, ours = both(seed)
    expected, got = program(torch, theirs), program(tenfold, ours)
    assert tuple(got.shape) == tuple(expected.shape)
    assert got.numpy() == pytest.approx(expected.numpy(), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("program", PROGRAMS[1:6] + PROGRAMS[7:9])
def test_gradients(program):
    theirs, ours = both(3, requires_grad=True)
    program(torch, theirs).pow(2).sum().backward()
    program(tenfold, ours).pow(2).sum().backward()
    stored = ours.detach().to_dense().numpy() != 0  # PyTorch's gradients of some products are dense
    expected = theirs.grad.to_dense().numpy() * stored
    assert ours.grad.to_dense().numpy() == pytest.approx(expected, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64"])
def test_text(dtype):
    for made in (
        lambda t: t.sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], [3, 4, 5], (2, 3), dtype=getattr(t, dtype)),
        lambda t: t.sparse_coo_tensor([[0, 2]], [[3.5, 4], [5, 6]], (3, 2), dtype=getattr(t, dtype)).coalesce(),
        lambda t: t.sparse_coo_tensor(size=(4,), dtype=getattr(t, dtype)),
        lambda t: t.eye(30, dtype=getattr(t, dtype)).to_sparse(),
        lambda t: t.eye(2, dtype=t.float64).to_sparse().requires_grad_(),
        lambda t: t.eye(2, dtype=t.float64).to_sparse().requires_grad_() * 2,
    ):
        assert repr(made(tenfold)).replace("tenfold.", "torch.") == repr(made(torch))
