"""Differences from PyTorch that random programs may show, each with its reason: what docs/differences.md tells at length.

A row is a pattern of the operator, one of the difference as the fuzzer names it, and why a user of PyTorch would accept it.
`[...]` at a difference's end is what `circumstance` found out about the statement: with it a row holds for that case alone.
"""

from __future__ import annotations

import re
from typing import Any

# By what one side says when it refuses: (0 PyTorch, 1 Tenfold), the words, and the name of the difference.
WORDS = [
    (0, r"does not support automatic differentiation for outputs with complex dtype", "a complex derivative that PyTorch lacks"),
    (0, r"modified by an inplace operation", "a backward pass that does not read what was overwritten"),
    (0, r"INTERNAL ASSERT", "an assertion inside PyTorch fails"),
    (0, r"expected scalar type (Long|Int|Char|Short|Byte) but found", "a product of small integers after a sum in int64"),
    (0, r"Expected isFloatingType\(grad", "the gradient of a real tensor that became complex"),
    (0, r"self.stride\(-1\) must be 1", "a view of the only element along a dimension"),
    (0, r"view size is not compatible with input tensor's size and stride", "a view inside PyTorch's operator fails"),
    (0, r"returned an invalid gradient at index", "a gradient of PyTorch's own has the wrong shape"),
    (0, r"ZeroTensors are immutable", "a zero without memory"),
    (0, r"second time", "a second pass over a graph that keeps nothing"),
    (0, r"derivative for aten::remainder", "a derivative of remainder that PyTorch lacks"),
    (0, r"derivative for 'inplace version of", "a derivative of an in-place form that PyTorch lacks"),
    (0, r"don't support automatic differentiation", "an output of an operator without derivative"),
    (1, r"to type c10::(Half|BFloat16) without overflow", "a number beyond half precision"),
    (1, r"linear: expected all tensors to have the same dtype", "a bias of another dtype"),
    (1, r"are out of bounds for storage of size", "a view beyond a result's memory"),
]

ACCEPTED = [
    (
        r"any operator",
        r"a complex derivative that PyTorch lacks",
        "the formula of the real one holds; PyTorch says it cannot yet",
    ),
    (
        r"any operator",
        r"a backward pass that does not read what was overwritten",
        "the gradient is that of the values before; PyTorch keeps more",
    ),
    (r"any operator", r"an assertion inside PyTorch fails", "PyTorch's own message asks for a report"),
    (
        r"any operator",
        r"a product of small integers after a sum in int64",
        "einsum sums in int64, and PyTorch then multiplies it by what it was",
    ),
    (
        r"any operator",
        r"the gradient of a real tensor that became complex",
        "its real part; PyTorch checks the dtype before it takes that",
    ),
    (r"any operator", r"a view of the only element along a dimension", "the stride of a dimension of size 1 means nothing"),
    (r"any operator|kron", r"a view inside PyTorch's operator fails", "of transposed matrices; the product exists"),
    (
        r"any operator",
        r"a gradient of PyTorch's own has the wrong shape",
        "of a leaf or result whose shape was changed without recording: PyTorch's engine refuses its own gradient",
    ),
    (r"any operator", r"a zero without memory", "PyTorch's derivative of sgn is a zero that cannot be written; here it can"),
    (
        r"any operator",
        r"a second pass over a graph that keeps nothing",
        "nothing was freed that this pass needs, and its gradient is right",
    ),
    (r"any operator", r"a derivative of remainder that PyTorch lacks", "of a number by a tensor; that of two tensors holds"),
    (
        r"any operator",
        r"an output of an operator without derivative",
        "what is overwritten by a constant has no gradient to lose",
    ),
    (
        r"any operator",
        r"a number beyond half precision",
        "PyTorch makes it inf in tensors of one element and refuses it in others",
    ),
    (r"any operator", r"a bias of another dtype", "PyTorch takes it with inputs that lie apart and refuses it with others"),
    (r"any operator", r"a view beyond a result's memory", "PyTorch's result lies in more memory than it has elements"),
    (
        r".*",
        r".* \[inside PyTorch's backward pass\]",
        "a formula of PyTorch's own breaks its rules for users: the call was accepted, its gradient exists",
    ),
    (
        r".*",
        r"(grad )?value(-complex)?(-nonfinite)? \[no degree of freedom\]",
        "a variance of too few numbers is no number; both warn",
    ),
    (
        r".*",
        r"(grad is None|kind of result|error:|shape|requires_grad).* \[changed without recording\]",
        "PyTorch makes the graph of a view anew after its memory was written under no_grad, and loses what was before",
    ),
    (r".*", r"value(-complex)?(-nonfinite)? \[bits of another dtype\]", "the same bits but for the last read as a large number"),
    (r".*", r"value \[rounding of a sum\]", "within the rounding of float32 of the terms' sizes"),
    (
        r".*",
        r"value(-nonfinite)? \[an output that is read\]",
        "a part of the output is an argument: what is read after it was written",
    ),
    (r".*", r"stride \[an order that was open\]", "follows from an argument whose order or whose dimensions of size 1 differ"),
    (r".*", r"version after write \[detached\]", "detach_ of what has views: PyTorch's steps write again"),
    (
        r".*",
        r"index put of another dtype is accepted \[a mask of bytes\]",
        "deprecated masks of uint8 are masks as bools are, which convert the number that they write",
    ),
    (
        r"any operator|.*",
        r"a backward that PyTorch allows is refused: graph freed \[all of a tensor was written\]",
        "PyTorch writes the tensor itself where a slice is all of it; retain_graph=True says what is meant",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value(-nonfinite)? \[half\]",
        "each step of a backward pass rounds to half precision",
    ),
    (
        r"autograd\.grad.*|backward.*",
        r"(grad )?value \[ldexp of integers\]",
        "PyTorch multiplies by 2**n of integers, 0 for n < 0",
    ),
    (r"any operator", r"a derivative of an in-place form that PyTorch lacks", "that of the other form"),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value-complex-nonfinite",
        "at a pole: how inf and nan share out to the parts of a complex number is not defined",
    ),
    (r"tril|triu", r"value \[an output that lies apart\]", "PyTorch writes beside outputs that are not contiguous"),
    (r"sgn", r"value-complex-nonfinite", "the direction of an infinite number; PyTorch divides inf by inf"),
    (r"\*\*|pow", r"value-complex-nonfinite", "x ** 0 is 1, as of real numbers"),
    (r"\*\*|pow", r"stride", "powers of integers, memory order of a fresh result"),
    (
        r"remainder",
        r"value-nonfinite \[the smallest numbers\]",
        "1 / x overflows in PyTorch's vectors and not in its other loops",
    ),
    (
        r"matmul|mm|bmm|addmm|baddbmm|mv|sum|mean",
        r"value(-nonfinite)? \[squares beyond the dtype\]",
        "what exceeds the range depends on the order",
    ),
    (
        r"einsum",
        r"dtype (bool|u?int\d+) / int64",
        "sums of small integers are int64; PyTorch's are not along one element or none",
    ),
    (r"floor_divide", r"requires_grad True / False", "a constant; PyTorch's has a node that refuses to be differentiated"),
    (
        r"inner|tensordot|matmul",
        r"error: None / NotImplementedError",
        "PyTorch multiplies bools with some strides and refuses the others",
    ),
    (r"(F\.)?conv1d", r"value-nonfinite", "infinite weights times the zeros of the padding are nan, or passed over, by the size"),
    (
        r".*",
        r"writes to overlapping memory are accepted \[the same elements\]",
        "what is read where it is written depends on no order",
    ),
    (r".*", r".* \[memory that overlaps itself was written\]", "which of several writes to one place is the last is not defined"),
    (r".*", r".* \[\.data was written\]", "behind the tape's back: what a gradient is then depends on what was kept"),
    (
        r".*",
        r"(grad )?value(-nonfinite)? \[a logical operator in place\]",
        "PyTorch passes the gradient of what was overwritten; it is zero",
    ),
    (
        r".*",
        r"value \[infinite to integer\]",
        "C does not define inf and nan as integers; PyTorch's differ by the width of the vector",
    ),
    (
        r".*",
        r"requires_grad True / False \[of integers\]",
        "PyTorch marks integers as requiring gradients, which integers never have",
    ),
    (r".*", r"requires_grad True / False \[a comparison in place\]", "a truth value is a constant"),
    (r"requires_grad", r"requires_grad True / False", "of a view that was written before its base required gradients"),
    (
        r"fuzzer",
        r"TypeError: Got unsupported ScalarType ComplexHalf",
        "NumPy, by which PyTorch's tensors are read, has no complex32",
    ),
    (r"autograd\.grad.*", r"stride", "a gradient that is the same everywhere is one number, expanded"),
    (
        r"autograd\.grad.*|backward create",
        r"(grad )?(requires_grad (True / False|False / True)|stride)",
        "whether a constant derivative has a graph behind it",
    ),
    (
        r"stride\(\)|storage_offset\(\)",
        r"python value \[one element or none\]",
        "what does not lie beside anything has no distance",
    ),
    (r"as_strided", r".* \[one element or none\]", "where nothing begins is not defined, nor what lies beside it"),
    (r"view_as_complex|view dtype", r"error: .* \[one element or none\]", "strides of dimensions of size 1 mean nothing"),
    (r"matmul|inner|dot|mv", r"version after write", "how often PyTorch's own steps write out="),
    (r"T|adjoint|mH|conj|bmm|pad|ldexp|angle|median|nanmedian|stack|conv1d", r"stride", "memory order of a fresh result"),
    (r"mode", r"value(-nonfinite)? \[nan\]", "sorted by <, which nan leaves in disorder"),
    (r"mode", r"error: None / NotImplementedError", "complex numbers have no order, a single one included"),
    (r"median|nanmedian", r"value(-nonfinite)? \[expanded\]", "PyTorch sorts the one element in place and reads beside it"),
    (r"unique", r"(value(-nonfinite)?|shape) \[nan\]", "the order of what is equal to nothing"),
    (r"gcd|lcm", r"value \[the largest integers\]", "the least integer has no absolute value, and multiples overflow"),
    (r"(F\.)?(layer|batch)_norm", r"value(-nonfinite)? \[rows of equal elements\]", "0; PyTorch leaves the rounding of x - mean"),
    (r"layer_norm|F\.layer_norm", r"value-nonfinite \[squares beyond the dtype\]", "what exceeds the range is no result"),
    (
        r"prod|histc|tanhshrink|ldexp|cumprod",
        r"value(-nonfinite)? \[half\]",
        "computed in float32 and rounded once; PyTorch rounds each step",
    ),
    (r"conv1d|F\.conv1d", r"shape( \[half\])?", "without input channels PyTorch's result has no length"),
    (
        r".*",
        r"error: None / RuntimeError \[out= repeats elements\]",
        "refused as for every elementwise operator: which of several writes to a place is the last is not defined",
    ),
    (r".*", r"value(-nonfinite)? \[bools of other bytes\]", "bool memory with other bytes than 0 and 1"),
    (r".*", r"error: two mistakes", "a statement with two mistakes is refused for one of them"),
]

_FAULTS = (
    (
        r"must be non-empty|slice step|Dimension out of range|same scalar type|indexing tensors could not|"
        r"single memory location|storage that is not resizable|non-zero size|Subtraction|leaf Variable"
    ),
    r"could not infer output dtype|shape mismatch: value tensor|multiple times|mask|cast to the desired|no order",
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


def tensors_of(environment: dict[str, Any], text: str) -> list[Any]:
    return [environment[name] for name in re.findall(r"t\d+(?:_\d)?", text) if name in environment]


def circumstance(torch: Any, environment: dict[str, Any], before: list[str], op: str, what: str, details: list[Any]) -> str:
    """What a statement does (the last of `before`, all up to it) that a row may be about; nothing where there is none."""
    text, given = before[-1], tensors_of(environment, before[-1])
    base = op.removesuffix(" out").removesuffix("_")
    found = _of_history(given, before, op, what)
    if found:
        return found
    if what.startswith("error"):
        return _of_errors(torch, given, text, what, details)
    if what == "writes to overlapping memory are accepted":
        return "the same elements" if sum(t.numel() for t in given[:1]) and not any(map(overlaps, given)) else ""
    if what == "python value":
        return "one element or none" if any(map(_few, given)) else ""
    if base == "as_strided":
        return "one element or none" if any(map(_few, given)) else ""
    if what.startswith("requires_grad True / False") and isinstance(details[0], torch.Tensor):
        if not (details[0].is_floating_point() or details[0].is_complex()):
            return "of integers"
        return "a comparison in place" if re.search(r"\.(eq|ne|lt|le|gt|ge|logical_\w+)_\(", text) else ""
    if not re.match(r"(grad )?(value|shape)", what):
        return ""
    if "backward" in op or "grad" in op:
        return _of_gradients(before, what)
    return _of_values(torch, given, before, base, what, details)


def _of_gradients(before: list[str], what: str) -> str:
    if any(re.search(r"\bldexp", line) for line in before) and what.endswith("value"):
        return "ldexp of integers"
    if any(".data." in line or ".data[" in line for line in before):
        return ".data was written"
    if any(re.search(r"\.logical_\w+_\(", line) for line in before):
        return "a logical operator in place"
    return "half" if any("float16" in line for line in before) else ""


_INSIDE = ("writes to overlapping memory", "subtraction of bools", "a write that would not fit", "in-place rules of views")
_QUIET_WRITE = r"with torch\.no_grad\(\): (t[\d_]+(\.\w+_\(|\[.*\] = | [-+*/%|&^<>]+= )|torch\..*out=)"
_OPEN_ORDER = r"torch\.tensor\(\[.*\]\)?\.reshape|where\(|unfold|np\.array|unsqueeze|expand|select|squeeze"


def _of_history(given: list[Any], before: list[str], op: str, what: str) -> str:
    """What the lines before, or a backward pass, bring about."""
    if "backward" in op or "grad" in op:
        if what.startswith(_INSIDE):
            return "inside PyTorch's backward pass"
        if re.match(r"grad is None|kind of result|error|shape", what) and any(re.match(_QUIET_WRITE, line) for line in before):
            return "changed without recording"
    if "nonfinite" in what and any(re.search(r"\b(var|std)(_mean)?\(", line) for line in before):
        return "no degree of freedom"
    if what == "stride" and (any(map(_few, given)) or any(re.search(_OPEN_ORDER, line) for line in before)):
        return "an order that was open"
    if what == "version after write" and any("detach_" in line for line in before):
        return "detached"
    if what.startswith("index put of another dtype") and "torch.uint8" in before[-1]:
        return "a mask of bytes"
    if what.endswith("graph freed") and any(
        re.search(r"\[(\.\.\.|:|slice\(torch.tensor\(0\), None\)|0?:)\] = ", x) for x in before
    ):
        return "all of a tensor was written"
    return ""


def _of_errors(torch: Any, given: list[Any], text: str, what: str, details: list[Any]) -> str:
    if re.search(r"view_as_complex|\.view\(torch\.", text) and any(map(_few, given)):
        return "one element or none"
    if what.startswith("error: None") and "single memory location" in str(details[1]):
        return "out= repeats elements"
    words = [str(x) for x in details]
    if None not in details and any(re.search(pattern, said) for pattern, said in zip(_FAULTS, words)):
        return "two mistakes"
    return ""


def _of_outputs(given: list[Any], text: str, base: str) -> str:
    """Outputs that are arguments as well, or lie apart."""
    if "out=" in text and len(given) > 1 and any(_shares(g, given[-1]) for g in given[:-1]):
        return "an output that is read"
    if "_(" in text and any(_shares(g, given[0]) and g.shape != given[0].shape for g in given[1:]):
        return "an output that is read"
    if base in ("tril", "triu") and "out=" in text and not given[-1].is_contiguous():
        return "an output that lies apart"
    return ""


def _of_sums(torch: Any, base: str, inexact: list[Any], details: list[Any]) -> str:
    """Sums whose terms cancel or overflow, and quotients that do."""
    if base in ("sum", "mean", "nansum", "nanmean") and inexact and details[0].dtype is torch.float32:
        theirs, ours = details[0].detach().double(), torch.tensor(details[1].tolist(), dtype=torch.float64)
        if (theirs - ours).abs().max() <= 1e-6 * inexact[0].double().abs().nan_to_num(0, 0, 0).sum():
            return "rounding of a sum"
    if base == "remainder" and any(((g != 0) & (g.abs() < 1e-37)).any() for g in inexact if g.is_floating_point()):
        return "the smallest numbers"
    if re.search(r"matmul|mm|mv|sum|mean", base) and any(g.nan_to_num(0, 0, 0).abs().max() > 1e37 for g in inexact if g.numel()):
        return "squares beyond the dtype"
    return ""


def _of_values(torch: Any, given: list[Any], before: list[str], base: str, what: str, details: list[Any]) -> str:
    x = details[0]
    if not isinstance(x, torch.Tensor):
        return ""
    if any(re.search(r"\.view\((dtype=)?torch\.", line) for line in before) and base not in ("mode", "unique"):
        return "bools of other bytes" if ".view(torch.bool)" in " ".join(before) else "bits of another dtype"
    found = _of_outputs(given, before[-1], base)
    if found:
        return found
    inexact = [g.detach() for g in given if g.is_floating_point() or g.is_complex()]
    if what == "value" and not (x.is_floating_point() or x.is_complex()) and any(not torch.isfinite(g).all() for g in inexact):
        return "nan" if base in ("mode", "unique") else "infinite to integer"
    if base in ("mode", "unique") and any(torch.isnan(g).any() for g in inexact):
        return "nan"
    if base in ("median", "nanmedian") and any(0 in g.stride() for g in given):
        return "expanded"
    if base in ("gcd", "lcm"):
        return "the largest integers" if re.search(r"\d{10}|32768|32767|\b12[78]\b|255", " ".join(before)) else ""
    found = _of_sums(torch, base, inexact, details)
    if found:
        return found
    if base.endswith("batch_norm") and inexact and x.dim() > 1:
        inexact = [inexact[0].transpose(0, 1).flatten(1)]
    if base.endswith(("layer_norm", "batch_norm")) and inexact and x.dim():
        spread = inexact[0].double().amax(-1) - inexact[0].double().amin(-1)
        if (spread.abs() <= 1e-12).any():
            return "rows of equal elements"
        return "squares beyond the dtype" if inexact[0].double().abs().max() > 1e15 else ""
    return "half" if any(v.dtype in (torch.float16, torch.bfloat16) for v in (x, *given)) else ""
