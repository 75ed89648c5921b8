"""Recurrent networks and cells as functions of their weights, beside PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")
LIBS = (tenfold, torch)
GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    random = np.random.default_rng(0)
    return [random.normal(size=shape) for shape in shapes]


def flat(found: Any) -> list[Any]:
    """The tensors in `found` as arrays."""
    return [found.detach().numpy()] if hasattr(found, "detach") else [a for part in found for a in flat(part)]


def agree(program: Any) -> None:
    ours, theirs = (flat(program(lib)) for lib in LIBS)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("form", ["steps first", "batch first", "packed"])
def test_networks(name: str, biases: bool, bidirectional: bool, form: str) -> None:
    gates, directions = GATES[name] * 4, 2 if bidirectional else 1
    shapes: list[tuple[int, ...]] = []
    for width in (3, 4 * directions):
        shapes += ([(gates, width), (gates, 4)] + [(gates,)] * (2 * biases)) * directions
    x, h, c, *weights = arrays((5, 2, 3), (2 * directions, 2, 4), (2 * directions, 2, 4), *shapes)

    def program(lib: Any) -> Any:
        given, h_0, c_0, *params = (lib.from_numpy(a).requires_grad_() for a in (x, h, c, *weights))
        state = (h_0, c_0) if name == "lstm" else h_0
        run = getattr(lib, name)
        if form == "packed":
            packed = lib.nn.utils.rnn.pack_padded_sequence(given, [5, 3])
            found = run(packed.data, packed.batch_sizes, state, params, biases, 2, 0.0, True, bidirectional)
        else:
            first = form == "batch first"
            steps = given.transpose(0, 1) if first else given
            found = run(steps, state, params, biases, 2, 0.0, True, bidirectional, first)
        sum(part.square().sum() for part in found).backward()
        return found, given.grad, h_0.grad, [p.grad for p in params]

    agree(program)


def test_a_network_with_projections() -> None:
    x, h, c, *weights = arrays((5, 2, 3), (1, 2, 2), (1, 2, 4), (16, 3), (16, 2), (16,), (16,), (2, 4))

    def program(lib: Any) -> Any:
        given, h_0, c_0, *params = (lib.from_numpy(a) for a in (x, h, c, *weights))
        return lib.lstm(given, (h_0, c_0), params, True, 1, 0.0, False, False, False)

    agree(program)


@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("biases", [False, True])
def test_cells(name: str, biases: bool) -> None:
    gates = GATES[name] * 4
    x, h, c, *weights = arrays((2, 3), (2, 4), (2, 4), (gates, 3), (gates, 4), *[(gates,)] * (2 * biases))

    def program(lib: Any) -> Any:
        given, h_0, c_0, *params = (lib.from_numpy(a) for a in (x, h, c, *weights))
        return getattr(lib, f"{name}_cell")(given, (h_0, c_0) if name == "lstm" else h_0, *params)

    agree(program)


@pytest.mark.parametrize("name", GATES)
def test_refusals(name: str) -> None:
    for lib in LIBS:
        x, h = lib.ones(5, 2, 3), lib.ones(1, 2, 4)
        state = (h, h) if name == "lstm" else h
        with pytest.raises(TypeError):
            getattr(lib, name)(x, state)
        with pytest.raises(RuntimeError):
            getattr(lib, name)(x, state, [lib.ones(GATES[name] * 4, 3)], False, 1, 0.0, False, False, False)
