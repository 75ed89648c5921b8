"""What the lines before bring about in a gradient that a row of accepted_programs.py may be about."""

from __future__ import annotations

import re
from typing import Any

import formulas  # type: ignore[import-not-found] # beside this file
import numpy as np
import reruns  # type: ignore[import-not-found] # beside this file
from reruns import numbers  # beside this file


def tensors_of(environment: dict[str, Any], text: str) -> list[Any]:
    return [environment[name] for name in re.findall(r"t\d+(?:_\d)?", text) if name in environment]


def _beyond(torch: Any, t: Any) -> bool:
    """Whether integers are among those that float64 lacks."""
    return t.dtype is torch.int64 and bool(((t > 2**53) | (t < -(2**53))).any())


def _has_huge_exponent(torch: Any, environment: dict[str, Any], line: str) -> bool:
    """Whether a line raises a tensor that requires gradients to an integer that float64 lacks."""
    found = re.search(r"(?:pow_?\(|^)(?:torch\.)?(.*?)(?:, | \*\* |\.pow_?\()(.*)", line.split(" = ", 1)[-1])
    if not found or not any(t.requires_grad for t in tensors_of(environment, found[1])):
        return False
    return bool(re.search(r"\b\d{17,}", found[2])) or any(_beyond(torch, t) for t in tensors_of(environment, found[2]))


_UNITS = rf"\bF\.({'|'.join(formulas.UNITS)})\("


def _has(test: Any, environment: dict[str, Any], before: list[str], pattern: str) -> bool:
    """Whether a line with such an operator had an argument with such elements."""
    lines = [line for line in before if re.search(pattern, line)]
    return any(test(t).any() for line in lines for t in tensors_of(environment, line.split(" = ", 1)[-1]))


_POWER_OF_FALSE = r"\*\*=? False|pow_?\(.*\bFalse\)|\bFalse \*\*|pow\(False\b"


def _is_of_false(torch: Any, before: list[str], ours: Any) -> bool:
    """Whether 0 in place of False as a power's exponent or base makes the difference."""
    lines = [re.sub(r"\bFalse\b", "0", line) if re.search(_POWER_OF_FALSE, line) else line for line in before]
    return lines != before and reruns.explains(torch, lines, {}, ours)


def _of_edges(torch: Any, environment: dict[str, Any], before: list[str], details: list[Any]) -> str:
    """Where a formula has an edge: nan in both but for elements that the formula decides."""
    theirs, ours = (numbers(x) for x in details)
    defined = ~np.isnan(theirs)
    more = bool(np.allclose(theirs[defined], ours[defined], 1e-3, 1e-4))  # nan is all that PyTorch has and we have not
    if more and bool((ours[~defined & ~np.isnan(ours)] == 0).all()):
        if _has(lambda t: ~t.isfinite(), environment, before, r"\b(nan_to_num|nansum|nanmean)_?\("):
            return "0 times infinity"
        if _has(lambda t: ~t.isfinite(), environment, before, r"\bcross_entropy\(.*ignore_index=0"):
            return "an ignored row"
    if more and any(re.search(r"\.(copy|fill|zero)_\(", line) for line in before):
        return "all was overwritten"
    if any("create_graph=True" in line for line in before[:-1]) and (found := _of_second_ones(environment, before, theirs, ours)):
        return found
    if more and _has_infinite_rows(environment, before):
        return "infinite rows"
    products = r"\b(prod|cumprod)_?\("
    if more and _has(lambda t: ~t.isfinite(), environment, before, products):
        return "an infinite factor"
    less = np.isnan(ours) & ~np.isnan(theirs)
    alike = np.allclose(theirs[~less], ours[~less], 1e-3, 1e-4, equal_nan=True)
    if less.any() and alike and not theirs[less].any() and _has(lambda t: t == 0, environment, before, products):
        return "nan behind a zero"
    return ""


_CURVED = r"\bF\.(celu|elu|selu|softplus|smooth_l1_loss|huber_loss)\("


def _of_second_ones(environment: dict[str, Any], before: list[str], theirs: Any, ours: Any) -> str:
    """What second derivatives are that differ where one of the two is nan and nowhere else."""
    either = np.isnan(theirs) | np.isnan(ours)
    if not np.allclose(theirs[~either], ours[~either], 4e-2 if "float16" in " ".join(before) else 1e-3, 1e-3):
        return ""
    rows = _has(lambda t: t == 0, environment, before, r"\brenorm\(") and bool((np.isnan(ours) <= np.isnan(theirs)).all())
    return "a norm of zeros" if rows else ""


def _has_infinite_rows(environment: dict[str, Any], before: list[str]) -> bool:
    """Whether a norm was given, or made, what is not finite."""
    lines = [line for line in before if re.search(r"F\.(layer|batch|group|instance)_norm\(", line)]
    literal = any(re.search(r"float\('(-?inf|nan)'\)", line) for line in lines)
    return literal or any(not t.isfinite().all() for line in lines for t in tensors_of(environment, line))


def _places_of_modes(x: Any, dim: int) -> Any:
    """Where Tenfold finds the most frequent elements."""
    import tenfold

    return tenfold.mode(tenfold.tensor(x.tolist(), dtype=tenfold.float64), dim, keepdim=True).indices.tolist()


def _of_changed_formulas(torch: Any, environment: dict[str, Any], before: list[str], ours: Any) -> str:
    """Which function of PyTorch's, replaced by its definition, makes the difference."""

    def complex_ones(t: Any) -> Any:
        return torch.full_like(t, t.is_complex(), dtype=torch.bool)

    def integers(t: Any) -> Any:
        return torch.full_like(t, not (t.is_floating_point() or t.is_complex()), dtype=torch.bool)

    extremes = r"(scatter|index)_reduce_?\(.*'a(max|min)', include_self=False"
    signs = {(torch, "sgn"): torch.sign, (torch.Tensor, "sgn"): torch.Tensor.sign}
    causes = (
        ("a unit at nan", torch.isnan, _UNITS, formulas.units_with_one_slope_at_nan(torch)),
        ("a mode beside nan", torch.isnan, r"\bmode\(", formulas.mode_by_counting(torch, _places_of_modes)),
        ("a tie with what is left out", torch.ones_like, extremes, formulas.extremes_of_the_others(torch)),
        ("the zeros of sgn", torch.isnan, r"\bsgn\(", signs),
        ("the product of the others", lambda t: ~t.isfinite(), r"prod_?\(", formulas.products_by_steps(torch)),
        ("no curvature at infinity", lambda t: ~t.isfinite(), _CURVED, formulas.curves_by_parts(torch)),
        ("integers squared", integers, r"\b(atan2|arctan2)_?\(", formulas.angles_of_floats(torch)),
        ("a complex product made real", complex_ones, r"prod\(.*dtype=torch", formulas.real_before_products(torch)),
    )
    for name, test, pattern, functions in causes:
        if _has(test, environment, before, pattern) and reruns.explains(torch, before, functions, ours):
            return name
    return ""


def of_gradients(torch: Any, environment: dict[str, Any], before: list[str], what: str, details: list[Any]) -> str:
    if what.endswith("value-complex-nonfinite"):
        if _same_poles(*map(numbers, details)):
            return "the same poles"
        return "a power of False" if _is_of_false(torch, before, details[1]) else ""
    blocks = [t for line in before if "block_diag(" in line for t in tensors_of(environment, line.split(" = ", 1)[-1])]
    if any(t.shape == (0,) for t in blocks):
        return "blocks after an empty vector"
    if any(_has_huge_exponent(torch, environment, line) for line in before if re.search(r"\*\*|pow", line)):
        return "an exponent beyond 2 ** 53"
    if any(re.search(r"\bldexp", line) for line in before) and what.endswith("value"):
        return "ldexp of integers"
    if any(".data." in line or ".data[" in line for line in before):
        return ".data was written"
    if any(re.search(r"\.logical_\w+_\(", line) for line in before):
        return "a logical operator in place"
    if any("float16" in line for line in before) and reruns.is_as_near(torch, before, *details):
        return "half"
    if what.endswith("value-nonfinite") and _is_of_false(torch, before, details[1]):
        return "a power of False"
    if what.endswith("value-nonfinite") and (found := _of_edges(torch, environment, before, details)):
        return found
    return _of_changed_formulas(torch, environment, before, details[1]) or _of_quiet_changes(torch, before, details)


def _of_quiet_changes(torch: Any, before: list[str], details: list[Any]) -> str:
    """What PyTorch makes of changes under no_grad, and last what rounding does."""
    shapes, views = reruns.with_shapes_recorded(before), reruns.with_views_kept(before)
    if shapes != before and reruns.explains(torch, reruns.with_views_kept(shapes), {}, details[1]):
        return "a shape changed without recording"
    apart = reruns.with_shapes_apart(views)
    if any(x != before and reruns.explains(torch, x, {}, details[1]) for x in (views, apart)):
        return "changed without recording"
    theirs, ours = (np.isfinite(numbers(x)) for x in details)
    if not np.array_equal(theirs, ours):
        return ""
    near = reruns.is_as_near_in_single(torch, before, *details) or reruns.is_noise_in_single(torch, before, *details)
    return "rounding" if near else ""


def _same_poles(a: Any, b: Any) -> bool:
    """Whether the same elements of complex tensors are finite, and those are equal."""
    finite = np.isfinite(a)
    return bool((finite == np.isfinite(b)).all() and np.allclose(a[finite], b[finite], 1e-3, 1e-4))
