"""What operators of a program's own may declare and return, beside PyTorch's."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import tenfold  # noqa: E402
from tenfold import library as ours  # noqa: E402

LIBS = ((tenfold, ours), (torch, torch.library))
_numbers = itertools.count()


def made(lib: Any, library: Any, annotations: dict[str, Any], function: Callable[..., Any], **options: Any) -> Any:
    function.__annotations__ = annotations
    options = {"mutates_args": ()} | options
    return library.custom_op(f"results_{lib.__name__}::op{next(_numbers)}", function, **options)


def told(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(told, value))
    return value.tolist() if hasattr(value, "tolist") else value


def outcome(run: Callable[[], Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return told(run())
    except Exception as error:  # noqa: BLE001 - which one is what is compared
        return type(error)


PAIR = "a pair"
RETURNED: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "a number for a tensor": ("T", lambda x: 3),
    "nothing for a tensor": ("T", lambda x: None),
    "a tuple for a tensor": ("T", lambda x: (x.clone(),)),
    "a tensor for two": (PAIR, lambda x: x.clone()),
    "a list for two": (PAIR, lambda x: [x.clone(), x + 1]),
    "nothing as the second": (PAIR, lambda x: (x.clone(), None)),
    "a tensor for nothing": (None, lambda x: x.clone()),
    "a tensor for an int": (int, lambda x: x.clone()),
    "a float for an int": (int, lambda x: 2.5),
    "an int": (int, lambda x: 2),
    "an int for a float": (float, lambda x: 2),
    "an int for a bool": (bool, lambda x: 1),
    "a tuple for a list": ("list", lambda x: (x.clone(),)),
    "a list": ("list", lambda x: [x.clone()]),
    "a tensor for a list": ("list", lambda x: x.clone()),
    "a list of nothing": ("list", lambda x: [None]),
}


@pytest.mark.parametrize("case", RETURNED)
def test_results(case: str) -> None:
    kind, function = RETURNED[case]
    found = []
    for lib, library in LIBS:
        named = {"T": lib.Tensor, PAIR: tuple[lib.Tensor, lib.Tensor], "list": list[lib.Tensor]}
        annotations = {"x": lib.Tensor, "return": named.get(kind, kind)}
        op = made(lib, library, annotations, lambda x: function(x))
        found.append(outcome(lambda: op(lib.ones(2))))  # noqa: B023 - called at once
    assert found[0] == found[1]
    assert type(found[0]) is type(found[1])


@pytest.mark.parametrize("count", [1, 3])
def test_another_number_of_results_is_refused(count: int) -> None:
    """PyTorch reads behind the end of them, or takes the tensor apart."""
    annotations = {"x": tenfold.Tensor, "return": tuple[tenfold.Tensor, tenfold.Tensor]}
    op = made(tenfold, ours, annotations, lambda x: tuple(x + i for i in range(count)))
    with pytest.raises(RuntimeError, match=f"returned {count} values, but declares 2"):
        op(tenfold.ones(2))


GRADIENTS: dict[str, Callable[[Any], Any]] = {
    "too few": lambda g: g,
    "as many": lambda g: (g, None),
    "nothing behind": lambda g: (g, None, None),
    "something behind": lambda g: (g, None, g),
    "nothing": lambda g: None,
}


@pytest.mark.parametrize("optional", [True, False])
@pytest.mark.parametrize("case", GRADIENTS)
def test_numbers_of_gradients(case: str, optional: bool) -> None:
    found = []
    for lib, library in LIBS:
        annotations = {"x": lib.Tensor, "n": int, "return": lib.Tensor}
        function = (lambda x, n=2: x * n) if optional else (lambda x, n: x * n)
        op = made(lib, library, annotations, function)
        op.register_autograd(lambda ctx, g: GRADIENTS[case](g))
        x = lib.ones(2, requires_grad=True)

        def run(op: Any = op, x: Any = x) -> Any:
            op(x, *() if optional else (2,)).sum().backward()
            return x.grad

        found.append(outcome(run))
    assert found[0] == found[1]


SCHEMAS = {
    "unnamed": ((), "(Tensor(a!) x) -> ()"),
    "not changed": (("x",), "(Tensor x) -> Tensor"),
    "another": (("y",), "(Tensor(a!) x, Tensor y) -> ()"),
    "one too many": (("x", "y"), "(Tensor(a!) x, Tensor y) -> ()"),
    "unknown": ("unknown", "(Tensor(a!) x) -> ()"),
    "by name": ((), "(Tensor x, *, Tensor y) -> Tensor"),
    "maybe by name": ((), "(Tensor x, *, Tensor? y=None) -> Tensor"),
    "a list by name": ((), "(Tensor x, *, Tensor[] y) -> Tensor"),
    "fitting": (("x",), "(Tensor(a!) x, *, float s=1.) -> ()"),
}


@pytest.mark.parametrize("case", SCHEMAS)
def test_declarations(case: str) -> None:
    changed, schema = SCHEMAS[case]
    found = [
        outcome(lambda: bool(made(lib, library, {}, lambda x: None, mutates_args=changed, schema=schema)))  # noqa: B023
        for lib, library in LIBS
    ]
    assert found[0] == found[1]


def test_tensors_by_name_alone_have_no_gradient_and_changed_arguments_are_named() -> None:
    for lib, library in LIBS:
        with library._scoped_library(f"results_{lib.__name__}", "FRAGMENT") as own:
            own.define("by_name(Tensor x, *, Tensor y) -> Tensor")
            with pytest.raises(NotImplementedError, match="kwarg-only Tensor args"):
                library.register_autograd(f"results_{lib.__name__}::by_name", lambda ctx, g: g)
        with pytest.raises(TypeError, match="mutates_args"):
            library.custom_op(f"results_{lib.__name__}::unnamed", lambda x: x)


def test_aliases_are_named_so() -> None:
    for lib, library in LIBS:
        op = made(lib, library, {"x": lib.Tensor, "return": lib.Tensor}, lambda x: x.view(-1))
        with pytest.raises(RuntimeError, match="may not alias"):
            op(lib.ones(2))
