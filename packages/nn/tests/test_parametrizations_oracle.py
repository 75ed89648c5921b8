"""nn.utils.parametrize and parametrizations against PyTorch: values, gradients, errors; lazy tensors' refusals."""

from __future__ import annotations

import pytest

import tenfold
from tenfold import nn
from tenfold.nn.utils import parametrizations, parametrize

torch = pytest.importorskip("torch")
torch_parametrizations = pytest.importorskip("torch.nn.utils.parametrizations")
torch_parametrize = pytest.importorskip("torch.nn.utils.parametrize")

MAPS = ("matrix_exp", "cayley", "householder")


def trained(numbers, neurals, module, orthogonal_map, trivial, shape):
    """Weight and gradient of an orthogonal layer whose original has been set."""
    layer = module.orthogonal(
        neurals.Linear(shape[1], shape[0], bias=False), orthogonal_map=orthogonal_map, use_trivialization=trivial
    )
    start = [[((7 * i + 3 * j) % 5 - 2) / 4 for j in range(shape[1])] for i in range(shape[0])]
    chain = layer.parametrizations.weight
    if trivial:
        eye = numbers.eye(max(shape))
        chain[0].base = eye.flip(0)
    with numbers.no_grad():
        chain.original.copy_(numbers.tensor(start))
        chain.original.diagonal().fill_(1.0)
    layer(numbers.tensor([[1.0, -2.0, 0.5, 3.0, 1.5][: shape[1]]])).sin().sum().backward()
    return layer.weight.detach(), chain.original.grad


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
@pytest.mark.parametrize("trivial", [False, True])
@pytest.mark.parametrize("orthogonal_map", MAPS)
def test_orthogonal(orthogonal_map, trivial, shape):
    ours = trained(tenfold, nn, parametrizations, orthogonal_map, trivial, shape)
    theirs = trained(torch, torch.nn, torch_parametrizations, orthogonal_map, trivial, shape)
    for mine, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(torch.tensor(mine.tolist()), their, atol=2e-6, rtol=2e-5)


@pytest.mark.parametrize(
    ("orthogonal_map", "trivial", "inputs"),
    [*((m, True, n) for m in MAPS for n in (3, 5)), ("householder", False, 3), ("householder", False, 5)],
)
def test_orthogonal_starts_at_the_weight_s_factor(orthogonal_map, trivial, inputs):
    layer = nn.Linear(inputs, 5)
    before = torch.tensor(layer.weight.tolist())
    parametrizations.orthogonal(layer, orthogonal_map=orthogonal_map, use_trivialization=trivial)
    q, r = torch.linalg.qr(before)
    torch.testing.assert_close(torch.tensor(layer.weight.tolist()), q * r.diagonal().sign())


def test_spectral_norm_of_complex_weights():
    layer = nn.Linear(2, 2, dtype=tenfold.complex64)
    with tenfold.no_grad():
        layer.weight.copy_(tenfold.tensor([[3 + 4j, 0], [0, 1j]]))
    parametrizations.spectral_norm(layer)
    torch.testing.assert_close(torch.tensor(layer.weight.tolist()), torch.tensor([[0.6 + 0.8j, 0], [0, 0.2j]]))


def step(neurals, forward, inverse=None):
    class Step(neurals.Module):
        def forward(self, *originals):
            return forward(*originals)

    made = Step()
    if inverse is not None:
        made.right_inverse = inverse
    return made


WRONG = {
    "no tensor": lambda n: step(n, lambda x: 2),
    "dtype": lambda n: step(n, lambda x: x.bool()),
    "shape": lambda n: step(n, lambda x: x[:-1]),
    "inverse none": lambda n: step(n, lambda x: x, lambda w: None),
    "inverse of mixed kinds": lambda n: step(n, lambda *x: x[0], lambda w: (w, 3)),
    "inverse dtype": lambda n: step(n, lambda x: x.float(), lambda w: w.bool()),
    "inverse shape": lambda n: step(n, lambda x: x, lambda w: w[:-1]),
}


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_refused_parametrizations(wrong, second):
    messages = []
    for neurals, module in ((torch.nn, torch_parametrize), (nn, parametrize)):
        layer = neurals.Linear(3, 2)
        if second:
            module.register_parametrization(layer, "weight", neurals.Identity())
        with pytest.raises(ValueError, match=r".") as refused:
            module.register_parametrization(layer, "weight", wrong(neurals))
        assert module.is_parametrized(layer) == second
        messages.append(str(refused.value).split(",")[0].split(".\n")[0].split(" as ")[0])
    assert messages[1] == messages[0]


def test_a_second_step_is_checked_by_the_inverse_of_what_it_computes():
    plain = step(nn, lambda x: x, lambda value: value)
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", plain)

    def inverse(value):
        if bool((value < 0).any()):
            raise ValueError("negative")
        return value.sqrt()

    parametrize.register_parametrization(layer, "weight", step(nn, lambda x: x * x, inverse))
    with pytest.raises(ValueError, match="negative"):
        layer.weight = -tenfold.ones(2, 2)
    layer.weight = 4 * tenfold.ones(2, 2)
    assert layer.parametrizations.weight.original.tolist() == [[2.0, 2.0], [2.0, 2.0]]


LAZY = {
    "shape": lambda n: n.UninitializedParameter().shape,
    "buffer shape": lambda n: n.UninitializedBuffer().shape,
    "share": lambda n: n.LazyLinear(3).share_memory(),
    "operator": lambda n: n.UninitializedParameter() + 1,
}


@pytest.mark.parametrize("use", LAZY.values(), ids=LAZY)
def test_uninitialized_tensors_refuse_in_pytorch_s_words(use):
    with pytest.raises((RuntimeError, ValueError)) as theirs:
        use(torch.nn)
    with pytest.raises(type(theirs.value)) as ours:
        use(nn)
    words = str(theirs.value).split(".")[0].split(" in <")[0].split(" buffer")[0]
    assert str(ours.value).startswith(words)


@pytest.mark.parametrize("dim", [0, 1, -1, None])
def test_the_older_weight_norm(dim):
    theirs = torch.nn.Linear(4, 3)
    ours = nn.Linear(4, 3)
    ours.load_state_dict({name: tenfold.tensor(value.tolist()) for name, value in theirs.state_dict().items()})
    with pytest.warns(FutureWarning, match="deprecated in favor of"):
        nn.utils.weight_norm(ours, dim=dim)
    with pytest.warns(FutureWarning):
        torch.nn.utils.weight_norm(theirs, dim=dim)
    for layer, numbers in ((ours, tenfold), (theirs, torch)):
        with numbers.no_grad():
            layer.weight_g.mul_(2.0)
        layer(numbers.ones(1, 4)).sin().sum().backward()
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for name, parameter in theirs.named_parameters():
        mine = dict(ours.named_parameters())[name]
        torch.testing.assert_close(torch.tensor(mine.tolist()), parameter.detach())
        torch.testing.assert_close(torch.tensor(mine.grad.tolist()), parameter.grad)
    newer = parametrizations.weight_norm(nn.Linear(4, 3), dim=dim)
    newer.load_state_dict(ours.state_dict())
    expected = ours(tenfold.ones(1, 4)).tolist()
    assert newer(tenfold.ones(1, 4)).tolist() == expected
    nn.utils.remove_weight_norm(ours)
    assert sorted(ours.state_dict()) == ["bias", "weight"]
    assert ours(tenfold.ones(1, 4)).tolist() == expected


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_older_weight_norm_s_refusals():
    layer = nn.utils.weight_norm(nn.Linear(4, 3))
    with pytest.raises(RuntimeError, match="Cannot register two weight_norm hooks on the same parameter weight"):
        nn.utils.weight_norm(layer)
    with pytest.raises(ValueError, match="weight_norm of 'bias' not found in Linear"):
        nn.utils.remove_weight_norm(layer, "bias")
    with pytest.raises(ValueError, match="can't have uninitialized parameters"):
        nn.utils.weight_norm(nn.LazyLinear(3))
