"""Several processes train one network in shared memory, without locks.

Source: Recht, Re, Wright, Niu, "Hogwild!: A lock-free approach to parallelizing stochastic gradient descent" (2011).

    python examples/hogwild/train.py [--processes 2] [--epochs 3] [--start-method spawn]
"""

from __future__ import annotations

import argparse
import os

import tenfold
import tenfold.multiprocessing as mp
from tenfold import Tensor, nn, optim

CLASSES, FEATURES = 4, 16


def make_data(samples: int, seed: int) -> tuple[Tensor, Tensor]:
    """Points around one centre per class: (samples, FEATURES) and (samples,)."""
    generator = tenfold.Generator().manual_seed(0)
    centres = tenfold.randn(CLASSES, FEATURES, generator=generator)
    generator.manual_seed(seed)
    labels = tenfold.randint(0, CLASSES, (samples,), generator=generator)
    return centres[labels] + 0.7 * tenfold.randn(samples, FEATURES, generator=generator), labels


def make_model() -> nn.Module:
    """A perceptron with one hidden layer."""
    return nn.Sequential(nn.Linear(FEATURES, 32), nn.ReLU(), nn.Linear(32, CLASSES))


def accuracy(model: nn.Module, data: tuple[Tensor, Tensor]) -> float:
    """The share of points whose class the model names."""
    points, labels = data
    with tenfold.no_grad():
        return float((model(points).argmax(1) == labels).float().mean())


def work(index: int, model: nn.Module, data: tuple[Tensor, Tensor], steps_done: Tensor, epochs: int, batch: int) -> None:
    """One process: gradients of its own, steps on the parameters that all share."""
    tenfold.set_num_threads(1)
    tenfold.manual_seed(100 + index)
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    points, labels = data
    for _ in range(epochs):
        for chosen in tenfold.randperm(len(labels)).split(batch):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(points[chosen]), labels[chosen]).backward()
            optimizer.step()
            steps_done[index] += 1
    print(f"process {index} (pid {os.getpid()}): {int(steps_done[index])} steps", flush=True)


def main() -> float:
    """Train, and say how good it became."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--start-method", choices=["spawn", "fork", "forkserver"], default="spawn")
    args = parser.parse_args()

    tenfold.manual_seed(0)
    model = make_model().share_memory()
    data, steps_done = make_data(args.samples, seed=1), tenfold.zeros(args.processes, dtype=tenfold.int64).share_memory_()
    test = make_data(1000, seed=2)
    print(f"test accuracy before: {accuracy(model, test):.1%}")
    mp.start_processes(
        work, (model, data, steps_done, args.epochs, args.batch), nprocs=args.processes, start_method=args.start_method
    )
    reached = accuracy(model, test)
    print(f"test accuracy after {int(steps_done.sum())} steps of {args.processes} processes: {reached:.1%}")
    return reached


if __name__ == "__main__":
    main()
