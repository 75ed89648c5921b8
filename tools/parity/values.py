"""What a statement of a random program computes with that a row of accepted_programs.py may be about."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import reruns  # type: ignore[import-not-found] # beside this file
from gradients import numbers  # type: ignore[import-not-found] # beside this file


def overlaps(t: Any) -> bool:
    """Whether elements of a tensor share a place."""
    if t.numel() > 4096:
        return bool(t.numel() > 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride())))
    places = {0}
    for n, step in zip(t.shape, t.stride()):
        places = {place + i * step for place in places for i in range(n)}
    return bool(len(places) < t.numel())


def shares(a: Any, b: Any) -> bool:
    return bool(a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr())


def _is_a_part(t: Any) -> bool:
    """Whether there is other memory beside a tensor's."""
    return bool(t.untyped_storage().nbytes() > t.numel() * t.element_size())


def of_outputs(given: list[Any], text: str, base: str) -> str:
    """Outputs that are arguments as well, or lie apart."""
    if "out=" in text and len(given) > 1 and any(shares(g, given[-1]) for g in given[:-1]):
        return "an output that is read"
    if re.match(r"(with torch\.no_grad\(\): )?t[\d_]+\[.*\] = ", text) and any(shares(g, given[0]) for g in given[1:]):
        return "an output that is read"
    if re.search(r"_\(|^(with torch\.no_grad\(\): )?t[\d_]+ [-+*/%|&^<>]+= ", text) and any(
        shares(g, given[0]) and (g.shape, g.stride()) != (given[0].shape, given[0].stride()) for g in given[1:]
    ):
        return "an output that is read"
    if base.endswith("_scatter") and any(map(overlaps, given[:1])):
        return "copies that overlap"
    if base in ("tril", "triu") and "out=" in text and not given[-1].is_contiguous():
        return "an output that lies apart"
    if base == "matmul" and given[0].dim() == 1 and "out=" in text and _is_a_part(given[-1]):
        return "an output that lies apart"
    return ""


def _of_sums(torch: Any, base: str, given: list[Any], inexact: list[Any], details: list[Any]) -> str:
    """Sums whose terms cancel or overflow, counts that rounding decides, and quotients that overflow."""
    if base == "histc" and inexact and _lie_beside_edges(inexact[0], *details):
        return "beside an edge"
    if reruns.rounds_in_single(given, *details):
        return "rounding of the arguments' dtype"
    unit = {torch.float32: 1e-6, torch.complex64: 1e-6, torch.float64: 1e-15, torch.complex128: 1e-15}.get(details[0].dtype, 0)
    alone = base == "einsum" and len(given) == 1
    if (alone or base in ("sum", "mean", "nansum", "nanmean")) and given and unit:
        terms = np.abs(numbers((inexact or given)[0]))
        theirs, ours = map(numbers, details)
        if np.allclose(ours, theirs, 0, unit * terms[np.isfinite(terms)].sum(), equal_nan=True):
            return "rounding of a sum"
    real = [g for g in inexact if g.is_floating_point()]
    if base in ("remainder", "%") and any(
        (((g != 0) & (g.abs() < 1e-37)) | (g.isfinite() & (g.abs() > 1e37))).any() for g in real
    ):
        return "the smallest and largest numbers"
    if re.search(r"matmul|mm|mv|sum|mean|tensordot", base) and inexact:
        largest = [_largest(g) for g in (inexact[:1] if base in ("sum", "mean") else inexact)]
        if np.prod(largest) * max(g.numel() for g in inexact) > _range_of(torch, inexact[0]):
            return "sums beyond the dtype"
    return ""


def _largest(t: Any) -> float:
    """The largest finite number of a tensor, at least 1."""
    return max(1.0, float(t.detach().nan_to_num(0, 0, 0).abs().double().max())) if t.numel() else 1.0


def _range_of(torch: Any, t: Any) -> float:
    """The largest number of a tensor's dtype."""
    return float(torch.finfo(t.dtype).max)


_NOT_OF_BITS = ("mode", "conv1d")


def _of_norms(torch: Any, base: str, given: Any, nonfinite: bool) -> str:
    """What makes a variance inexact, by rows of float64, or exceed the range, that of float32 for halves.

    Rows of both kinds in one tensor make a result that is not finite by the latter."""
    x = given.double()
    if base.endswith("batch_norm") and x.dim() > 1:
        x = x.transpose(0, 1).flatten(1)
    found = _of_rows(x) if base.endswith(("layer_norm", "batch_norm")) else ""
    limit = max(_range_of(torch, given), _range_of(torch, torch.empty(0)))
    if (nonfinite or not found) and base.endswith("_norm") and _largest(given) > (limit / given.numel()) ** 0.5:
        return "squares beyond the dtype"
    return found


def _of_rows(x: Any) -> str:
    spread, largest = x.amax(-1) - x.amin(-1), x.abs().amax(-1)
    if (spread.abs() <= 1e-12).any():
        return "rows of equal elements"
    if (spread <= 1e-3 * largest).any():
        return "rows of nearly equal elements"
    return ""


def _differs_beside_nan(torch: Any, x: Any, theirs: Any, ours: Any) -> bool:
    """Whether results of a reduction differ for rows alone that hold nan."""
    a, b = numbers(theirs), numbers(ours)
    other = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    for dim in range(x.dim()):
        rows = torch.isnan(x).any(dim, keepdim=theirs.dim() == x.dim()).numpy()
        if rows.shape == other.shape and not (other & ~rows).any():
            return True
    return x.dim() == 0


def _names_equals(torch: Any, x: Any, text: str, theirs: Any, ours: Any) -> bool:
    """Whether two tensors of places along a dimension name equal elements."""
    found = re.search(r"mode\((?:t[\d_]+, )?(?:dim=)?(-?\d+)", text)
    dim = int(found[1]) if found else -1
    if theirs.dtype is not torch.int64 or not x.dim() or not -x.dim() <= dim < x.dim():
        return False
    places = [torch.tensor(p.tolist()) for p in (theirs, ours)]
    a, b = (x.gather(dim, p if p.dim() == x.dim() else p.unsqueeze(dim)) for p in places)
    return bool(torch.equal(a, b))


def _lie_beside_edges(x: Any, theirs: Any, ours: Any) -> bool:
    """Whether elements within rounding of an edge of a bin, not on it, make the difference between histograms from -2 to 2."""
    place = (x.double().flatten() + 2) * (theirs.numel() / 4)
    apart = (place - place.round()).abs()
    beside = int(((apart > 0) & (apart < 1e-5)).sum())
    return bool(0 < abs(numbers(theirs) - numbers(ours)).sum() <= 2 * beside)


def _of_choices(torch: Any, base: str, inexact: list[Any], last: Any, text: str, details: list[Any]) -> str:
    """Elements that are chosen by comparing them, and truth values."""
    if base in ("any", "all"):
        return "truth in bytes" if "out=" in text and last.dtype is torch.uint8 else ""
    if base == "mode":
        if _names_equals(torch, inexact[0], text, *details):
            return "another place of the same number"
        return "nan" if _differs_beside_nan(torch, inexact[0], *details) else ""
    return "nan" if any(torch.isnan(g).any() for g in inexact) else ""


def _of_infinity(x: Any, given: list[Any], what: str) -> str:
    """Whether real numbers lie in the memory of complex ones that are not finite."""
    wholes = [g for g in given if g.is_complex() and shares(g, x)] if what == "value-nonfinite" and not x.is_complex() else []
    return "" if all(g.isfinite().all() for g in wholes) else "the parts of an infinite number"


def _of_divisors(torch: Any, base: str, before: list[str], theirs: Any, ours: Any) -> str:
    of_least = base == "gcd" and torch.equal(theirs.abs(), torch.tensor(ours.abs().tolist()))  # PyTorch's is negative
    large = re.search(r"\d{10}|32768|32767|\b12[78]\b|255", " ".join(before))
    return "the largest integers" if of_least or large else ""


def _of_bits(torch: Any, before: list[str], base: str, details: list[Any]) -> str:
    """Results that differ by how memory is read."""
    if details[0].dtype is torch.bool and np.array_equal(*map(numbers, details)):
        return "bools of other bytes"
    if any(re.search(r"\.view\((dtype=)?torch\.", line) for line in before) and base not in _NOT_OF_BITS:
        return "bools of other bytes" if ".view(torch.bool)" in " ".join(before) else "bits of another dtype"
    return ""


def _of_sizes(torch: Any, base: str, x: Any, given: list[Any], before: list[str]) -> str:
    """Results that differ by how large the arguments are."""
    if base == "ldexp" and re.search(r"\d{10}", " ".join(before)):
        return "an exponent beyond 32 bits"
    largest = max((float(g.detach().abs().max()) for g in given[:1] if g.numel()), default=0.0)
    if base in ("norm", "normalize") and x.is_floating_point() and not x.dim() and largest > torch.finfo(x.dtype).max ** 0.5:
        return "the size of one large number"
    if base in ("sinh", "cosh") and x.dtype == torch.float32 and largest > 88.7:
        return "beyond the exponential"
    return ""


def of_values(torch: Any, given: list[Any], before: list[str], base: str, what: str, details: list[Any]) -> str:
    x = details[0]
    if not isinstance(x, torch.Tensor):
        return ""
    found = _of_bits(torch, before, base, details)
    if found:
        return found
    found = _of_infinity(x, given, what) or of_outputs(given, before[-1], base)
    if found:
        return found
    inexact = [g.detach() for g in given if g.is_floating_point() or g.is_complex()]
    if base in ("mode", "unique", "any", "all") and inexact:
        return _of_choices(torch, base, inexact, given[-1], before[-1], details)
    whole = not (x.is_floating_point() or x.is_complex())
    if what == "value" and whole and any(not torch.isfinite(g).all() for g in inexact):
        return "infinite to integer"
    if base in ("median", "nanmedian") and any(0 in g.stride() for g in given):
        return "expanded"
    found = _of_sizes(torch, base, x, given, before)
    if found:
        return found
    if base == "prod" and what.endswith("nonfinite") and inexact and (inexact[0] == 0).any():
        return "zero among numbers that overflow"
    if base in ("gcd", "lcm"):
        return _of_divisors(torch, base, before, *details)
    found = _of_sums(torch, base, given, inexact, details)
    found = found or (_of_norms(torch, base, inexact[0], what.endswith("nonfinite")) if inexact and x.dim() else "")
    if found:
        return found
    return "half" if any(v.dtype in (torch.float16, torch.bfloat16) for v in (x, *given)) or "float16" in before[-1] else ""
