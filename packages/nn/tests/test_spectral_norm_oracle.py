"""The older spectral normalization and the fusion of layers beside PyTorch's."""

import copy

import pytest

import tenfold

torch = pytest.importorskip("torch")


def pair(make):
    """The module of both, with the same seed's parameters."""
    made = []
    for framework in (tenfold, torch):
        framework.manual_seed(3)
        made.append(make(framework))
    return made


LAYERS = {
    "linear": (lambda t: t.nn.Linear(5, 4), (3, 5)),
    "conv": (lambda t: t.nn.Conv2d(2, 3, 3), (2, 2, 6, 6)),
    "transposed": (lambda t: t.nn.ConvTranspose2d(2, 3, 3), (2, 2, 6, 6)),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_trains_alike(layer):
    make, shape = LAYERS[layer]
    ours, theirs = pair(lambda t: t.nn.utils.spectral_norm(make(t), n_power_iterations=2))
    assert list(ours.state_dict()) == list(theirs.state_dict())
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    for _ in range(3):
        y, expected = ours(tenfold.tensor(x.numpy())), theirs(x)
        y.pow(2).sum().backward()
        expected.pow(2).sum().backward()
        assert y.detach().numpy() == pytest.approx(expected.detach().numpy(), rel=1e-4, abs=1e-5)
    assert ours.weight_orig.grad.numpy() == pytest.approx(theirs.weight_orig.grad.numpy(), rel=1e-3, abs=1e-4)
    u = ours.weight_u.clone()
    ours.eval()(tenfold.tensor(x.numpy()))
    assert tenfold.equal(u, ours.weight_u)


def test_is_taken_back_and_refused_twice():
    layer = tenfold.nn.utils.spectral_norm(tenfold.nn.Linear(3, 3))
    with pytest.raises(RuntimeError, match="Cannot register two spectral_norm hooks"):
        tenfold.nn.utils.spectral_norm(layer)
    weight = layer.eval()(tenfold.eye(3)) - layer.bias
    tenfold.nn.utils.remove_spectral_norm(layer)
    assert sorted(dict(layer.named_parameters())) == ["bias", "weight"]
    assert tenfold.allclose(layer(tenfold.eye(3)) - layer.bias, weight, atol=1e-6)
    with pytest.raises(ValueError, match="not found"):
        tenfold.nn.utils.remove_spectral_norm(layer)


@pytest.mark.parametrize(
    ("layer", "norm", "shape"),
    [
        (lambda t: t.nn.Conv2d(2, 3, 3, bias=False), lambda t: t.nn.BatchNorm2d(3), (2, 2, 6, 6)),
        (lambda t: t.nn.Conv1d(2, 3, 3), lambda t: t.nn.BatchNorm1d(3, affine=False), (2, 2, 6)),
        (lambda t: t.nn.ConvTranspose2d(2, 3, 3), lambda t: t.nn.BatchNorm2d(3), (2, 2, 6, 6)),
        (lambda t: t.nn.Linear(2, 3), lambda t: t.nn.BatchNorm1d(3), (4, 2)),
    ],
)
def test_fused_layers_compute_what_both_do(layer, norm, shape):
    tenfold.manual_seed(1)
    first, second = layer(tenfold), norm(tenfold)
    x = tenfold.randn(shape)
    second(first(x * 3 + 1))  # running statistics that are not those of the start
    with pytest.raises(AssertionError, match="eval"):
        tenfold.nn.utils.fusion.fuse_conv_bn_eval(first, second)
    first.eval(), second.eval()
    if isinstance(first, tenfold.nn.Linear):
        fused = tenfold.nn.utils.fuse_linear_bn_eval(first, second)
    else:
        fused = tenfold.nn.utils.fuse_conv_bn_eval(first, second, isinstance(first, tenfold.nn.ConvTranspose2d))
    assert tenfold.allclose(fused(x), second(first(x)), atol=1e-5)
    assert isinstance(fused.weight, tenfold.nn.Parameter)
    assert fused.weight is not first.weight


def test_states_without_a_version_and_of_before_v_was_kept() -> None:
    layer = tenfold.nn.utils.spectral_norm(tenfold.nn.Linear(4, 3))
    layer(tenfold.ones(2, 4))
    state = layer.state_dict()
    assert state._metadata[""]["spectral_norm"] == {"weight.version": 1}
    assert torch.nn.utils.spectral_norm(torch.nn.Linear(4, 3)).state_dict()._metadata[""]["spectral_norm"] == {
        "weight.version": 1
    }
    expected = layer.eval()(tenfold.ones(2, 4))
    old = copy.deepcopy(state)
    del old._metadata[""]["spectral_norm"], old["weight_v"]
    old["weight"] = layer.weight.detach().clone()
    other = tenfold.nn.utils.spectral_norm(tenfold.nn.Linear(4, 3)).eval()
    other.load_state_dict(old)
    assert tenfold.allclose(other(tenfold.ones(2, 4)), expected, atol=1e-5)
    new = copy.deepcopy(state)
    del new._metadata[""]["spectral_norm"]
    other.load_state_dict(new)
    assert other.weight_v.equal(state["weight_v"])


def test_removed_hooks_leave_nothing_behind() -> None:
    layer = tenfold.nn.utils.remove_spectral_norm(tenfold.nn.utils.spectral_norm(tenfold.nn.Linear(2, 2)))
    assert "spectral_norm" not in layer.state_dict()._metadata[""]
    again = tenfold.nn.utils.spectral_norm(layer)
    again.load_state_dict(again.state_dict())
