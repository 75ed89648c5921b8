"""Random graphs that note which hooks run when, written for either library."""

from __future__ import annotations

import random
from typing import Any

KINDS = "add mul exp unbind split stack cat two one nested view overwrite write_view copy where leaf max addmm linear".split()
MODES = ("backward", "twice", "grad", "inputs", "second", "raise")


class Graph:
    """A graph over vectors of four numbers, and what its hooks noted."""

    def __init__(self, lib: Any, seed: int, kinds: list[str]) -> None:
        self.lib, self.rng, self.log, self.count = lib, random.Random(seed), [], 0
        self.tensors: list[Any] = []
        self.functions = functions(lib, self.log)
        for _ in range(self.rng.randint(1, 7)):
            self.leaf()
        for _ in range(self.rng.randint(2, 25)):
            getattr(self, self.rng.choice(kinds))()

    def pick(self) -> Any:
        return self.rng.choice(self.tensors if self.rng.random() < 0.5 else self.tensors[-4:])

    def several(self, most: int) -> list[Any]:
        return [self.pick() for _ in range(self.rng.randint(1, most))]

    def new(self, t: Any) -> None:
        """Take a tensor up, with some hooks."""
        name, self.count, log, chance = self.count, self.count + 1, self.log, self.rng.random
        if chance() < 0.8:
            t.register_hook(lambda g: log.append(f"tensor {name}"))
        if t.is_leaf:
            t.register_post_accumulate_grad_hook(lambda p: log.append(f"accumulated {name}"))
        else:
            if chance() < 0.2:
                t.retain_grad()
            if chance() < 0.3:
                t.grad_fn.register_hook(lambda a, b: log.append(f"after {name}"))
            if chance() < 0.2:
                t.grad_fn.register_prehook(lambda a: log.append(f"before {name}"))
        if tuple(t.shape) == (4,):
            self.tensors.append(t)

    def full(self, value: float, *shape: int) -> Any:
        return self.lib.full(shape or (4,), value, requires_grad=True)

    def leaf(self) -> None:
        self.new(self.full(0.5))

    def add(self) -> None:
        self.new(self.pick() + self.pick())

    def mul(self) -> None:
        self.new(self.pick() * self.pick())

    def exp(self) -> None:
        self.new((self.pick() * 0.1).exp())

    def unbind(self) -> None:
        parts = self.pick().view(2, 2).unbind(0)
        for part in parts:
            self.new(part)
        self.new(self.lib.cat(parts))

    def split(self) -> None:
        parts = self.pick().split(1)
        for part in parts:
            self.new(part)
        kept = [part for part in parts if self.rng.random() < 0.7] or [parts[0]]
        self.new(self.lib.stack([part.sum() for part in kept]).sum().expand(4) * 1)

    def stack(self) -> None:
        self.new(self.lib.stack(self.several(9)).sum(0))

    def cat(self) -> None:
        self.new(self.lib.cat(self.several(6)).view(-1, 4).mean(0))

    def two(self) -> None:
        a, b = self.functions[0].apply(self.pick(), self.pick())
        self.new(a)
        if self.rng.random() < 0.7:
            self.new(b)

    def one(self) -> None:
        self.new(self.functions[1].apply(self.pick()))

    def nested(self) -> None:
        self.new(self.functions[2].apply(self.pick()))

    def view(self) -> None:
        self.new(self.pick().view(2, 2).t().reshape(4))

    def overwrite(self) -> None:
        t = self.pick().clone()
        if self.rng.random() < 0.3:
            self.new(t)
        self.new(t.mul_(self.pick()))

    def write_view(self) -> None:
        t = self.pick() * 1.0
        part = t[1:3]
        part.mul_(self.pick()[:2])
        self.new(t)
        if self.rng.random() < 0.5:
            self.new(self.lib.cat([part, part]))

    def copy(self) -> None:
        t = self.lib.zeros(4)
        self.new(t.copy_(self.pick()))

    def where(self) -> None:
        self.new(self.lib.where(self.lib.tensor([True, False, True, False]), self.pick(), self.pick()))

    def max(self) -> None:
        self.new(self.lib.stack([self.pick(), self.pick()]).max(0).values)

    def addmm(self) -> None:
        self.new(self.lib.addmm(*(self.pick().view(2, 2) for _ in range(3))).view(4) * 0.1)

    def linear(self) -> None:
        weight, bias = self.full(0.1, 4, 4), self.full(0.0)
        weight.register_hook(lambda g: self.log.append("weight"))
        bias.register_hook(lambda g: self.log.append("bias"))
        self.new(self.lib.nn.functional.linear(self.pick()[None], weight, bias)[0])

    def fail(self, g: Any) -> None:
        self.log.append("fails")
        raise ValueError


def functions(lib: Any, log: list[str]) -> tuple[Any, Any, Any]:
    """Custom functions: of two results, of one, and one whose backward is a backward pass."""

    class Two(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            return a * 2, b + a

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return g * 2 + h, h

    class One(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return a * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    class Nested(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.save_for_backward(a)
            return a.sin()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            with lib.enable_grad():
                leaf = ctx.saved_tensors[0].detach().requires_grad_()
                sine, cosine = leaf.sin(), leaf.cos()
                for t, name in ((leaf, "leaf"), (sine, "sine"), (cosine, "cosine")):
                    t.register_hook(lambda g, name=name: log.append(f"nested {name}"))
                (sine + cosine * 0).backward(g)
            return leaf.grad

    return Two, One, Nested


def ran(lib: Any, seed: int, mode: str) -> tuple[list[str], list[float | None]]:
    """What the hooks of a graph noted, and the gradients that there are then."""
    # What an affine map's gradient is made of is fewer nodes here than there, whose order a second pass would show.
    graph = Graph(lib, seed, KINDS[:-1] if mode == "second" else KINDS)
    rng, log, tensors = graph.rng, graph.log, graph.tensors

    def some() -> list[Any]:
        return rng.sample(tensors, min(len(tensors), rng.randint(1, 3)))

    roots = some()
    ones = [lib.ones(4) for _ in roots]
    if mode == "raise":
        rng.choice(tensors).register_hook(graph.fail)
    try:
        if mode == "grad":
            lib.autograd.grad(roots, some(), ones, allow_unused=True)
        elif mode == "inputs":
            lib.autograd.backward(roots, ones, inputs=some())
        else:
            lib.autograd.backward(roots, ones, retain_graph=mode == "twice" or None, create_graph=mode == "second")
        if mode == "twice":
            lib.autograd.backward(roots, ones)
        if mode == "second":
            _second(lib, graph)
    except (RuntimeError, ValueError) as error:
        log.append(type(error).__name__)
    return log, [round(float(t.grad.sum()), 2) if t.grad is not None else None for t in tensors if t.is_leaf or t.retains_grad]


def _second(lib: Any, graph: Graph) -> None:
    """A backward pass from the leaves' gradients."""
    leaves = [t for t in graph.tensors if t.is_leaf and t.grad is not None and t.grad.requires_grad]
    found = [t.grad for t in leaves]
    for t in leaves:
        t.grad = None
    graph.log.append("again")
    if found:
        lib.autograd.backward(found, [lib.ones(4) for _ in found])
