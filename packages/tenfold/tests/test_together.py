"""What `pip install tenfold` brings works together."""

from __future__ import annotations

import subprocess
import sys

import tenfold
from tenfold import nn, optim
from tenfold.data import DataLoader, TensorDataset


def test_a_network_learns_from_a_loader() -> None:
    tenfold.manual_seed(0)
    x = tenfold.randn(64, 3)
    y = x.sum(1, keepdim=True)
    model = nn.Linear(3, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        for inputs, target in DataLoader(TensorDataset(x, y), batch_size=16):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(inputs), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_methods_of_a_sibling_have_gradients() -> None:
    A = (tenfold.eye(3) * 2).requires_grad_()
    A.det().backward()
    assert A.grad is not None
    assert A.grad.allclose(tenfold.eye(3) * 4)
    nn.init.orthogonal_(tenfold.empty(3, 3))


def test_a_list_may_be_read_in_part() -> None:
    with subprocess.Popen([sys.executable, "-m", "tenfold", "op"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()  # as `| head -1` does
        assert b"Traceback" not in process.stderr.read()
