"""Results that a `Function` saved: what they say of the graph inside its backward pass, and gradients asked of them there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")


def one_result(lib: Any, seen: list[Any]) -> Any:
    class Twice(lib.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            out = x * 2
            ctx.save_for_backward(x, out)
            return out

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.extend(ctx.saved_tensors)
            return g * 2

    return Twice.apply


def several_results(lib: Any, seen: list[Any]) -> Any:
    class Both(lib.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            results = x * 2, x.detach().long(), x.exp()
            ctx.mark_non_differentiable(results[1])
            ctx.save_for_backward(*results)
            return results

        @staticmethod
        def backward(ctx: Any, g: Any, _: Any, h: Any) -> Any:
            seen.extend(ctx.saved_tensors)
            return g * 2 + h * ctx.saved_tensors[2]

    return lambda x: sum(Both.apply(x))


def by_setup_context(lib: Any, seen: list[Any]) -> Any:
    class Apart(lib.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(x: Any) -> Any:
            return x.exp()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.extend(ctx.saved_tensors)
            return g * ctx.saved_tensors[0]

    return Apart.apply


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("make", [one_result, several_results, by_setup_context])
def test_a_saved_result_is_part_of_the_graph(make: Any, recorded: bool) -> None:
    said = []
    for lib in (tenfold, torch):
        seen: list[Any] = []
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        lib.autograd.grad(make(lib, seen)(x).sum(), x, create_graph=recorded)
        said.append([(t.requires_grad, t.is_leaf, type(t.grad_fn).__name__) for t in seen])
    assert said[0] == said[1]
    assert any(needs for needs, *_ in said[0])


def test_an_implicit_functions_gradient_by_a_pass_within_the_pass() -> None:
    """y with y^2 = a: the derivative of the condition by y is asked of the saved result."""
    found = []
    for lib in (tenfold, torch):

        class Root(lib.autograd.Function):  # type: ignore[misc, name-defined]
            @staticmethod
            def forward(ctx: Any, a: Any) -> Any:
                y = a.sqrt()
                ctx.save_for_backward(y, a)
                return y

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                y, a = ctx.saved_tensors
                with lib.enable_grad():  # noqa: B023 - called in this turn
                    (slope,) = lib.autograd.grad((y * y - a).sum(), y)  # noqa: B023
                return g / slope

        a = lib.tensor([2.0, 3.0], dtype=lib.float64, requires_grad=True)
        Root.apply(a).sum().backward()
        found.append(a.grad.numpy())
    np.testing.assert_allclose(*found)
