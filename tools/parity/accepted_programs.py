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
    (r"kron", r"a view inside PyTorch's operator fails", "of transposed matrices; the product exists"),
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
    (r"T|adjoint|mH|conj|bmm|pad|ldexp|angle|median|nanmedian", r"stride", "memory order of a fresh result"),
    (r"mode", r"value(-nonfinite)? \[nan\]", "sorted by <, which nan leaves in disorder"),
    (r"mode", r"error: None / NotImplementedError", "complex numbers have no order, a single one included"),
    (r"median|nanmedian", r"value(-nonfinite)? \[expanded\]", "PyTorch sorts the one element in place and reads beside it"),
    (r"unique", r"(value(-nonfinite)?|shape) \[nan\]", "the order of what is equal to nothing"),
    (r"gcd|lcm", r"value \[the largest integers\]", "the least integer has no absolute value, and multiples overflow"),
    (r"layer_norm|F\.layer_norm", r"value(-nonfinite)? \[rows of equal elements\]", "0; PyTorch leaves the rounding of x - mean"),
    (r"layer_norm|F\.layer_norm", r"value-nonfinite \[squares beyond the dtype\]", "what exceeds the range is no result"),
    (
        r"prod|histc|tanhshrink|ldexp",
        r"value(-nonfinite)? \[half\]",
        "computed in float32 and rounded once; PyTorch rounds each step",
    ),
    (r"conv1d|F\.conv1d", r"shape", "without input channels PyTorch's result has no length"),
    (
        r"sum|max|min|amax|amin|argmax|argmin",
        r"error: None / RuntimeError \[out= repeats elements\]",
        "refused as for every elementwise operator",
    ),
    (r".*", r"value(-nonfinite)? \[bools of other bytes\]", "bool memory with other bytes than 0 and 1"),
    (r".*", r"error: two mistakes", "a statement with two mistakes is refused for one of them"),
]

_FAULTS = (
    r"single memory location|storage that is not resizable|non-zero size|Subtraction|leaf Variable",
    r"could not infer output dtype|shape mismatch: value tensor|multiple times|mask|cast to the desired|no order",
)


def overlaps(t: Any) -> bool:
    """Whether elements of a tensor share a place."""
    return bool(t.numel() > 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride())))


def _few(t: Any) -> bool:
    return t.numel() < 2 or 1 in t.shape


def tensors_of(environment: dict[str, Any], text: str) -> list[Any]:
    return [environment[name] for name in re.findall(r"t\d+(?:_\d)?", text) if name in environment]


def circumstance(torch: Any, environment: dict[str, Any], before: list[str], op: str, what: str, details: list[Any]) -> str:
    """What a statement does (the last of `before`, all up to it) that a row may be about; nothing where there is none."""
    text, given = before[-1], tensors_of(environment, before[-1])
    base = op.removesuffix(" out").removesuffix("_")
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
        if any(".data." in line or ".data[" in line for line in before):
            return ".data was written"
        return "a logical operator in place" if any(re.search(r"\.logical_\w+_\(", line) for line in before) else ""
    return _of_values(torch, given, before, base, what, details)


def _of_errors(torch: Any, given: list[Any], text: str, what: str, details: list[Any]) -> str:
    if re.search(r"view_as_complex|\.view\(torch\.", text) and any(map(_few, given)):
        return "one element or none"
    if "out=" in text and what.startswith("error: None") and given and overlaps(given[-1]):
        return "out= repeats elements"
    words = [str(x) for x in details]
    if None not in details and any(re.search(pattern, said) for pattern, said in zip(_FAULTS, words)):
        return "two mistakes"
    return ""


def _of_values(torch: Any, given: list[Any], before: list[str], base: str, what: str, details: list[Any]) -> str:
    x = details[0]
    if not isinstance(x, torch.Tensor):
        return ""
    inexact = [g.detach() for g in given if g.is_floating_point() or g.is_complex()]
    if what == "value" and not (x.is_floating_point() or x.is_complex()) and any(not torch.isfinite(g).all() for g in inexact):
        return "nan" if base in ("mode", "unique") else "infinite to integer"
    if base in ("mode", "unique") and any(torch.isnan(g).any() for g in inexact):
        return "nan"
    if base in ("median", "nanmedian") and any(0 in g.stride() for g in given):
        return "expanded"
    if base in ("gcd", "lcm"):
        return "the largest integers" if re.search(r"\d{10}|32768|32767|\b12[78]\b|255", " ".join(before)) else ""
    if base.endswith("layer_norm") and inexact and x.dim():
        spread = inexact[0].double().amax(-1) - inexact[0].double().amin(-1)
        if (spread.abs() <= 1e-12).any():
            return "rows of equal elements"
        return "squares beyond the dtype" if inexact[0].double().abs().max() > 1e15 else ""
    if x.dtype in (torch.float16, torch.bfloat16):
        return "half"
    return "bools of other bytes" if any(".view(torch.bool)" in line for line in before) else ""
