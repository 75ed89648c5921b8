"""A random program once more on PyTorch with one thing changed: whether that alone explains another gradient."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

_HALF = (r"torch\.b?float16\b", "torch.float64"), (r"\.(half|bfloat16)\(\)", ".double()")
_SINGLE = (r"torch\.float32\b", "torch.float64"), (r"\.float\(\)", ".double()"), (r"torch\.complex64\b", "torch.complex128")
_QUIET = "with torch.no_grad(): "
# Truths, which are constants: PyTorch does not record that they are written.
UNRECORDED = r"^(t[\d_]+)\.logical_\w+_\(|^torch\.(?:eq|ne|lt|le|gt|ge|logical_\w+|any|all|argmax)\(.*out=(t[\d_]+)"
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


def _run(
    torch: Any, lines: list[str], functions: dict[tuple[Any, str], Any], raised: list[Exception] | None = None
) -> tuple[dict[str, Any], Any]:
    """What a program's names stand for at its end, and the result of its last line; `raised` gets what that one raises."""
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "np": np}
    last: Any = None
    with _replaced(functions):
        for line in lines:
            try:
                exec(line, scope)
            except Exception as error:  # noqa: BLE001 - a statement that PyTorch refuses is part of a program
                if raised is not None and line is lines[-1]:
                    raised.append(error)
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


def _shaken(lines: list[str], seed: int) -> list[str]:
    """A program whose numbers in single precision have other last bits."""
    random = np.random.default_rng(seed)

    def other(found: re.Match[str]) -> str:
        return repr(float(found[0]) * (1 + int(random.integers(-2, 3)) * 2.0**-23))

    return [re.sub(r"(?<![\w.])\d+\.\d+(?![\w.])", other, line) if "torch.float32" in line else line for line in lines]


def is_noise_in_single(torch: Any, lines: list[str], theirs: Any, ours: Any) -> bool:
    """Whether a gradient is nothing but rounding: PyTorch's, of numbers with other last bits, is as far from float64's."""
    x, y = numbers(theirs), numbers(ours)
    exact = _widened(lines, (*_HALF, *_SINGLE))

    def found() -> bool:
        truths = [numbers(t) for t in _gradients(torch, exact, {}) if t.shape == theirs.shape]
        others = [[numbers(t) for t in _gradients(torch, _shaken(lines, k), {}) if t.shape == theirs.shape] for k in range(8)]
        for i, truth in enumerate(truths):
            noise = max((np.abs(t[i] - truth).max(initial=0) for t in others if len(t) == len(truths)), default=0)
            if np.isfinite(noise) and np.abs(x - truth).max(initial=0) <= 2 * noise >= np.abs(y - truth).max(initial=0):
                return True
        return False

    return _in_a_process(found)


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


def with_shapes_recorded(lines: list[str]) -> list[str]:
    """A program that records the changes of shape which were made under no_grad."""
    return [line.removeprefix(_QUIET) if re.match(QUIET_SHAPE, line) else line for line in lines]


def with_views_kept(lines: list[str]) -> list[str]:
    """A program that writes by `.data` what is not recorded, so that PyTorch leaves the graphs of views as they are."""
    found = []
    for line in lines:
        if line.startswith(_QUIET) and not re.match(QUIET_SHAPE, line):
            line = re.sub(r"(?<=\): )(t[\d_]+)(?=\.\w+_\(|\[.*\] [-+*/%|&^<>]*= | [-+*/%|&^<>]+= )", r"\1.data", line)
            line = re.sub(r"out=(t[\d_]+)", r"out=\1.data", line)
            line = re.sub(r"(F\.\w+\()(t[\d_]+)(.*inplace=True\))", r"(\1\2.data\3, \2)[1]", line)
        if written := re.match(UNRECORDED, line):
            end = written.end(1 if written[1] else 2)
            line = f"{line[:end]}.data{line[end:]}"
        found.append(line)
    return found


def ends_alike(torch: Any, lines: list[str], what: str, name: str) -> bool:
    """Whether a program's end on PyTorch is what it is here: it raises or not, gives a tensor or none, `name` has a gradient.

    `what` is the difference as the fuzzer tells it, which ends with what there is here.
    """
    ours = what.split(" / ")[-1]

    def found() -> bool:
        raised: list[Exception] = []
        scope, last = _run(torch, lines, {}, raised)
        if what.startswith("error"):
            return bool(raised) == (ours != "None")
        if what.startswith("grad is None"):
            return str(scope[name].grad is None) == ours
        if any("derivative for aten::remainder" in str(error) for error in raised):  # a number by a tensor: PyTorch has none
            return ours == "Tensor"
        results = last if isinstance(last, (tuple, list)) else [last]
        return not raised and any(type(x).__name__ == ours for x in results)

    return _in_a_process(found)


def passes_when_seen(torch: Any, lines: list[str]) -> bool:
    """Whether PyTorch takes an assignment with an operator in two steps, between which its tensor's graph is looked at.

    Without that it says that a view which has been written is a leaf.
    """
    found = re.match(r"(with torch\.no_grad\(\): )?(t[\d_]+)\[(.*)\] ([-+*])= (.*)$", lines[-1])
    if not found:
        return False
    quiet, name, index, operation, value = found.groups()
    steps = [f"part = {name}[{index}]", f"part {operation}= {value}", f"{name}.grad_fn", f"{name}[{index}] = part"]
    raised: list[Exception] = []
    return _in_a_process(
        lambda: bool(_run(torch, [*lines[:-1], *((quiet or "") + step for step in steps)], {}, raised)) and not raised
    )


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


def sums_overflow(torch: Any, given: dict[str, Any], text: str, theirs: Any, ours: Any) -> bool:
    """Whether a product of matrices is otherwise infinite or nan only where terms leave float32, and ours is float64's there.

    The order in which they are added, and whether a product is rounded before, decides between infinity and nan.
    """
    factors: list[Any] = []

    def watched(product: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*given: Any, **options: Any) -> Any:
            factors.append(given[:2])
            return product(*given, **options)

        return changed

    def found() -> bool:
        scope = {"torch": torch, "F": torch.nn.functional, "np": np, **given}
        with _replaced({place: watched(getattr(*place)) for place in _products(torch)}):
            exec(text, scope)
        (a, b), turned = factors[0], "linear" in text
        a, b = (t.detach().double() for t in (a, b.mT if turned else b))
        sizes = (torch.nan_to_num(t.abs(), 0, 0, 0) for t in (a, b))
        large = numbers(torch.matmul(*sizes)).real > np.finfo(np.float32).max
        exact, x, y = numbers((a @ b).float()), numbers(theirs), numbers(ours)
        differs = ~((x == y) | (np.isnan(x) & np.isnan(y)) | (np.isfinite(x) & np.isfinite(y)))
        return bool(large[differs].all() and np.array_equal(exact[differs], y[differs], equal_nan=True))

    return theirs.dtype == torch.float32 and _in_a_process(found)


def _products(torch: Any) -> list[tuple[Any, str]]:
    return [(torch.Tensor, "__matmul__"), (torch, "matmul"), (torch, "tensordot"), (torch.nn.functional, "linear")]


def refuses(torch: Any, lines: list[str], functions: dict[tuple[Any, str], Any]) -> bool:
    """Whether PyTorch with these functions in place of its own refuses the last line."""
    raised: list[Exception] = []
    return _in_a_process(lambda: bool(_run(torch, lines, functions, raised)) and bool(raised))


def multiplies_a_copy(torch: Any, lines: list[str]) -> bool:
    """Whether a product has a batch of matrices that lie apart, which PyTorch copies into one matrix."""
    apart = []

    def watched(product: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*given: Any, **options: Any) -> Any:
            apart.extend(x for x in given if isinstance(x, torch.Tensor) and x.dim() > 2 and not x.is_contiguous())
            return product(*given, **options)

        return changed

    products = {place: watched(getattr(*place)) for place in _products(torch)}
    return _in_a_process(lambda: bool(_run(torch, lines, products) and apart))
