"""Histograms of one and more dimensions, and derivatives of sampled functions by differences."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan
from typing import Any

from tenfold import return_types
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite, op, primitive
from tenfold.dispatch.spellings import as_dims
from tenfold.scientific.ops.outs import outs_like_input
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import type_name


@primitive("histograms", accepts="floating", out="same", nondifferentiable="its result is a count")
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Counts in bins of equal width between min and max (those of the data when both are equal).

    >>> import tenfold
    >>> tenfold.histc(tenfold.tensor([1.0, 2.0, 1.0]), 4, 0, 3)
    tensor([0., 2., 1., 0.])
    """


@histc.rule
def _(input: Any, bins: int, min: Any, max: Any) -> Meta:
    if bins <= 0:
        raise RuntimeError("bins must be > 0")
    if min > max:
        raise RuntimeError(f"histc: max must be larger than min, got min={min}, max={max}")
    return Meta((bins,), input.dtype)


@composite("histograms", out="same")
def histogram(input: Tensor, bins: Any = 100, *, range: Any = None, weight: Tensor | None = None, density: bool = False) -> Any:
    """Counts (or sums of weights) in bins of equal width, or between given edges, and the edges.

    `density`: over the bin's width and the sum of all, an estimate of a density. What lies outside counts nowhere; a bin
    has its left edge, the last one both. Shape: (*) -> (bins,), (bins + 1,). Not differentiable.

    >>> import tenfold
    >>> tenfold.histogram(tenfold.tensor([1.0, 2.0, 1.0]), 4, range=(0.0, 3.0), weight=tenfold.tensor([1.0, 2.0, 4.0])).hist
    tensor([0., 5., 2., 0.])
    """
    if isinstance(bins, Tensor) and range is not None:
        raise TypeError(
            "histogram() received an invalid combination of arguments - got bins as a tensor of edges and range; a range is for "
            "a number of bins"
        )
    rows = input.detach().reshape(-1, 1)
    _check_weight(input, rows.shape, input.shape, weight)
    edges = _edges("histogram", rows, [bins], range)
    counts = _counts(rows, edges, None if weight is None else weight.detach().reshape(-1), density)
    return return_types.histogram(counts, edges[0])


_OUT = "torch.histogram: input tensor and {0} tensor should have the same dtype, but got input {{c_wanted}} and {0} {{c_given}}"
histogram.overload(outs_like_input(_OUT.format("hist"), _OUT.format("bin_edges") + " for dimension 0"))


@composite("histograms", method=None)
def histogramdd(input: Tensor, bins: Any, range: Any = None, weight: Tensor | None = None, density: bool = False) -> Any:
    """Counts (or sums of weights) of points in boxes, and the edges along each dimension.

    `bins`: a number for all dimensions, one for each, or edges for each; `range`: lowest and highest edge of each
    dimension, one after the other. Shape: (*, D) -> (bins of dimension 1, ..., bins of dimension D).

    >>> import tenfold
    >>> tenfold.histogramdd(tenfold.tensor([[0.0, 1.0], [1.0, 1.0], [1.0, 0.9]]), 2).hist
    tensor([[0., 1.],
            [1., 1.]])
    """
    if input.dim() < 2:
        raise RuntimeError(f"torch.histogramdd: input tensor should have at least 2 dimensions, but got {input.dim()}")
    D = input.shape[-1]
    _check_weight(input, input.shape, input.shape[:-1], weight)
    given = list(bins) if isinstance(bins, Sequence) else [bins] * D
    if len(given) != D:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    if not D:  # points of no dimension, which PyTorch does not count: a density is over their sum
        count = op.full((), nan if density else 0.0, dtype=input.dtype, device=input.device)
        return return_types.histogramdd(count, ())
    rows = input.detach().reshape(-1, D)
    edges = _edges("histogramdd", rows, given, range)
    counts = _counts(rows, edges, None if weight is None else weight.detach().reshape(-1), density)
    return return_types.histogramdd(counts, tuple(edges))


def _check_weight(input: Tensor, points: Any, wanted: Any, weight: Tensor | None) -> None:
    if weight is None:
        return
    if weight.shape != wanted:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its "
            f"innermost dimension, but got input with shape {list(points)} and weight with shape {list(weight.shape)}"
        )
    if weight.dtype is not input.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got "
            f"input({input.dtype.name}), and weight({weight.dtype.name})"
        )


def _check_edges(rows: Any, given: Tensor, d: int) -> None:
    if given.dtype is not rows.dtype:
        raise RuntimeError(
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
            f"{rows.dtype.name} and bins for dimension {d} with dtype {given.dtype.name}"
        )
    if given.dim() != 1:
        raise RuntimeError(
            f"torch.histogramdd: bins tensor should have one dimension, but got {given.dim()} dimensions in the bins tensor for "
            f"dimension {d}"
        )
    if not given.numel():
        raise RuntimeError(
            "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins tensor for dimension "
            f"{d}"
        )


def _edges(name: str, rows: Any, bins: list[Any], range: Any) -> list[Any]:
    """The edges along each dimension, those that are given or equally far apart."""
    if not rows.dtype.is_floating_point:
        raise NotImplementedError(f"\"{name}\" not implemented for '{type_name(rows.dtype).removesuffix('Tensor')}'")
    if range is not None and len(range) != 2 * len(bins):
        raise RuntimeError(f"torch.{name}: for a {len(bins)}-dimensional histogram range should have {2 * len(bins)} elements")
    edges = []
    for d, count in enumerate(bins):
        if isinstance(count, Tensor):
            _check_edges(rows, count, d)
            edges.append(count)
            continue
        if count <= 0:
            raise RuntimeError(f"torch.{name}(): bins must be > 0, but got {count} for dimension {d}")
        low, high = _ends(rows.select(1, d), d, None if range is None else range[2 * d : 2 * d + 2])
        edges.append(op.linspace(low, high, count + 1, dtype=rows.dtype, device=rows.device))
    return edges


def _ends(values: Any, d: int, range: Any) -> tuple[float, float]:
    if range is not None:
        low, high = float(range[0]), float(range[1])
    else:
        low, high = (values.min().item(), values.max().item()) if values.numel() else (0.0, 1.0)
    if not (isfinite(low) and isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension {d}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {d}")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _counts(rows: Any, edges: list[Any], weight: Any, density: bool) -> Any:
    """Sums of weights in each box."""
    sizes = [len(e) - 1 for e in edges]
    inside, place = op.ones(len(rows), dtype=(rows == rows).dtype, device=rows.device), 0
    for d, edge in enumerate(edges):
        values = rows.select(1, d).contiguous()
        bin = op.searchsorted(edge.contiguous(), values.contiguous(), right=True) - 1
        bin = op.where(values == edge[-1], sizes[d] - 1, bin)
        # Edges that do not rise are searched like others; what counts lies between the first and the last.
        inside = inside & (values >= edge[0]) & (values <= edge[-1]) & (bin >= 0) & (bin < sizes[d])
        place = place * sizes[d] + bin
    total = 1
    for size in sizes:
        total *= size
    one = op.ones_like(rows.select(1, 0)) if weight is None else weight.to(rows.dtype)
    counts = op.zeros(total, dtype=rows.dtype, device=rows.device).index_add(
        0, op.where(inside, place, 0), op.where(inside, one, 0.0)
    )
    counts = counts.reshape(sizes)
    return _as_density(counts, edges) if density else counts


def _as_density(counts: Any, edges: list[Any]) -> Any:
    counts = counts / counts.sum()
    for d, edge in enumerate(edges):
        counts = counts / edge.diff().reshape([-1 if i == d else 1 for i in range(len(edges))])
    return counts


@composite("histograms", method=None)
def gradient(input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> Any:
    """The derivative along each dimension of a function given at points: second order of accuracy inside.

    `spacing`: the distance of points, one for each dimension, or for each a tensor of coordinates; `edge_order` 1 or 2 is
    the accuracy at both ends. Shape: (*) -> as many tensors of the same shape as there are dimensions.
    Source: Fornberg, Generation of Finite Difference Formulas on Arbitrarily Spaced Grids (1988).

    >>> import tenfold
    >>> tenfold.gradient(tenfold.tensor([1.0, 4.0, 9.0, 16.0]))[0]
    tensor([3., 4., 6., 7.])
    """
    dims = _dims(input, dim)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if input.dtype.name == "uint8":
        raise RuntimeError("torch.gradient does not support uint8 input, whose differences wrap around; convert it")
    steps = _spacing(input, spacing, dims, dim is not None)
    for d in dims:
        if input.dim() and input.shape[d] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple([_along(input, d, step, edge_order) for d, step in zip(dims, steps)])


def _dims(input: Any, dim: Any) -> list[int]:
    n = input.dim()
    found: list[int] = []
    given = range(n) if dim is None else as_dims(dim, "gradient", "dim")
    for d in [given] if isinstance(given, int) else given:
        if not -n <= d < n:
            raise IndexError(f"gradient: Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
        if d % n in found:
            raise RuntimeError(f"gradient: dim {d % n} appears multiple times in the list of dims")
        found.append(d % n)
    return found


def _spacing(input: Any, spacing: Any, dims: list[int], chosen: bool) -> Any:
    """A number or a tensor of coordinates for each dimension."""
    if isinstance(spacing, Tensor) and not spacing.dim():
        spacing = spacing.item()
    if spacing is None or isinstance(spacing, (int, float, complex)):
        return [1 if spacing is None else spacing] * len(dims)
    if isinstance(spacing, Tensor):
        spacing = [spacing]
    if len(spacing) != len(dims):
        expected = f"'dim' argument {len(dims)}" if chosen else f"'self.dim() = {len(dims)}'"
        why = "" if chosen else ", since dim argument was not given"
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
            f"{expected}{why}, but got a list of length {len(spacing)}"
        )
    for d, step in zip(dims, spacing):
        if isinstance(step, Tensor) and (step.dim() != 1 or len(step) != input.shape[d]):
            raise RuntimeError(
                "torch.gradient expected each spacing tensor to have 1 dimension of the size along which it is taken, "
                f"{input.shape[d]}, but got {list(step.shape)}"
            )
    return spacing


def _along(input: Any, d: int, step: Any, edge_order: int) -> Any:
    n = input.shape[d]
    widths: Any = None
    if isinstance(step, Tensor):
        widths = step.diff().reshape([-1 if i == d else 1 for i in range(input.dim())])

    def at(first: int, count: int = 1) -> Any:
        return input.narrow(d, first, count)

    def width(first: int, count: int = 1) -> Any:
        return step if widths is None else widths.narrow(d, first, count)

    parts = [_left(at, width, edge_order)]
    if n > 2:
        before, after = width(0, n - 2), width(1, n - 2)
        if widths is None:
            parts.append((at(2, n - 2) - at(0, n - 2)) / (2 * step))
        else:
            rising, falling = after * after, before * before
            inner = falling * at(2, n - 2) + (rising - falling) * at(1, n - 2) - rising * at(0, n - 2)
            parts.append(inner / (before * after * (before + after)))
    parts.append(_right(at, width, edge_order, n))
    return op.cat(parts, d)


def _left(at: Any, width: Any, order: int) -> Any:
    if order == 1:
        return (at(1) - at(0)) / width(0)
    a, b = width(0), width(1)
    return -(2 * a + b) / (a * (a + b)) * at(0) + (a + b) / (a * b) * at(1) - a / (b * (a + b)) * at(2)


def _right(at: Any, width: Any, order: int, n: int) -> Any:
    if order == 1:
        return (at(n - 1) - at(n - 2)) / width(n - 2)
    a, b = width(n - 3), width(n - 2)
    return b / (a * (a + b)) * at(n - 3) - (a + b) / (a * b) * at(n - 2) + (2 * b + a) / (b * (a + b)) * at(n - 1)
