"""What `asarray` leaves of a gradient's graph, and what hooks of a leaf may return: PyTorch's."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("of", ["leaf", "result", "plain"])
@pytest.mark.parametrize("options", [{}, {"requires_grad": False}, {"requires_grad": True}, {"copy": True}, {"dtype": "float64"}])
def test_an_array_of_a_tensor_requires_gradients_as_it_does(of: str, options: dict[str, Any]) -> None:
    def outcome(lib: Any) -> Any:
        x = lib.ones(2, requires_grad=of != "plain")
        given = {name: lib.float64 if name == "dtype" else value for name, value in options.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch says once that this was otherwise before
            made = lib.asarray(x * 2 if of == "result" else x, **given)
        return made.requires_grad, made.is_leaf, made.grad_fn is None, str(made.dtype).split(".")[1]

    assert outcome(tenfold) == outcome(torch)


RETURNED = {
    "itself": lambda p: p.add_(p.grad),
    "another": lambda p: p.detach(),
    "its gradient": lambda p: p.grad,
    "nothing": lambda p: None,
}


@pytest.mark.parametrize("name", RETURNED)
def test_what_a_hook_after_accumulation_returns(name: str) -> None:
    def outcome(lib: Any) -> Any:
        x = lib.zeros(2, requires_grad=True)
        x.register_post_accumulate_grad_hook(RETURNED[name])
        try:
            x.backward(lib.tensor([1.0, 2.0]))
        except RuntimeError as error:
            return str(error)
        return x.tolist()

    assert outcome(tenfold) == outcome(torch)
