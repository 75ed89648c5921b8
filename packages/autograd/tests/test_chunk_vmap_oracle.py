"""vmap in a number of parts, compared with PyTorch's."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")


def _chunk_vmap(t: Any) -> Any:
    return importlib.import_module(f"{t.__name__}._functorch.apis").chunk_vmap


def _of_trees(t: Any) -> Any:
    x, w = t.arange(30.0).view(5, 2, 3), t.arange(3.0)
    run = _chunk_vmap(t)(lambda pair, k: {"a": pair[0] @ pair[1] * k, "b": (pair[0] * k).sum()}, in_dims=((0, None), None),
                         out_dims={"a": 1, "b": 0}, chunks=2)  # fmt: skip
    return run((x, w), 2.0)


def _with_keywords(t: Any) -> Any:
    return _chunk_vmap(t)(lambda x, *, scale: x.exp() * scale, in_dims=-1, out_dims=-1, chunks=3)(t.ones(2, 7), scale=3)


def _gradients(t: Any) -> Any:
    x = t.linspace(-1, 1, 10).view(5, 2).requires_grad_()
    _chunk_vmap(t)(lambda v: v.sin() * v.sum(), chunks=3)(x).sum().backward()
    return x.grad


@pytest.mark.parametrize("program", [_of_trees, _with_keywords, _gradients])
def test_results(program: Any) -> None:
    ours, theirs = program(tenfold), program(torch)
    pairs = [(ours[key], theirs[key]) for key in theirs] if isinstance(theirs, dict) else [(ours, theirs)]
    for a, b in pairs:
        tenfold.testing.assert_close(a, tenfold.tensor(b.tolist()))


@pytest.mark.parametrize("chunks", [1, 2, 3, 4, 5, 9])
def test_parts_have_pytorchs_sizes(chunks: int) -> None:
    def sizes(t: Any) -> list[Any]:
        """How often the function runs, and that the same numbers are drawn for all."""
        calls = []

        def function(x: Any) -> Any:
            calls.append(1)
            return x * 0 + t.rand(())

        t.manual_seed(0)
        out = _chunk_vmap(t)(function, randomness="same", chunks=chunks)(t.arange(5.0))
        return [len(calls), list(out.shape), len(set(out.tolist()))]

    assert sizes(tenfold) == sizes(torch)


@pytest.mark.parametrize(
    ("options", "args"),
    [({"chunks": 0}, 1), ({"chunks": -1}, 1), ({"randomness": "often"}, 1), ({"in_dims": 3}, 1), ({"in_dims": "x"}, 1), ({}, 0),
     ({"chunks": "2"}, 1)],
)  # fmt: skip
def test_what_is_refused(options: Any, args: int) -> None:
    def kind(t: Any) -> Any:
        with pytest.raises((RuntimeError, ValueError, TypeError)) as caught:
            _chunk_vmap(t)(lambda *xs: xs[0], **options)(*[t.ones(3)] * args)
        return type(caught.value)

    assert kind(tenfold) is kind(torch)


@pytest.mark.parametrize("name", ["batch_norm_replacement.replace_all_batch_norm_modules_", "functional_call.functional_call",
                                  "functional_call.stack_module_state"])  # fmt: skip
def test_functions_at_their_own_paths(name: str) -> None:
    module, _, function = name.partition(".")
    for t in (tenfold, torch):
        found = getattr(importlib.import_module(f"{t.__name__}._functorch.{module}"), function)
        assert found is getattr(importlib.import_module(f"{t.__name__}.func"), function)
