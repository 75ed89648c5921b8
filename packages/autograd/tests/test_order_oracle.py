"""The order in which nodes run in a backward pass, seen by hooks on random graphs, is PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest
from order_programs import MODES, ran

import tenfold

torch = pytest.importorskip("torch")
nn = pytest.importorskip("tenfold.nn")
pytestmark = pytest.mark.filterwarnings("ignore:.*reference cycle")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("block", range(5))
def test_hooks_run_in_the_order_of_pytorch(block: int, mode: str) -> None:
    for seed in range(block * 12, block * 12 + 12):
        (log, grads), (expected, numbers) = ran(tenfold, seed, mode), ran(torch, seed, mode)
        assert log == expected, f"graph {seed}"
        if mode != "twice":  # leaves share memory in PyTorch where a custom function returned one gradient for two of them
            assert grads == numbers, f"graph {seed}"


def stacked_leaves(lib: Any, count: int, inner: int) -> list[int]:
    log: list[int] = []
    tensors = [lib.ones(1, requires_grad=True) for _ in range(count)]
    for i, t in enumerate(tensors):
        t.register_hook(lambda g, i=i: log.append(i))
    for i in range(inner):
        tensors.insert(2 * i, tensors[0] * 1)
        tensors[2 * i].register_hook(lambda g, i=i: log.append(100 + i))
    lib.stack(tensors).sum().backward()
    return log


@pytest.mark.parametrize("count", range(1, 12))
@pytest.mark.parametrize("inner", range(3))
def test_leaves_that_are_ready_at_once(count: int, inner: int) -> None:
    assert stacked_leaves(tenfold, count, inner) == stacked_leaves(torch, count, inner)


def layers_order(lib: Any, layers: Any) -> list[str]:
    """Which parameters of several layers get their gradients when."""
    log: list[str] = []
    model = layers.Sequential(layers.Linear(3, 4), layers.LayerNorm(4), layers.ReLU(), layers.Linear(4, 2, bias=False))
    for name, p in model.named_parameters():
        p.register_post_accumulate_grad_hook(lambda p, name=name: log.append(name))
    model(lib.ones(5, 3)).sum().backward()
    return log


def test_parameters_of_layers() -> None:
    assert layers_order(tenfold, nn) == layers_order(torch, torch.nn)


def numbers(lib: Any) -> list[Any]:
    x = lib.ones(3, requires_grad=True)
    a = x * 2
    b = x.unbind()[1]
    c = a.clone()
    c[1:].mul_(a[:2])
    found = [n.grad_fn._sequence_nr() for n in (a, b, c)]
    a.grad_fn._set_sequence_nr(5)
    return [found == sorted(found), len(set(found)), a.grad_fn._sequence_nr(), a.grad_fn.next_functions[0][0]._sequence_nr()]


def test_numbers_of_nodes() -> None:
    assert numbers(tenfold) == numbers(torch) == [True, 3, 5, 2**64 - 1]
