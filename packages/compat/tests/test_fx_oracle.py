"""Graphs beside PyTorch's: the same nodes, names and code for the same program."""

import pytest

import tenfold

torch = pytest.importorskip("torch")

PROGRAMS = {
    "arithmetic": lambda T: lambda x, y: (x + 1) * y - x / 2 // 3 % 4 + (-x) ** 2 + (1 - y) @ x,
    "methods": lambda T: lambda x: x.view(x.size(0), -1).sum(dim=1).relu().T,
    "parts": lambda T: lambda x: (x[:, 0], x[..., None, 1:2], x.shape[0], {"a": [x, x]}),
    "functions": lambda T: lambda x: T.flatten(T.stack([x, x]), 1) + T.relu(x) + T.where(x > 0, x, T.sigmoid(x)),
    "names": lambda T: lambda input, x_1, x: T.cat((input, x_1, x)) + input,
    "unpacked": lambda T: lambda x: [part * 2 for part in (lambda pair: (pair[0], pair[1]))(x.chunk(2))],
    "sums": lambda T: lambda x: T.einsum("ij,kj->ik", x, x) + T.nn.functional.mse_loss(x, x),
    "modules": lambda T: T.nn.Sequential(T.nn.Linear(2, 2), T.nn.Sequential(T.nn.ReLU(), T.nn.Conv1d(1, 1, 1))),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nodes_and_code(name):
    ours = tenfold.fx.symbolic_trace(PROGRAMS[name](tenfold))
    theirs = torch.fx.symbolic_trace(PROGRAMS[name](torch))
    for one, two in zip(ours.graph.nodes, theirs.graph.nodes, strict=True):
        assert (one.op, one.name, str(one.args), str(one.kwargs)) == (two.op, two.name, str(two.args), str(two.kwargs))
        assert sorted(map(str, one.users)) == sorted(map(str, two.users))
    assert ours.code.strip() == theirs.code.strip().replace("torch.functional.", "torch.").replace("torch.", "tenfold.")
