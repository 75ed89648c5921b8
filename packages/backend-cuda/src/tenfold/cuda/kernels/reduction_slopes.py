"""Gradients of reductions: one launch for what is made of an element, beside those that count or average first."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod
from typing import Any

from tenfold.cuda.kernels.elementwise import TYPE_OF, run
from tenfold.cuda.kernels.folds import Fold, folded
from tenfold.cuda.kernels.function_slopes import norm_slope
from tenfold.cuda.kernels.together import offer, unseen
from tenfold.dispatch.shape_rules import wrap_dims
from tenfold.ops.reduction.statistics import spread_arguments


def _restored(array: Any, ndim: int, dims: tuple[int, ...]) -> Any:
    """What a reduction gave, with the dimensions back, of size 1, that it has left out."""
    return array[tuple([None if d in dims else slice(None) for d in range(ndim)])]


def _served(grad: Any, input: Any, *others: Any) -> bool:
    return bool(
        input.size and grad.dtype.kind in "fV" and input.dtype in TYPE_OF and all(x.dtype == grad.dtype for x in (input, *others))
    )


def _spread(grad: Any, input: Any, dims: tuple[int, ...], gone: tuple[int, ...], scale: float, *out: Any) -> Any:
    """Of a variance; of a deviation, which is given, too."""
    if not _served(grad, input, *out):
        return NotImplemented
    count = prod(input.shape[d] for d in dims)
    mean = folded(Fold("sum", end="mean"), input, dims, True, count)
    if mean is None:
        return NotImplemented
    g, *deviation = (_restored(x, input.ndim, gone) for x in (grad, *out))
    return (run("deviation_slope" if out else "variance_slope", input, g, mean, *deviation, scale),)


def _extreme(grad: Any, input: Any, out: Any, dims: tuple[int, ...], gone: tuple[int, ...], name: str, *size: Any) -> Any:
    """In equal parts to all elements that attain it; of `norm`, their size."""
    if not _served(grad, input, out):
        return NotImplemented
    g, out = (_restored(x, input.ndim, gone) for x in (grad, out))
    attained = run(f"{name}_attained", input, out)
    count = folded(
        Fold("sum", "other than 0", result="float64" if grad.dtype.name == "float64" else "float32"), attained, dims, True
    )
    return NotImplemented if count is None else (run(f"{name}_slope", input, g, out, count),)


def _of_others(grad: Any, input: Any, dims: tuple[int, ...], gone: tuple[int, ...]) -> Any:
    """Of a product: that of all other elements, 0 where one of them is, and nan where one is infinite besides."""
    if not _served(grad, input):
        return NotImplemented
    wide = "float64" if grad.dtype.name == "float64" else "float32"
    product = folded(Fold("product", "1 for 0", result=wide), input, dims, True)
    zeros = folded(Fold("sum", "zeros and no numbers", result="float64"), input, dims, True)
    if product is None or zeros is None:
        return NotImplemented
    return (run("product_slope", input, _restored(grad, input.ndim, gone), product, zeros),)


def _elementwise(grad: Any, input: Any, out: Any, gone: tuple[int, ...], name: str, *numbers: float) -> Any:
    if not _served(grad, input, out):
        return NotImplemented
    return (run(name, input, *(_restored(x, input.ndim, gone) for x in (grad, out)), *numbers),)


_run_spread, _run_extreme, _run_elementwise = unseen(_spread), unseen(_extreme), unseen(_elementwise)
_run_of_others = unseen(_of_others)
Dims = tuple[tuple[int, ...], tuple[int, ...]]


def _dims(input: Any, dim: Any, keepdim: bool) -> Dims:
    """(the dimensions that are reduced, those of them that the result lacks)."""
    dims = wrap_dims(dim, input.dim())
    return dims, () if keepdim else dims


def _of_spread(with_result: bool) -> Callable[..., Any]:
    def gradients(
        g: Any, parameters: Any, wanted: Any, input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any, out: Any = None
    ) -> Any:
        if not input.dim():
            return None
        dim, correction = spread_arguments(dim, unbiased, correction)
        dims, gone = _dims(input, dim, keepdim)
        freedom = prod(input.shape[d] for d in dims) - correction
        if freedom <= 0:
            return None
        return _run_spread(g, input, dims, gone, 2.0 / freedom, *((out,) if with_result else ()))

    return gradients


def _of_extremes(g: Any, parameters: Any, wanted: Any, input: Any, out: Any, dim: Any, keepdim: bool) -> Any:
    if not input.dim():
        return None
    dims, gone = _dims(input, dim, keepdim)  # of `max` and `min`, to which dim is None, nan attains nan
    return _run_extreme(g, input, out, dims, gone, "whole_extreme" if dim is None else "extreme")


def _of_products(g: Any, parameters: Any, wanted: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    return _run_of_others(g, input, *_dims(input, dim, keepdim)) if input.dim() else None


def _of_exponentials(g: Any, parameters: Any, wanted: Any, input: Any, out: Any, dim: Any, keepdim: bool) -> Any:
    return _run_elementwise(g, input, out, _dims(input, dim, keepdim)[1], "logsumexp_slope")


def _of_norms(g: Any, parameters: Any, wanted: Any, input: Any, out: Any, ord: Any, dim: Any, keepdim: bool) -> Any:
    if ord == 0 or not input.dim() or type(ord) not in (int, float):
        return None
    dims, gone = _dims(input, dim, keepdim)
    if ord in (inf, -inf):
        return _run_extreme(g, input, out, dims, gone, "norm_extreme")
    name, numbers = norm_slope(float(ord))
    return _run_elementwise(g, input, out, gone, name, *numbers)


_RULES: dict[str, Callable[..., Any]] = {
    "var": _of_spread(False), "std": _of_spread(True), "amax": _of_extremes, "amin": _of_extremes,
    "logsumexp": _of_exponentials, "vector_norm": _of_norms, "prod": _of_products,
}  # fmt: skip
for _name, _gradients in _RULES.items():
    offer(_name, _gradients)
