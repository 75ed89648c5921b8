"""A program of someone who uses Tenfold and checks types, strictly and without this repository's configuration.

`nox -s types` runs mypy over it; it is not executed. Each ignored error must be one: mypy reports those that are not.
"""

from __future__ import annotations

import tenfold as torch
from tenfold.nn import Module, functional as F
from tenfold.optim.swa_utils import AveragedModel
from tenfold.utils.data import DataLoader, TensorDataset


class Net(Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(F.linear(x, self.fc.weight, self.fc.bias))


@torch.no_grad()
def accuracy(model: Module, x: torch.Tensor, y: torch.Tensor) -> float:
    return float((model(x).argmax(1) == y).to(torch.float32).mean().item())


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
average = AveragedModel(net)
features, labels = torch.rand(8, 2), torch.zeros(8, dtype=torch.long)
for batch in DataLoader(TensorDataset(features, labels), batch_size=4):
    loss = F.cross_entropy(net(batch[0]), batch[1])
    loss.backward()
    optimizer.step()
with torch.autocast("cpu"):
    inverse: torch.Tensor = torch.linalg.inv(1.0 - features[:2] @ features[:2].mT)
names: list[str] = accuracy(net, features, labels)  # type: ignore[assignment]
torch.ad(inverse)  # type: ignore[attr-defined]
inverse.relo()  # type: ignore[attr-defined]
