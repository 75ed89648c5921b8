"""The text of a tensor: PyTorch's layout of numbers, brackets and suffixes, as pure functions of NumPy arrays.

Every number of one array is given the same form. The form is decided from the finite, non-zero values: whole numbers
are printed as ``1.``, others with a fixed number of decimals, and both in scientific notation where the range would
make a column unreadable. A large array is first reduced to its edges, so that printing costs the same at every size.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tenfold.tensor.tensor import Tensor, host
from tenfold.types import qualified
from tenfold.types.dtypes import get_default_dtype
from tenfold.types.narrow import widened

Array = NDArray[np.generic]
Formatter = Callable[[object], str]

WIDEST_RATIO = 1000.0  # largest over smallest magnitude that a fixed number of decimals can still show
LARGEST_FIXED = 1.0e8
SMALLEST_FIXED = 1.0e-4


@dataclasses.dataclass
class PrinterOptions:
    """How tensors are printed: digits after the point, when to summarise, what to keep, and the width of a line.

    >>> PrinterOptions().linewidth
    80
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES = {
    "default": PrinterOptions(),
    "short": PrinterOptions(precision=2, edgeitems=2),
    "full": PrinterOptions(threshold=math.inf),
}
_options = PrinterOptions()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed; what is not given stays, except ``sci_mode``, which returns to automatic.

    ``profile`` is "default", "short" or "full" and is applied before the other values; another name changes nothing.

    >>> set_printoptions(precision=2)
    >>> format_array(np.array([0.125, 1.5]), indent=0)
    '[0.12, 1.50]'
    >>> set_printoptions(profile="default")
    """
    base = PROFILES.get(profile, _options) if profile is not None else _options
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    values = dataclasses.asdict(base) | {name: value for name, value in given.items() if value is not None}
    _assign(values | {"sci_mode": sci_mode})


def get_printoptions() -> dict[str, float | bool | None]:
    """The current options, by the names that `set_printoptions` takes.

    >>> get_printoptions()["edgeitems"]
    3
    """
    return dataclasses.asdict(_options)


@contextlib.contextmanager
def printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> Iterator[None]:
    """`set_printoptions` inside a ``with`` block; the options before it come back at its end.

    >>> with printoptions(precision=1):
    ...     format_array(np.array([0.25, 1.5]), indent=0)
    '[0.2, 1.5]'
    """
    before = get_printoptions()
    set_printoptions(precision, threshold, edgeitems, linewidth, profile, sci_mode)
    try:
        yield
    finally:
        _assign(before)


def _assign(values: dict[str, float | bool | None]) -> None:
    for name, value in values.items():
        setattr(_options, name, value)


def repr_of(tensor: Tensor) -> str:
    """What ``repr(tensor)`` shows; a subclass of Tensor stands under its own name."""
    kind = tensor.device.type
    name = type(tensor).__name__
    node = tensor._node
    grad_fn = None if node is None or node.is_leaf else node
    return tensor_repr(
        None if kind == "meta" else widened(host(tensor)),
        shape=tensor.shape,
        dtype_name=tensor.dtype.name,
        default_dtype_name=get_default_dtype().name,
        device=None if kind == "cpu" else str(tensor.device),
        requires_grad=tensor.requires_grad,
        grad_fn_name=None if grad_fn is None else grad_fn._title,
        prefix="tensor(" if name in ("Tensor", "Parameter", "Buffer") else f"{name}(",
    )


def tensor_repr(
    array: Array | None,
    *,
    shape: Sequence[int],
    dtype_name: str,
    default_dtype_name: str = "float32",
    device: str | None = None,
    requires_grad: bool = False,
    grad_fn_name: str | None = None,
    prefix: str = "tensor(",
) -> str:
    """The repr of a tensor with these values; ``array`` is None where there are no values to show (the meta device).

    ``device`` is given only when it should be seen (not the default device). ``dtype_name`` is the bare name, as "int32".

    >>> tensor_repr(np.array([1, 2], np.int32), shape=(2,), dtype_name="int32")
    'tensor([1, 2], dtype=tenfold.int32)'
    >>> tensor_repr(None, shape=(2, 3), dtype_name="float32", device="meta")
    "tensor(..., device='meta', size=(2, 3))"
    """
    empty = array is None or math.prod(shape) == 0
    suffixes = [f"device='{device}'"] if device is not None else []
    if array is None:
        body, sized = "...", True
    elif empty:
        body, sized = "[]", len(shape) != 1
    else:
        body = format_array(array, indent=len(prefix))
        sized = _options.edgeitems == 0  # dots alone would hide the shape
    if sized:
        suffixes.append(f"size={_size_text(shape)}")
    if dtype_name not in _unmarked_dtypes(default_dtype_name, inferred=not empty):
        suffixes.append(f"dtype={qualified(dtype_name)}")
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    return _with_suffixes(prefix, body, suffixes)


def _size_text(shape: Sequence[int]) -> str:
    return str(tuple(int(size) for size in shape))


def _unmarked_dtypes(default: str, *, inferred: bool) -> set[str]:
    """The dtypes a reader would get by typing the printed values in; without values that is the default alone."""
    complex_default = "complex128" if default == "float64" else "complex64"
    return {default, complex_default, "int64", "bool"} if inferred else {default}


def _with_suffixes(prefix: str, body: str, suffixes: Sequence[str]) -> str:
    """Add each suffix to the last line while it fits in the line width, else on a line of its own.

    A dtype is measured by PyTorch's shorter name, so that both libraries break the same tensor at the same places.
    """
    text = prefix + body
    used = len(text) - text.rfind("\n") + 1  # the body's own line counts two more than it has, as in PyTorch
    for suffix in suffixes:
        length = len(suffix.replace(f"dtype={qualified('')}", "dtype=torch."))
        if used + length + 2 > _options.linewidth:
            text += ",\n" + " " * len(prefix) + suffix
            used = len(prefix) + length
        else:
            text += ", " + suffix
            used += length + 2
    return text + ")"


def format_array(array: Array, indent: int) -> str:
    """The values of ``array`` in nested brackets, its lines indented by ``indent`` after the first.

    >>> print(format_array(np.arange(4.0).reshape(2, 2), indent=0))
    [[0., 1.],
     [2., 3.]]
    """
    summarised = array.size > _options.threshold
    shown = _edges(array) if summarised else array
    formatter, width = _complex_format(shown) if shown.dtype.kind == "c" else _real_format(shown)
    return _brackets(array, indent, summarised, formatter, width)


def _edges(array: Array) -> Array:
    """The corner items that a summary shows; the form of the numbers is decided from these alone."""
    keep = _options.edgeitems
    for axis, size in enumerate(array.shape):
        if size > 2 * keep:
            ends = np.r_[:keep, size - keep : size]
            array = np.take(array, ends, axis=axis)
    return array


def _real_format(values: Array) -> tuple[Formatter, int]:
    """The function that prints one value, right-aligned, and the width that it aligns to."""
    if values.dtype.kind in "biu":
        width = max((len(str(value)) for value in values.ravel().tolist()), default=1)
        return lambda value: str(value).rjust(width), width
    doubles = values.astype(np.float64).ravel()
    visible = doubles[np.isfinite(doubles) & (doubles != 0)]
    spec, point = _float_spec(visible)
    width = max((len(format(value, spec)) + len(point) for value in visible.tolist()), default=1)

    def text(value: object) -> str:
        number = float(value)  # type: ignore[arg-type]
        return (format(number, spec) + (point if math.isfinite(number) else "")).rjust(width)

    return text, width


def _float_spec(visible: NDArray[np.float64]) -> tuple[str, str]:
    """The format specification for these finite, non-zero values, and what follows a whole number."""
    precision = _options.precision
    whole = bool(np.all(visible == np.ceil(visible)))
    scientific = _options.sci_mode
    if visible.size == 0:
        scientific = False
    elif scientific is None:
        scientific = _needs_exponent(np.abs(visible), whole)
    if scientific:
        return f".{precision}e", ""
    return (".0f", ".") if whole else (f".{precision}f", "")


def _needs_exponent(magnitudes: NDArray[np.float64], whole: bool) -> bool:
    smallest, largest = float(magnitudes.min()), float(magnitudes.max())
    with np.errstate(over="ignore"):
        too_wide = bool(np.float64(largest) / np.float64(smallest) > WIDEST_RATIO)
    return too_wide or largest > LARGEST_FIXED or (not whole and smallest < SMALLEST_FIXED)


def _complex_format(values: Array) -> tuple[Formatter, int]:
    """As `_real_format`; the real and the imaginary part each have a form of their own."""
    real_text, real_width = _real_format(values.real)
    imag_text, imag_width = _real_format(values.imag)

    def text(value: object) -> str:
        number = complex(value)  # type: ignore[call-overload]
        imag = imag_text(number.imag).lstrip() + "j"
        return real_text(number.real) + ("" if imag[0] in "+-" else "+") + imag

    return text, real_width + imag_width + 1


def _brackets(array: Array, indent: int, summarised: bool, formatter: Formatter, width: int) -> str:
    if array.ndim == 0:
        return formatter(array.item())
    if array.ndim == 1:
        return _row(array, indent, summarised, formatter, width)
    keep = _options.edgeitems
    if summarised and not keep:
        return "[...]"
    cut = summarised and array.shape[0] > 2 * keep
    shown = [*array[:keep], *array[-keep:]] if cut else list(array)
    parts = [_brackets(part, indent + 1, summarised, formatter, width) for part in shown]
    if cut:
        parts.insert(keep, "...")
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _row(array: Array, indent: int, summarised: bool, formatter: Formatter, width: int) -> str:
    """One vector, broken into lines of as many equally wide items as the line width holds."""
    keep = _options.edgeitems
    if summarised and not keep:
        return "[...]"
    if summarised and array.size > 2 * keep:
        head, tail = array[:keep].tolist(), array[-keep:].tolist()
        items = [*map(formatter, head), " ...", *map(formatter, tail)]
    else:
        items = [formatter(value) for value in array.tolist()]
    per_line = max(1, (_options.linewidth - indent) // (width + 2))
    lines = [", ".join(items[start : start + per_line]) for start in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
