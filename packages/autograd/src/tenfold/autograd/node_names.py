"""What PyTorch calls the nodes of operators whose name here is not its own: programs print them, and look for them.

Most names follow from the operator's: `log_softmax` makes LogSoftmaxBackward0. The tables have the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tenfold.tensor.tensor import Tensor

# Operators that stand for one form of PyTorch's: with a dimension, of values and indices, of a factor and its state.
NAMES = {
    "cholesky_pair": "LinalgCholeskyEx",
    "constant_pad": "ConstantPadNd",
    "cummax_pair": "Cummax",
    "cummin_pair": "Cummin",
    "determinant": "LinalgDet",
    "eig_pair": "LinalgEig",
    "eigh_pair": "LinalgEigh",
    "fused_lstm": "MkldnnRnnLayer",
    "inverse_pair": "LinalgInvEx",
    "kthvalue_pair": "Kthvalue",
    "max_dim": "Max",
    "median_value": "Median",
    "min_dim": "Min",
    "mode_pair": "Mode",
    "nanmedian_value": "Nanmedian",
    "qr_pair": "LinalgQr",
    "scatter_set": "Scatter",
    "solve_pair": "LinalgSolveEx",
    "sort_pair": "Sort",
    "svd_triple": "LinalgSvd",
    "topk_pair": "Topk",
    "vector_norm": "LinalgVectorNorm",
}
SECOND_FORMS = {"median_dim": "MedianBackward1", "nanmedian_dim": "NanmedianBackward1"}


def _of_places(stem: str, least: int) -> Callable[[Any], str]:
    """Numbered by the dimensions that a window slides over, of which PyTorch's own have at least `least`."""

    def label(node: Any) -> str:
        shape = node._shape[0] if node.is_multiple else node._shape
        return f"{stem}{max(least, len(getattr(node, 's_kernel_size', shape[2:])))}DBackward0"

    return label


def _power(node: Any) -> str:
    """Numbered by which of the two is a number."""
    of_numbers = [_is_number(getattr(node, name, None)) for name in ("s_input", "s_exponent")]
    return f"PowBackward{2 if of_numbers[0] else 0 if of_numbers[1] else 1}"


def _is_number(value: Any) -> bool:
    """Whether it is a number, or what one becomes beside a tensor of half precision, where it is rounded."""
    return isinstance(value, int | float | complex) or (isinstance(value, Tensor) and value.dtype.is_half and not value.dim())


def _resampled(node: Any) -> str:
    """By what is done between the places; linearly in two dimensions is bilinear."""
    places = len(node._shape) - 2
    by = {"nearest": "Nearest", "nearest-exact": "NearestExact", "cubic": "Bicubic", "lanczos": "Lanczos"}.get(node.s_mode)
    return f"Upsample{by or ('Linear', 'Bilinear', 'Trilinear')[places - 1]}{places}DBackward0"


# Those whose name depends on the call.
_FORMS: dict[str, Callable[[Any], str]] = {
    "adaptive_avg_pool": _of_places("AdaptiveAvgPool", 2),
    "adaptive_max_pool": _of_places("AdaptiveMaxPool", 2),
    "avg_pool": _of_places("AvgPool", 2),
    "lerp": lambda node: f"LerpBackward{int(not isinstance(node.s_weight, int | float | complex))}",
    "pow": _power,
    "prod": lambda node: f"ProdBackward{int(node.s_dim is not None)}",
    "resample": _resampled,
}


def node_name(operator: str) -> str:
    """PyTorch's name of an operator's node.

    >>> node_name("log_softmax"), node_name("max_dim"), node_name("im2col")
    ('LogSoftmaxBackward0', 'MaxBackward0', 'Im2ColBackward0')
    """
    if operator in SECOND_FORMS:
        return SECOND_FORMS[operator]
    words = "".join(part[:1].upper() + part[1:] for part in operator.split("_"))
    return NAMES.get(operator, re.sub(r"\d[a-z]", lambda found: found[0].upper(), words)) + "Backward0"


def node_label(operator: str) -> Callable[[Any], str] | None:
    """What names an operator's nodes where that depends on the call."""
    return _FORMS.get(operator)


def missing_name(operator: str, arguments: Any) -> str:
    """The name of nodes of an operator without a derivative: in PyTorch some have one of their own that refuses."""
    if operator != "unique_parts":
        return "NotImplemented"
    _, dim, consecutive = arguments
    return f"Unique{'Consecutive' if consecutive else '2' if dim is None else 'Dim'}Backward0"
