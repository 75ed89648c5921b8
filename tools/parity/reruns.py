"""A random program once more on PyTorch with one thing changed: whether that alone explains another gradient."""

from __future__ import annotations

import contextlib
import functools
import math
import operator
import os
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

_HALF = (r"torch\.b?float16\b", "torch.float64"), (r"\.(half|bfloat16)\(\)", ".double()")
_SINGLE = (r"torch\.float32\b", "torch.float64"), (r"\.float\(\)", ".double()"), (r"torch\.complex64\b", "torch.complex128")
_QUIET = "with torch.no_grad(): "
QUIET_SHAPE = r"with torch\.no_grad\(\): t[\d_]+\.((un)?squeeze|t|transpose|swap(axes|dims))_\("


@contextlib.contextmanager
def _replaced(functions: dict[tuple[Any, str], Any]) -> Iterator[None]:
    """Attributes replaced for a while."""
    before = {place: getattr(*place) for place in functions}
    try:
        for place, function in functions.items():
            setattr(*place, function)
        yield
    finally:
        for place, function in before.items():
            setattr(*place, function)


def _run(torch: Any, lines: list[str], functions: dict[tuple[Any, str], Any]) -> tuple[dict[str, Any], Any]:
    """What a program's names stand for at its end, and the result of its last line."""
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "np": np}
    last: Any = None
    with _replaced(functions):
        for line in lines:
            with contextlib.suppress(Exception):  # a statement that PyTorch refuses is part of a program
                exec(line, scope)
            target = re.match(r"(with torch\.no_grad\(\): )?(t\d+) = ", line)
            last = scope.get(target[2]) if target else None
            if target and isinstance(last, (tuple, list)):
                scope.update({f"{target[2]}_{i}": x for i, x in enumerate(last[:4]) if isinstance(x, torch.Tensor)})
    return scope, last


def _gradients(torch: Any, lines: list[str], functions: dict[tuple[Any, str], Any]) -> list[Any]:
    """Every gradient of a program: the results of its last line, and what its tensors hold."""
    scope, last = _run(torch, lines, functions)
    tensors = [x for x in scope.values() if isinstance(x, torch.Tensor)]
    held = []
    for x in tensors:
        with contextlib.suppress(RuntimeError):  # of views that were written elsewhere
            held.append(x.grad)
    found = list(last) if isinstance(last, (tuple, list)) else [last]
    return [x.detach() for x in (*found, *held) if isinstance(x, torch.Tensor)]


def numbers(t: Any) -> Any:
    """The elements; none of a tensor whose memory was given back."""
    t = t.detach()
    if hasattr(t, "_is_zerotensor") and t._is_zerotensor():  # which has no memory
        return np.zeros(tuple(t.shape), dtype=complex)
    kept = t.numel() == 0 or t.untyped_storage().nbytes()
    return np.array(t.tolist() if kept else [], dtype=complex)


def _exit_of(test: Callable[[], Any]) -> int:
    """How a process of its own ends that makes a test: 0 for true, 1 for false, 2 where it raises, less where it crashes."""
    child = os.fork()
    if not child:
        code = 2
        warnings.simplefilter("ignore")  # such as of `.grad` of computed tensors
        with contextlib.suppress(Exception):
            code = 0 if test() else 1
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _in_a_process(test: Callable[[], bool]) -> bool:
    """What a test finds in a process of its own: a program that PyTorch took step by step may crash it the second time."""
    return _exit_of(test) == 0


def crashes(torch: Any, environment: dict[str, Any], text: str) -> bool:
    """Whether PyTorch does not survive a statement: the multiples of the least integer, which has no absolute value."""
    least = [t for t in environment.values() if isinstance(t, torch.Tensor) and t.dtype in (torch.int32, torch.int64)]
    if not re.search(r"\b(lcm|gcd)_?\(", text) or not any((t == torch.iinfo(t.dtype).min).any() for t in least):
        return False
    return _exit_of(lambda: exec(text, {"torch": torch, "np": np, **environment})) < 0


def explains(torch: Any, lines: list[str], functions: dict[tuple[Any, str], Any], ours: Any) -> bool:
    """Whether PyTorch with these functions in place of its own has our gradient."""
    y = numbers(ours)
    near = {"rtol": 4e-2, "atol": 2e-2} if "float16" in " ".join(lines) else {"rtol": 1e-3, "atol": 1e-4}

    def found() -> bool:
        candidates = [numbers(x) for x in _gradients(torch, lines, functions)]
        return any(x.shape == y.shape and np.allclose(x, y, equal_nan=True, **near) for x in candidates)

    return _in_a_process(found)


def is_as_near(torch: Any, lines: list[str], theirs: Any, ours: Any) -> bool:
    """Whether our gradient in half precision is as near to that of float64 as PyTorch's, or but some roundings further."""
    unit = 2.0 ** (-7 if "bfloat16" in " ".join(lines) else -10)
    x, y = numbers(theirs), numbers(ours)
    exact = _widened(lines, _HALF)
    return _in_a_process(
        lambda: any(_is_near(numbers(t), x, y, unit) for t in _gradients(torch, exact, {}) if t.shape == theirs.shape)
    )


def rounds_as_well(torch: Any, given: dict[str, Any], text: str, theirs: Any, ours: Any) -> bool:
    """Whether what a statement made of these tensors in half precision is as near to float64's as PyTorch's, or one rounding."""
    halves = torch.float16, torch.bfloat16
    scope = {name: t.double() if isinstance(t, torch.Tensor) and t.dtype in halves else t for name, t in given.items()}
    unit = 2.0 ** (-8 if torch.bfloat16 in (theirs.dtype, *(getattr(t, "dtype", None) for t in given.values())) else -11)
    names = re.findall(r"t\d+(?:_\d)?", text)

    def found() -> bool:
        exec(_widened([text], _HALF)[0], {"torch": torch, "F": torch.nn.functional, "np": np, **scope}, scope)
        made = scope[names[0] if names[0] in scope else names[-1]]
        candidates = [t for t in (made if isinstance(made, (tuple, list)) else [made]) if t.shape == theirs.shape]
        return any(_rounds(numbers(t), numbers(theirs), numbers(ours), unit) for t in candidates)

    return _in_a_process(found)


def _rounds(truth: Any, theirs: Any, ours: Any, unit: float) -> bool:
    with np.errstate(all="ignore"):
        wrong, other = np.abs(ours - truth), np.abs(theirs - truth)
    known = np.isfinite(truth) & np.isfinite(theirs)
    if not (np.isnan(truth) <= np.isnan(ours)).all():
        return False
    allowed = np.maximum(other[known].max(initial=0), unit * np.abs(truth))
    return bool((wrong[known] <= allowed[known]).all())


def rounds_in_single(given: list[Any], theirs: Any, ours: Any) -> bool:
    """Whether an output in double precision holds what was computed in single precision, but for that one's rounding."""
    singles = ("torch.float32", "torch.complex64")
    if len(given) < 2 or given[-1] is not theirs or any(str(g.dtype) not in singles for g in given[:-1]):
        return False
    return bool(np.allclose(numbers(theirs), numbers(ours), 2.0**-22, 2.0**-149, equal_nan=True))


def is_as_near_in_single(torch: Any, lines: list[str], theirs: Any, ours: Any) -> bool:
    """The same of single precision, where the gradient of float64 is one that PyTorch's is near to itself."""
    x, y = numbers(theirs), numbers(ours)
    exact = _widened(lines, (*_HALF, *_SINGLE))

    def explained(t: Any) -> bool:
        truth = numbers(t)
        known = np.isfinite(truth) & np.isfinite(x)
        terms = np.abs(truth[known]).max(initial=0)
        if np.allclose(y, truth, 2.0**-22, 1e-7, equal_nan=True):  # PyTorch has it in double precision
            return True
        return bool(np.abs(x - truth)[known].max(initial=0) <= 2e-2 * terms) and _is_near(truth, x, y, 2.0**-22)

    programs = [exact, *([copied] if (copied := _with_copies(exact)) != exact else [])]
    return _in_a_process(
        lambda: any(explained(t) for program in programs for t in _gradients(torch, program, {}) if t.shape == theirs.shape)
    )


def _with_copies(lines: list[str]) -> list[str]:
    """A widened program whose conversions to double precision copy what has it already, as they did before."""
    return [re.sub(r"(\.double\(\)|\.to\(torch\.float64\))", r"\1.clone()", line) for line in lines]


def _widened(lines: list[str], words: Any) -> list[str]:
    """A program with other dtypes."""
    for pattern, word in words:
        lines = [re.sub(pattern, word, line) for line in lines]
    return lines


def _is_near(truth: Any, theirs: Any, ours: Any, unit: float) -> bool:
    with np.errstate(all="ignore"):
        wrong, other = np.abs(ours - truth), np.abs(theirs - truth)
    lost = ~np.isfinite(other)  # where PyTorch's overflows, or meets another's overflow
    if not np.isfinite(wrong[~lost]).all():
        return False
    terms = np.abs(truth[np.isfinite(truth)]).max(initial=0)
    return bool(wrong[~lost].max(initial=0) <= 4 * (other[~lost].max(initial=0) + unit * terms))


UNITS = "celu elu selu hardshrink softshrink hardtanh relu6 hardswish".split()


def units_with_one_slope_at_nan(torch: Any) -> dict[tuple[Any, str], Any]:
    """PyTorch's units as they are at single elements: nan passes its gradient, times `selu`'s scale."""
    F = torch.nn.functional

    def at_nan(name: str) -> Callable[..., Any]:
        unit, slope = getattr(F, name), 1.0507009873554805 if name == "selu" else 1.0

        def changed(x: Any, *args: Any, inplace: bool = False, **options: Any) -> Any:
            none = torch.isnan(x)
            result = torch.where(none, x * slope, unit(torch.where(none, 0.0, x), *args, **options))
            return x.copy_(result) if inplace else result

        return changed

    return {(F, name): at_nan(name) for name in UNITS}


def mode_by_counting(torch: Any, mode: Callable[..., Any]) -> dict[tuple[Any, str], Any]:
    """PyTorch's `mode` with the positions that another one finds (`mode`, of NumPy's arrays), whose gradient is a gather's."""

    def changed(x: Any, dim: int = -1, keepdim: bool = False) -> Any:
        places = torch.as_tensor(mode(x.detach(), dim))
        values = x.gather(dim, places) if x.dim() else x
        return (values, places) if keepdim else (values.squeeze(dim), places.squeeze(dim))

    return {(torch, "mode"): changed, (torch.Tensor, "mode"): changed}


def extremes_of_the_others(torch: Any) -> dict[tuple[Any, str], Any]:
    """PyTorch's extremes in places without what was there, which is overwritten by the first number that comes."""

    def of(name: str, write: str) -> Any:
        original = getattr(torch.Tensor, name)

        def extreme(x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
            if include_self or reduce not in ("amax", "amin"):
                return original(x, dim, index, source, reduce, include_self=include_self)
            least = getattr(x.detach().clone(), write)(dim, index, -math.inf if reduce == "amax" else math.inf)
            kept = getattr(torch.ones_like(x.detach()), write)(dim, index, 0)
            return original(torch.where(kept == 1, x, least), dim, index, source, reduce)

        return extreme

    def index_reduce_(x: Any, *given: Any, **options: Any) -> Any:
        return x.copy_(indexed(x.clone(), *given, **options))

    indexed = of("index_reduce", "index_fill")
    found = {"scatter_reduce": of("scatter_reduce", "scatter"), "index_reduce": indexed, "index_reduce_": index_reduce_}
    return {(torch.Tensor, name): function for name, function in found.items()}


def real_before_products(torch: Any) -> dict[tuple[Any, str], Any]:
    """PyTorch's products in a real dtype of complex numbers, which are made real first."""

    def of(product: Callable[..., Any]) -> Callable[..., Any]:
        def changed(x: Any, *args: Any, dtype: Any = None, **options: Any) -> Any:
            return product(x if dtype is None else x.to(dtype), *args, **options)

        return changed

    return {(place, name): of(getattr(place, name)) for place in (torch, torch.Tensor) for name in ("prod", "cumprod")}


def angles_of_floats(torch: Any) -> dict[tuple[Any, str], Any]:
    """PyTorch's atan2 of integers that are made floats before their squares, which its gradient takes, can overflow."""

    def of(original: Any) -> Any:
        def angle(x: Any, y: Any, **options: Any) -> Any:
            kind = torch.result_type(x, y)
            kind = kind if kind.is_floating_point else torch.get_default_dtype()
            return original(*(t if t.is_floating_point() else t.to(kind) for t in (x, y)), **options)

        return angle

    places = [(torch.Tensor, f"{name}{end}") for name in ("atan2", "arctan2") for end in ("", "_")]
    return {(place, name): of(getattr(place, name)) for place, name in (*places, (torch, "atan2"), (torch, "arctan2"))}


def products_by_steps(torch: Any) -> dict[tuple[Any, str], Any]:
    """PyTorch's products, each one multiplication after another: their gradients are the products of the others."""

    def product(parts: Any) -> Any:
        return functools.reduce(operator.mul, parts)

    def parts_of(x: Any, dim: int, dtype: Any) -> Any:
        return (x if dtype is None else x.to(dtype)).unbind(dim)

    def cumprod(x: Any, dim: int, *, dtype: Any = None) -> Any:
        if not x.dim() or not x.numel():
            return x * 1
        parts = parts_of(x, dim, dtype)
        return torch.stack([product(parts[: j + 1]) for j in range(len(parts))], dim)

    def prod(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        if not x.dim() or not x.numel():
            return x * 1
        found = product(parts_of(x.flatten() if dim is None else x, dim or 0, dtype))
        return found.unsqueeze(dim) if keepdim else found

    def cumprod_(x: Any, dim: int, *, dtype: Any = None) -> Any:
        return x.copy_(cumprod(x.clone(), dim, dtype=dtype))

    methods = {(torch.Tensor, f.__name__): f for f in (cumprod, cumprod_, prod)}
    return {(torch, "cumprod"): cumprod, (torch, "prod"): prod, **methods}


def with_shapes_recorded(lines: list[str]) -> list[str]:
    """A program that records the changes of shape which were made under no_grad."""
    return [line.removeprefix(_QUIET) if re.match(QUIET_SHAPE, line) else line for line in lines]


def with_views_kept(lines: list[str]) -> list[str]:
    """A program that writes under no_grad by `.data`, so that PyTorch leaves the graphs of views as they are."""
    found = []
    for line in lines:
        if line.startswith(_QUIET) and not re.match(QUIET_SHAPE, line):
            line = re.sub(r"(?<=\): )(t[\d_]+)(?=\.\w+_\(|\[.*\] [-+*/%|&^<>]*= | [-+*/%|&^<>]+= )", r"\1.data", line)
            line = re.sub(r"out=(t[\d_]+)", r"out=\1.data", line)
        found.append(line)
    return found


def with_shapes_apart(lines: list[str]) -> list[str]:
    """A program that gives a name to a view in place of changes of shape under no_grad, so that other views keep their graphs."""
    found = [re.sub(r"(t[\d_]+)\.(\w+)_\(", r"\1 = \1.\2(", x) if re.match(QUIET_SHAPE, x) else x for x in lines]
    return [x.removeprefix(_QUIET) if x != y else x for x, y in zip(found, lines)]


def finds_nothing(torch: Any, lines: list[str]) -> bool:
    """Whether PyTorch's last line finds no gradient, or adds none to those that are there."""
    if "autograd.grad" in lines[-1]:
        return _in_a_process(lambda: None in (_run(torch, lines, {})[1] or ()))

    def held(program: list[str]) -> list[Any]:
        return [numbers(x) for x in _gradients(torch, program, {})]

    def unchanged() -> bool:
        before, after = held(lines[:-1]), held(lines)
        return len(before) == len(after) and all(np.array_equal(a, b, equal_nan=True) for a, b in zip(before, after))

    return _in_a_process(unchanged)


def multiplies_a_copy(torch: Any, lines: list[str]) -> bool:
    """Whether a product has a batch of matrices that lie apart, which PyTorch copies into one matrix."""
    apart = []

    def watched(product: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*given: Any, **options: Any) -> Any:
            apart.extend(x for x in given if isinstance(x, torch.Tensor) and x.dim() > 2 and not x.is_contiguous())
            return product(*given, **options)

        return changed

    places = [(torch.Tensor, "__matmul__"), (torch, "matmul"), (torch, "tensordot"), (torch.nn.functional, "linear")]
    products = {place: watched(getattr(*place)) for place in places}
    return _in_a_process(lambda: bool(_run(torch, lines, products) and apart))
