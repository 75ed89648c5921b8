"""The same call in Tenfold and in PyTorch: values, gradients, dtypes, strides, or the same type of error."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenfold as tf

torch = pytest.importorskip("torch")

# Relative and absolute, for a few operations on numbers near one.
TOLERANCE = {"float64": 1e-10, "float32": 2e-5, "float16": 4e-3, "bfloat16": 4e-2, "uint8": 0.0, "int64": 0.0, "bool": 0.0}


def ours(x: Any) -> Any:
    """A PyTorch tensor as Tenfold's: same numbers, dtype and strides, and whether it asks for a gradient."""
    if not isinstance(x, torch.Tensor):
        return type(x)(ours(v) for v in x) if isinstance(x, (list, tuple)) else x
    dtype = getattr(tf, str(x.dtype).removeprefix("torch."))
    plain = x.detach()
    values = plain.float() if x.dtype is torch.bfloat16 else plain
    made = tf.from_numpy(values.numpy()).to(dtype)
    if made.stride() != tuple(x.stride()):
        made = tf.empty_strided(tuple(x.shape), x.stride(), dtype=dtype).copy_(made)
    return made.requires_grad_(x.requires_grad)


def numbers(x: Any) -> Any:
    """A tensor of either library as an array wide enough for all dtypes."""
    x = x.detach()
    return np.asarray(x.double().numpy() if str(x.dtype).endswith(("float16", "float32")) else x.numpy())


def close(got: Any, expected: Any, what: str, tolerance: float | None = None) -> None:
    assert tuple(got.shape) == tuple(expected.shape), what
    name = str(expected.dtype).removeprefix("torch.")
    assert str(got.dtype).removeprefix("tenfold.") == name, what
    t = TOLERANCE.get(name, 0.0) if tolerance is None else tolerance
    np.testing.assert_allclose(numbers(got), numbers(expected), t, t, err_msg=what)


def steps(x: Any) -> list[int]:
    """The strides that matter: a dimension of size 1 has no step."""
    return [step for step, size in zip(x.stride(), x.shape, strict=True) if size > 1]


def _run(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(), None
        except Exception as error:  # noqa: BLE001 - the type is what is compared
            return None, error


def agree(
    run: Callable[..., Any],
    reference: Callable[..., Any],
    *args: Any,
    tolerance: float | None = None,
    strides: bool = False,
    **kw: Any,
) -> Any:
    """Both libraries' function on the same arguments, PyTorch tensors being converted; returns Tenfold's result."""
    mine = [ours(a) for a in args]
    my_kw = {k: ours(v) for k, v in kw.items()}
    expected, theirs = _run(lambda: reference(*args, **kw))
    got, error = _run(lambda: run(*mine, **my_kw))
    if theirs is not None:
        assert isinstance(error, type(theirs)), f"expected {type(theirs).__name__}: {theirs}; got {error!r} {got!r}"
        return None
    if error is not None:
        raise error
    results = list(zip(*[r if isinstance(r, (tuple, list)) else (r,) for r in (got, expected)], strict=True))
    for i, (a, b) in enumerate(results):
        close(a, b, f"result {i}", tolerance)
        assert not strides or steps(a) == steps(b), f"strides {a.stride()} for {tuple(b.stride())}"
    _agree_backward(results, [*zip(mine, args, strict=True), *((my_kw[k], v) for k, v in kw.items())], tolerance)
    return got


def _agree_backward(results: list[Any], pairs: list[Any], tolerance: float | None) -> None:
    leaves = [(a, b) for a, b in pairs if isinstance(b, torch.Tensor) and b.requires_grad]
    for a, b in results:
        assert not b.requires_grad or a.requires_grad, "no gradient"
    totals = [(a, b) for a, b in results if b.requires_grad]
    if not leaves or not totals:
        return
    weights = [torch.linspace(-1, 2, b.numel(), dtype=torch.float64).reshape(b.shape).to(b.dtype) for _, b in totals]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, for comparisons of bfloat16 NaN
        gots = tf.autograd.grad([a for a, _ in totals], [a for a, _ in leaves], [ours(w) for w in weights], allow_unused=True)
    wanted = torch.autograd.grad([b for _, b in totals], [b for _, b in leaves], weights, allow_unused=True)
    for i, (got, want, (_, leaf)) in enumerate(zip(gots, wanted, leaves, strict=True)):
        want = torch.zeros_like(leaf) if want is None else want
        close(tf.zeros_like(ours(leaf)) if got is None else got, want, f"gradient {i}", tolerance)
