"""`torch.library.infer_schema`, `opcheck` and `register_vmap` beside PyTorch's."""

from __future__ import annotations

import typing
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import tenfold  # noqa: E402
from tenfold import library as ours  # noqa: E402


def _prototypes(T: Any, dtype: Any, device: Any) -> list[tuple[dict[str, Any], dict[str, Any], Any]]:
    """Annotations, defaults and mutates_args of functions, by the types of either library."""
    some, number = typing.Optional, typing.Union[int, float, bool]  # noqa: UP007 - PyTorch knows these forms only
    pair = tuple[T, T]
    plain = {"x": T, "y": some[T], "n": int, "f": float, "b": bool, "s": str, "return": pair}
    lists = {
        "x": T,
        "a": list[T],
        "b": some[list[int]],
        "c": Sequence[some[T]],
        "d": Sequence[bool],
        "e": list[float],
        "f": list[number],
    }
    none = dict.fromkeys("bcdef")
    return [
        (plain, {"f": 1.5, "b": False, "s": "q"}, ()),
        (plain, {}, ["y"]),
        (plain, {}, "unknown"),
        (plain, {}, ["n"]),
        (plain, {}, ["absent"]),
        (plain, {}, "x"),
        ({**lists, "return": list[T]}, none, ()),
        ({**lists, "return": list[T]}, none, {"a"}),
        ({**lists, "return": list[T]}, none, "unknown"),
        ({"x": T, "d": some[dtype], "v": device, "k": some[number], "return": None}, {"v": "cpu", "k": None}, ()),
        ({"x": T, "f": float, "i": int, "return": T}, {"f": float("inf"), "i": -1}, ()),
        ({"x": T, "return": tuple[int, T, bool, float]}, {}, ()),
        *(({"x": T, "return": bad}, {}, ()) for bad in (dict, str, list[int], some[T])),
        *(({"x": bad, "return": T}, {}, ()) for bad in (dict, list[list[int]], list[str], some[list[T]])),
        ({"x": T}, {}, ()),
        ({"x": T, "l": int, "return": T}, {"l": [1]}, ()),
        ({"return": T}, {"x": None}, ()),
    ]


def _function(annotations: dict[str, Any], defaults: dict[str, Any]) -> Callable[..., Any]:
    names = list(dict.fromkeys([*annotations, *defaults]))
    text = ", ".join(f"{name}=defaults[{name!r}]" if name in defaults else name for name in names if name != "return")
    space: dict[str, Any] = {"defaults": defaults}
    exec(f"def f({text}): ...", space)
    space["f"].__annotations__ = annotations
    return space["f"]  # type: ignore[no-any-return]


def _schema(infer: Any, annotations: dict[str, Any], defaults: dict[str, Any], mutates: Any) -> str:
    try:
        return str(infer(_function(annotations, defaults), mutates_args=mutates))
    except ValueError as error:
        return str(error)[:48]


def test_schemas_are_pytorchs() -> None:
    theirs = _prototypes(torch.Tensor, torch.dtype, torch.device)
    mine = _prototypes(tenfold.Tensor, tenfold.dtype, tenfold.device)
    for (typed, defaults, mutates), (own, own_defaults, own_mutates) in zip(theirs, mine, strict=True):
        expected = _schema(torch.library.infer_schema, typed, defaults, mutates)
        assert _schema(ours.infer_schema, own, own_defaults, own_mutates) == expected


def _outcomes(t: Any, library: Any, space: str) -> list[Any]:
    """What `opcheck` says of operators that are right, and wrong in one way each."""

    def define(name: str, body: Callable[[Any], Any], mutates: Any = (), returns: Any = t.Tensor) -> Any:
        def function(x: Any) -> Any:
            return body(x)

        function.__annotations__ = {"x": t.Tensor, "return": returns}
        return library.custom_op(f"{space}::{name}", mutates_args=mutates)(function)

    good, found = define("good", lambda x: x * 2), []
    without_fake = library.opcheck(good, (t.ones(2),), raise_exception=False)
    found.append({name: result == "SUCCESS" for name, result in without_fake.items()})
    good.register_fake(t.empty_like)
    good.register_autograd(lambda ctx, grad: grad * 2)
    found.append(library.opcheck(good, (t.ones(2, requires_grad=True),)))
    changing = define("changing", lambda x: x.add_(1) * 1)
    returning = define("returning", lambda x: x)
    lying = define("lying", lambda x: x * 1.0)
    lying.register_fake(lambda x: t.empty(3))
    declared = define("declared", lambda x: x.add_(1) and None, ["x"], None)
    for op, name in (
        (changing, "test_schema"),
        (returning, "test_schema"),
        (lying, "test_faketensor"),
        (declared, "test_schema"),
    ):
        result = library.opcheck(op, (t.ones(1),), test_utils=name, raise_exception=False)
        found.append({key: value == "SUCCESS" for key, value in result.items()})
    with pytest.raises(Exception, match="test_schema failed") as raised:
        library.opcheck(changing, (t.ones(2),), test_utils="test_schema")
    found.append(type(raised.value).__name__)
    with pytest.raises(ValueError, match="test_utils"):
        library.opcheck(good, (t.ones(2),), test_utils="nothing")
    return found


def test_opcheck_finds_what_pytorchs_finds() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = _outcomes(torch, torch.library, "tenfold_oracle")
    assert _outcomes(tenfold, ours, "tenfold_oracle") == expected


def _mapped(t: Any, library: Any, vmap: Any) -> Any:
    def rows(x):  # type: ignore[no-untyped-def]
        return x * 2

    rows.__annotations__ = {"x": t.Tensor, "return": t.Tensor}
    op = library.custom_op("tenfold_oracle::rows", mutates_args=())(rows)
    op.register_autograd(lambda ctx, grad: grad * 2)
    seen = []

    @library.register_vmap(op)  # type: ignore[untyped-decorator]
    def many(info: Any, in_dims: Any, x: Any) -> Any:
        seen.append((info.batch_size, info.randomness, in_dims, tuple(x.shape)))
        return x * 2, in_dims[0]

    x = t.arange(6.0).reshape(2, 3)
    grads = t.func.grad(lambda x: vmap(op)(x).sum())(x)
    return vmap(op, in_dims=1)(x).tolist(), vmap(op)(x).tolist(), grads.tolist(), seen


def test_vmap_asks_the_registered_function() -> None:
    assert _mapped(tenfold, ours, tenfold.vmap) == _mapped(torch, torch.library, torch.vmap)
