"""What a statement of a random program does that a row of accepted_programs.py may be about."""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np
import reruns  # type: ignore[import-not-found] # beside this file
from gradients import numbers, of_gradients, tensors_of  # type: ignore[import-not-found] # beside this file

_FAULTS = (
    (
        r"must be non-empty|slice step|Dimension out of range|same scalar type|indexing tensors could not|"
        r"step must be greater|automatic differentiation for outputs with complex|single memory location|"
        r"storage that is not resizable|non-zero size|Subtraction|leaf Variable|dimension with size 0"
    ),
    (
        r"could not infer output dtype|shape mismatch: value tensor|multiple times|mask|cast to the desired|no order|"
        r"too many indices|single memory location"
    ),
)


def overlaps(t: Any) -> bool:
    """Whether elements of a tensor share a place."""
    if t.numel() > 4096:
        return bool(t.numel() > 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride())))
    places = {0}
    for n, step in zip(t.shape, t.stride()):
        places = {place + i * step for place in places for i in range(n)}
    return bool(len(places) < t.numel())


def _shares(a: Any, b: Any) -> bool:
    return bool(a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr())


def _few(t: Any) -> bool:
    return t.numel() < 2 or 1 in t.shape


_COMPARISON = r"\.(eq|ne|lt|le|gt|ge|logical_\w+)_\("


def circumstance(torch: Any, environment: dict[str, Any], before: list[str], op: str, what: str, details: list[Any]) -> str:
    """What a statement does (the last of `before`, all up to it) that a row may be about; nothing where there is none."""
    text, given = before[-1], tensors_of(environment, before[-1])
    base = op.removesuffix(" out").removesuffix("_")
    found = _of_history(environment, before, op, what, details) or _of_graphs(torch, environment, before, op, what, details)
    if found:
        return found
    if what.startswith("error"):
        return _of_errors(torch, environment, given, text, what, details)
    if what == "writes to overlapping memory are accepted":
        written = [_written(torch, environment, text), *given[1:]]
        return "the same elements" if sum(t.numel() for t in written[:1]) and not any(map(overlaps, written)) else ""
    if re.match("is_leaf|requires_grad", what) and base == "requires_grad":
        return "of a view whose memory was written" if details[0]._base is not None and details[0]._version else ""
    if what.startswith("is_leaf"):
        return "of nothing" if not details[0].numel() else ""
    if what == "python value":
        return "one element or none" if any(map(_few, given)) else ""
    if base == "as_strided":
        return "one element or none" if any(map(_few, given)) else ""
    if what.startswith("requires_grad True / False") and isinstance(details[0], torch.Tensor):
        if not (details[0].is_floating_point() or details[0].is_complex()):
            return "of integers"
        return "a comparison in place" if re.search(_COMPARISON, text) else ""
    if not re.match(r"(grad )?(value|shape)", what):
        return ""
    if "backward" in op or "grad" in op:
        return of_gradients(torch, environment, before, what, details)
    return _of_values(torch, given, before, base, what, details)


_INSIDE = ("writes to overlapping memory", "subtraction of bools", "a write that would not fit", "in-place rules of views")
_QUIET_WRITE = r"with torch\.no_grad\(\): (t[\d_]+(\.\w+_\(|\[.*\] [-+*/%|&^<>]*= | [-+*/%|&^<>]+= )|torch\..*out=)"


_LEAF_WRITE = "a write to a leaf that PyTorch allows is refused"


def _writes_quietly(environment: dict[str, Any], line: str) -> bool:
    """Whether a line wrote a view, or what has views, under no_grad."""
    if not re.match(_QUIET_WRITE, line):
        return False
    written = tensors_of(environment, line)
    views = [t for t in environment.values() if hasattr(t, "untyped_storage") and t._base is not None]
    return any(_shares(t, view) for t in (written[0], written[-1]) for view in views) if written else True


def _writes_all(environment: dict[str, Any], line: str) -> bool:
    """Whether a line wrote a tensor by slices that leave nothing out."""
    found = re.match(r"(with torch\.no_grad\(\): )?(t[\d_]+)\[(.*?)\] [-+*]?= ", line)
    if not found or found[2] not in environment or not re.fullmatch(r"[\d:., ()-]*|slice\(torch\.tensor\(0\), None\)", found[3]):
        return False
    if "(torch" in found[3]:
        return True
    items = [item.strip() for item in found[3].split(",")]
    sizes = environment[found[2]].shape
    if any(item not in ("...", "()", "") and ":" not in item for item in items):
        return False
    ends = [[int(x) if x else None for x in item.split(":")] for item in items if ":" in item]
    return "..." in items[:-1] or all(slice(*end).indices(n) == (0, n, 1) for end, n in zip(ends, sizes))


def _lacks_freedom(environment: dict[str, Any], line: str) -> bool:
    """Whether a line took a variance that is no number, which may have been overwritten since."""
    found = re.search(r" = ((?:torch|t[\d_]+)\.(?:var|std)\(.*)", line)
    if not found:
        return False
    result = environment.get(line.removeprefix("with torch.no_grad(): ").split(" = ")[0])
    if result is None or not bool(result.isfinite().all()):
        return True
    torch = importlib.import_module("torch")
    return not bool(eval(found[1], {"torch": torch, **environment}).isfinite().all())


def _of_history(environment: dict[str, Any], before: list[str], op: str, what: str, details: list[Any]) -> str:
    """What the lines before, or a backward pass, bring about."""
    if "backward" in op or "grad" in op:
        if what.startswith(_INSIDE):
            return "inside PyTorch's backward pass"
        if re.match(r"grad is None|kind of result|error|shape", what) and any(_writes_quietly(environment, x) for x in before):
            return "changed without recording"
        if what.endswith("shape") and any(re.match(reruns.QUIET_SHAPE, line) for line in before):
            return "a tensor of another shape than before"
        if what.startswith("error") and any("register_post_accumulate_grad_hook" in line for line in before):
            return "a hook without a gradient"
        if what.startswith("error") and "NoneType" in str(details[0]) and any("register_hook" in line for line in before):
            return "a hook without a gradient" if details[1] is None else "two mistakes"
    if "nonfinite" in what and any(_lacks_freedom(environment, line) for line in before):
        return "no degree of freedom"
    if what in ("version after write", _LEAF_WRITE) and any(re.search(r"detach_|requires_grad_\(False", x) for x in before):
        return "detached"
    if what.startswith("index put of another dtype") and "torch.uint8" in before[-1]:
        return "a mask of bytes"
    if re.search("modified in place$|^error: None", what) and re.search("in-?place.*NllLoss|NllLoss.*inplace", str(details[1])):
        return "logits of a loss"
    return _of_freed(environment, before, details) if what.endswith("graph freed") else ""


def _of_freed(environment: dict[str, Any], before: list[str], details: list[Any]) -> str:
    """What was kept for a second pass."""
    if "IndexPutBackward0" in str(details[1]) and any("index_add" in line for line in before):
        return "slices were added"
    return "all of a tensor was written" if any(_writes_all(environment, line) for line in before) else ""


def _written(torch: Any, environment: dict[str, Any], text: str) -> Any:
    """What a statement writes: the part that an index names, or a whole tensor."""
    found = re.match(r"(with torch\.no_grad\(\): )?(t[\d_]+\[.*?\]) [-+*]?= ", text)
    return eval(found[2], {"torch": torch, "np": np, **environment}) if found else tensors_of(environment, text)[0]


def _of_graphs(torch: Any, environment: dict[str, Any], before: list[str], op: str, what: str, details: list[Any]) -> str:
    """What is about the graph of gradients itself."""
    if what.startswith("in-place rules of views"):
        written = tensors_of(environment, before[-1])[0]
        if not (written.is_floating_point() or written.is_complex()):
            return "of integers"
        return "a comparison in place" if re.search(_COMPARISON, before[-1]) else ""
    if what.startswith("kind of result Tensor / NoneType"):
        return _of_missing_gradients(environment, before)
    return _of_refusals(torch, environment, before, op, details) if what.endswith("modified in place") else ""


def _of_missing_gradients(environment: dict[str, Any], before: list[str]) -> str:
    """Why what was asked for is not in our graph."""
    asked = re.search(r"autograd\.grad\(.*, \[(t[\d_]+)\]", before[-1])
    written = [found[1] for line in before if (found := re.search(r"\b(t[\d_]+)\.logical_\w+_\(", line))]
    if asked and asked[1] in environment and any(environment.get(name) is environment[asked[1]] for name in written):
        return "a logical operator in place"
    if asked and any(re.match(reruns.QUIET_SHAPE, line) and f" {asked[1]}." in line for line in before):
        return "a shape changed without recording"
    inner = asked and asked[1] in environment and _is_kept(environment[asked[1]])
    return "of a derivative" if inner and _follows_a_derivative(before) else ""


def _is_kept(t: Any) -> bool:
    """Whether PyTorch's formula for the operator that made a tensor reads that result."""
    return any(name.startswith("_saved_result") for name in dir(t.grad_fn))


def _follows_a_derivative(before: list[str]) -> bool:
    """Whether the last line differentiates something that was made of a derivative with a graph of its own."""
    made: set[str] = set()
    for line in before[:-1]:
        names = re.findall(r"t\d+", line)
        graph = "create_graph=True" in line or re.search(r" = t[\d_]+\.grad$", line)
        if names and (graph or not made.isdisjoint(names[1:])):
            made.add(names[0])
    return not made.isdisjoint(re.findall(r"t\d+", before[-1].split("autograd.grad(", 1)[-1].split("[")[0]))


def _of_refusals(torch: Any, environment: dict[str, Any], before: list[str], op: str, details: list[Any]) -> str:
    """Why a gradient is refused whose numbers were overwritten."""
    quietly = any(_writes_quietly(environment, x) for x in before)
    if op.startswith("autograd.grad") and quietly and reruns.finds_nothing(torch, before):
        return "changed without recording"
    products = "'input' of MmBackward0" in str(details[1])
    return "a batch that lies apart" if products and reruns.multiplies_a_copy(torch, before) else ""


def _selects_nothing(torch: Any, environment: dict[str, Any], text: str) -> bool:
    """Whether an index selects no elements."""
    found = re.match(r"(with torch\.no_grad\(\): )?(t[\d_]+ = )?(t[\d_]+\[.*\])( = |$)", text)
    if not found:
        return False
    try:
        return bool(eval(found[3], {"torch": torch, "np": np, **environment}).numel() == 0)
    except (IndexError, RuntimeError, SyntaxError, TypeError, ValueError):
        return False


def _of_errors(torch: Any, environment: dict[str, Any], given: list[Any], text: str, what: str, details: list[Any]) -> str:
    if what == "error: None / IndexError" and "out of bounds" in str(details[1]) and _selects_nothing(torch, environment, text):
        return "nothing is selected"
    if re.search(r"view_as_complex|\.view\(torch\.", text) and any(map(_few, given)):
        return "one element or none"
    if what.startswith("error: None") and "int64_t without overflow" in str(details[1]):
        return "2 ** 63" if any(t.dim() == 0 and float(t) == 2.0**63 for t in given if not t.is_complex()) else ""
    if what.startswith("error: None") and "single memory location" in str(details[1]):
        return "out= repeats elements"
    if str(details[0]) == "ZeroDivisionError" and details[1] is None:
        return _of_outputs(given, text, "")
    words = [str(x) for x in details]
    if None not in details and any(re.search(pattern, said) for pattern, said in zip(_FAULTS, words)):
        return "two mistakes"
    return ""


def _is_a_part(t: Any) -> bool:
    """Whether there is other memory beside a tensor's."""
    return bool(t.untyped_storage().nbytes() > t.numel() * t.element_size())


def _of_outputs(given: list[Any], text: str, base: str) -> str:
    """Outputs that are arguments as well, or lie apart."""
    if "out=" in text and len(given) > 1 and any(_shares(g, given[-1]) for g in given[:-1]):
        return "an output that is read"
    if re.match(r"(with torch\.no_grad\(\): )?t[\d_]+\[.*\] = ", text) and any(_shares(g, given[0]) for g in given[1:]):
        return "an output that is read"
    if re.search(r"_\(|^(with torch\.no_grad\(\): )?t[\d_]+ [-+*/%|&^<>]+= ", text) and any(
        _shares(g, given[0]) and g.shape != given[0].shape for g in given[1:]
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
    if base in ("sum", "mean", "nansum", "nanmean") and given and unit:
        terms = np.abs(numbers((inexact or given)[0]))
        if np.abs(np.subtract(*map(numbers, details))).max() <= unit * terms[np.isfinite(terms)].sum():
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
    wholes = [g for g in given if g.is_complex() and _shares(g, x)] if what == "value-nonfinite" and not x.is_complex() else []
    return "" if all(g.isfinite().all() for g in wholes) else "the parts of an infinite number"


def _of_divisors(torch: Any, base: str, before: list[str], theirs: Any, ours: Any) -> str:
    of_least = base == "gcd" and torch.equal(theirs.abs(), torch.tensor(ours.abs().tolist()))  # PyTorch's is negative
    large = re.search(r"\d{10}|32768|32767|\b12[78]\b|255", " ".join(before))
    return "the largest integers" if of_least or large else ""


def _of_values(torch: Any, given: list[Any], before: list[str], base: str, what: str, details: list[Any]) -> str:
    x = details[0]
    if not isinstance(x, torch.Tensor):
        return ""
    if any(re.search(r"\.view\((dtype=)?torch\.", line) for line in before) and base not in _NOT_OF_BITS:
        return "bools of other bytes" if ".view(torch.bool)" in " ".join(before) else "bits of another dtype"
    found = _of_infinity(x, given, what) or _of_outputs(given, before[-1], base)
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
    if base == "ldexp" and re.search(r"\d{10}", " ".join(before)):
        return "an exponent beyond 32 bits"
    if base in ("sinh", "cosh") and x.dtype == torch.float32 and (inexact[0].abs() > 88.7).any():
        return "beyond the exponential"
    if base == "prod" and what.endswith("nonfinite") and inexact and (inexact[0] == 0).any():
        return "zero among numbers that overflow"
    if base in ("gcd", "lcm"):
        return _of_divisors(torch, base, before, *details)
    found = _of_sums(torch, base, given, inexact, details)
    found = found or (_of_norms(torch, base, inexact[0], what.endswith("nonfinite")) if inexact and x.dim() else "")
    if found:
        return found
    return "half" if any(v.dtype in (torch.float16, torch.bfloat16) for v in (x, *given)) or "float16" in before[-1] else ""
