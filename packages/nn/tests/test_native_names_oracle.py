"""Normalizations, dropout and sampling under the names below `nn.functional`: PyTorch's results and gradients."""

import pytest

import tenfold

torch = pytest.importorskip("torch")

X = [[[1.0, -2.0, 3.0, 0.5], [2.0, 2.5, -1.0, 4.0]], [[0.0, 1.5, -0.5, 2.0], [3.0, -3.0, 1.0, 0.25]]]
PLACES = [[[[-0.9, 0.3], [1.2, -0.4]]], [[[0.1, 0.7], [-0.2, -1.1]]]]
VOLUME_PLACES = [[[[[-0.9, 0.3, 0.2], [1.2, -0.4, -0.3]]]]]

CALLS = {
    "layer": lambda lib, x, w: lib.native_layer_norm(x, (4,), w[:4], w[4:], 1e-5),
    "layer over two": lambda lib, x, w: lib.native_layer_norm(x, (2, 4), None, None, 0.1),
    "group": lambda lib, x, w: lib.native_group_norm(x, w[:2], w[2:4], 2, 2, 4, 2, 1e-5),
    "batch": lambda lib, x, w: lib.native_batch_norm(x, w[:2], w[2:4], None, None, True, 0.1, 1e-5),
    "batch, running": lambda lib, x, w: lib.native_batch_norm(
        x, None, None, w[:2].detach(), w[2:4].detach().abs(), False, 0.1, 1e-5
    ),
    "no dropout": lambda lib, x, w: lib.native_dropout(x, 0.5, False),
    "bilinear": lambda lib, x, w: lib.grid_sampler(x.unsqueeze(1), lib.tensor(PLACES), 0, 0, False),
    "nearest": lambda lib, x, w: lib.grid_sampler_2d(x.unsqueeze(1), lib.tensor(PLACES), 1, 1, True),
    "bicubic": lambda lib, x, w: lib.grid_sampler(x.unsqueeze(1), lib.tensor(PLACES), 2, 2, False),
    "volume": lambda lib, x, w: lib.grid_sampler_3d(x.view(1, 1, 2, 2, 4), lib.tensor(VOLUME_PLACES), 0, 0, True),
    "grid": lambda lib, x, w: lib.affine_grid_generator(w[:6].view(1, 2, 3), (1, 1, 2, 3), False),
}


def result(lib, name):
    x = lib.tensor(X, requires_grad=True)
    w = lib.tensor([1.0, 0.5, -2.0, 3.0, 0.1, -0.2, 0.3, 0.4], requires_grad=True)
    found = CALLS[name](lib, x, w)
    parts = found if isinstance(found, tuple) else (found,)
    (parts[0] * lib.arange(float(parts[0].numel())).view(parts[0].shape)).sum().backward()
    gradients = [lib.zeros(1) if v.grad is None else v.grad for v in (x, w)]
    return [v.detach().tolist() for v in (*parts, *gradients)]


@pytest.mark.parametrize("name", CALLS)
def test_as_in_pytorch(name):
    for ours, theirs in zip(result(tenfold, name), result(torch, name), strict=True):
        assert tenfold.tensor(ours).shape == torch.tensor(theirs).shape
        tenfold.testing.assert_close(tenfold.tensor(ours), tenfold.tensor(theirs), rtol=1e-4, atol=1e-5)


def test_dropout_says_what_it_kept():
    x = tenfold.full((1000,), 3.0)
    out, kept = tenfold.native_dropout(x, 0.25, True)
    assert kept.dtype is tenfold.bool
    assert out.tolist() == [4.0 if k else 0.0 for k in kept.tolist()]
    assert 600 < kept.sum().item() < 900
