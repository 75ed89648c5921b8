"""What a statement of a random program does that a row of accepted_programs.py may be about."""

from __future__ import annotations

import importlib
import re
from typing import Any

import formulas  # type: ignore[import-not-found] # beside this file
import numpy as np
import reruns  # type: ignore[import-not-found] # beside this file
from gradients import of_gradients, tensors_of  # type: ignore[import-not-found] # beside this file
from values import of_outputs, of_values, overlaps, shares  # type: ignore[import-not-found] # beside this file

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


def _few(t: Any) -> bool:
    return t.numel() < 2 or 1 in t.shape


_COMPARISON = r"\.(eq|ne|lt|le|gt|ge|logical_\w+)_\("


def circumstance(torch: Any, environment: dict[str, Any], before: list[str], op: str, what: str, details: list[Any]) -> str:
    """What a statement does (the last of `before`, all up to it) that a row may be about; nothing where there is none."""
    text, given = before[-1], tensors_of(environment, before[-1])
    base = op.removesuffix(" out").removesuffix("_")
    found = _of_history(torch, environment, before, op, what, details) or _of_graphs(
        torch, environment, before, op, what, details
    )
    if found:
        return found
    if what.startswith("error"):
        return _of_errors(torch, environment, given, text, what, details)
    if what.endswith("accepted"):
        return _of_accepted_writes(torch, environment, given, text, what)
    if re.match("is_leaf|requires_grad", what) and base == "requires_grad":
        return "of a view whose memory was written" if details[0]._base is not None and details[0]._version else ""
    if what.startswith("is_leaf"):
        return _of_leaves(text, details[0])
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
    return of_values(torch, given, before, base, what, details)


def _of_leaves(text: str, t: Any) -> str:
    if not t.numel():
        return "of nothing"
    written = t._base is not None and t._version and re.search(_QUIET_WRITE, text)
    return "a view written without recording" if written else ""


_INSIDE = ("writes to overlapping memory", "subtraction of bools", "a write that would not fit", "in-place rules of views")
_QUIET_WRITE = (
    r"with torch\.no_grad\(\): (t[\d_]+(\.\w+_\(|\[.*\] [-+*/%|&^<>]*= | [-+*/%|&^<>]+= )|torch\..*out=|.*inplace=True\))"
    rf"|{reruns.UNRECORDED}"
)


_LEAF_WRITE = "a write to a leaf that PyTorch allows is refused"


def _writes_quietly(environment: dict[str, Any], line: str) -> bool:
    """Whether a line wrote a view, or what has views, and nobody recorded it."""
    if not re.match(_QUIET_WRITE, line):
        return False
    written = tensors_of(environment, line)
    views = [t for t in environment.values() if hasattr(t, "untyped_storage") and t._base is not None]
    return any(shares(t, view) for t in (written[0], written[-1]) for view in views) if written else True


def _is_of_quiet_writes(torch: Any, environment: dict[str, Any], before: list[str], what: str, details: list[Any]) -> bool:
    """Whether something was written unrecorded, and PyTorch's program ends as here where its views keep their graphs."""
    quietly = re.match(r"grad is None|kind of result|error|shape", what) and any(_writes_quietly(environment, x) for x in before)
    if not quietly:
        return False
    views = reruns.with_views_kept(before)
    programs = [views, reruns.with_shapes_apart(views), reruns.with_views_kept(reruns.with_shapes_recorded(before))]
    if what.endswith("shape"):
        return any(reruns.explains(torch, x, {}, details[1]) for x in programs)
    name = next((name for name, t in environment.items() if t is details[0]), "")
    return any(reruns.ends_alike(torch, x, what, name) for x in programs)


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


def _of_history(torch: Any, environment: dict[str, Any], before: list[str], op: str, what: str, details: list[Any]) -> str:
    """What the lines before, or a backward pass, bring about."""
    if "backward" in op or "grad" in op:
        if what.startswith(_INSIDE):
            return "inside PyTorch's backward pass"
        if _is_of_quiet_writes(torch, environment, before, what, details):
            return "changed without recording"
        if what.endswith("shape") and any(re.match(reruns.QUIET_SHAPE, line) for line in before):
            return "a tensor of another shape than before"
        if what.startswith("error") and any("register_post_accumulate_grad_hook" in line for line in before):
            return "a hook without a gradient"
        if what.startswith("error") and "NoneType" in str(details[0]) and any("register_hook" in line for line in before):
            return "a hook without a gradient" if details[1] is None else "two mistakes"
    if "nonfinite" in what and any(_lacks_freedom(environment, line) for line in before):
        return "no degree of freedom"
    if what == _LEAF_WRITE and any(re.search(r"detach_|requires_grad_\(False", x) for x in before):
        return "detached"
    if what.startswith("index put of another dtype") and "torch.uint8" in before[-1]:
        return "a mask of bytes"
    if what.startswith("error: RuntimeError / None") and reruns.passes_when_seen(torch, before):
        return "a view that was not looked at"
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
    if quietly and reruns.finds_nothing(torch, before):
        return "changed without recording"
    if any(".kron(" in x for x in before) and reruns.refuses(torch, before, formulas.kron_by_definition(torch)):
        return "a Kronecker product"
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


def _of_accepted_writes(torch: Any, environment: dict[str, Any], given: list[Any], text: str, what: str) -> str:
    """What is about a write that PyTorch refuses."""
    if what == "a write that would not fit is accepted" and re.search(_PRODUCT_INTO, text):
        return "an output that lies apart" if _fits_together(torch, environment, text) else ""
    if what != "writes to overlapping memory are accepted":
        return ""
    written = [_written(torch, environment, text), *given[1:]]
    return "the same elements" if sum(t.numel() for t in written[:1]) and not any(map(overlaps, written)) else ""


_PRODUCT_INTO = r"\bmatmul\(.*out=(t[\d_]+)\)"


def _fits_together(torch: Any, environment: dict[str, Any], text: str) -> bool:
    """Whether PyTorch takes the output of a product where its elements lie together."""
    name = re.search(_PRODUCT_INTO, text)[1]  # type: ignore[index] # it is there
    together = environment[name].detach().clone(memory_format=torch.contiguous_format)
    apart = not environment[name].is_contiguous()
    try:
        exec(text, {"torch": torch, "np": np, **environment, name: together})
    except RuntimeError:
        return False
    return apart


def _of_errors(torch: Any, environment: dict[str, Any], given: list[Any], text: str, what: str, details: list[Any]) -> str:
    if what == "error: None / IndexError" and "out of bounds" in str(details[1]) and _selects_nothing(torch, environment, text):
        return "nothing is selected"
    if re.search(r"view_as_complex|\.view\(torch\.", text) and any(map(_few, given)):
        return "one element or none"
    if what.startswith("error: None") and "int64_t without overflow" in str(details[1]):
        return "2 ** 63" if any(t.dim() == 0 and float(t) == 2.0**63 for t in given if not t.is_complex()) else ""
    if what.startswith("error: None") and "more than one element of the written-to" in str(details[1]):
        return "out= repeats elements"
    if str(details[0]) == "ZeroDivisionError" and details[1] is None:
        return of_outputs(given, text, "")
    if re.search(_PRODUCT_INTO, text) and "must match the size of tensor b" in str(details[0]) and details[1] is None:
        return "an output that lies apart" if _fits_together(torch, environment, text) else ""
    words = [str(x) for x in details]
    if None not in details and any(re.search(pattern, said) for pattern, said in zip(_FAULTS, words)):
        return "two mistakes"
    return ""
