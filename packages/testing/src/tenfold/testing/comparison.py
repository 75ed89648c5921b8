"""`assert_close`, `assert_equal`: compare tensors, numbers and collections of them, with messages that locate the difference."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import tenfold
from tenfold.ops.creation.factories import tensor
from tenfold.tensor.holding import Holding
from tenfold.tensor.tensor import Tensor, host
from tenfold.testing import tolerances

Message = str | Callable[[str], str] | None

_TRUTHS = (bool, np.bool_)
_NUMBERS = (int, float, complex, np.number)


class _Different(Exception):
    """Two leaves differ: an error type, a message, and the place in the collections."""

    def __init__(self, kind: type[Exception], text: str) -> None:
        super().__init__(text)
        self.kind, self.text, self.place = kind, text, ""


class _Comparison:
    """The options of one call."""

    def __init__(
        self, rtol: float | None, atol: float | None, equal_nan: bool, device: bool, dtype: bool, layout: bool, stride: bool,
        subclasses: bool = True,
    ) -> None:  # fmt: skip
        if (rtol is None) != (atol is None):
            given = "rtol" if atol is None else "atol"
            raise ValueError(f"rtol and atol must both be specified or both be unspecified, got only {given}")
        self.rtol, self.atol, self.equal_nan = rtol, atol, equal_nan
        self.device, self.dtype, self.layout, self.stride, self.subclasses = device, dtype, layout, stride, subclasses

    def compare(self, actual: Any, expected: Any) -> None:
        leaves: list[tuple[Callable[[Any, Any], None], Any, Any, str]] = []
        self._collect(actual, expected, "", leaves)  # every pair is found comparable before the first one is compared
        for check, a, e, place in leaves:
            try:
                check(a, e)
            except _Different as different:
                different.place = place
                raise

    def _collect(self, actual: Any, expected: Any, place: str, leaves: list[Any]) -> None:
        try:
            items = self._items(actual, expected)
            if items is None:
                leaves.append((*self._pair(actual, expected), place))
                return
        except _Different as different:
            different.place = place
            raise
        for key, a, e in items:
            self._collect(a, e, f"{place}[{key!r}]", leaves)

    # Collections

    def _items(self, actual: Any, expected: Any) -> list[tuple[Any, Any, Any]] | None:
        if _is_sequence(expected) and _is_sequence(actual):
            if len(actual) != len(expected):
                raise _Different(AssertionError, f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
            return [(i, a, e) for i, (a, e) in enumerate(zip(actual, expected))]
        if not (isinstance(expected, Mapping) and isinstance(actual, Mapping)):
            return None
        if actual.keys() != expected.keys():
            missing, extra = expected.keys() - actual.keys(), actual.keys() - expected.keys()
            raise _Different(
                AssertionError,
                f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {sorted(missing, key=str)}\n"
                f"Additional keys in the actual mapping: {sorted(extra, key=str)}",
            )
        return [(key, actual[key], expected[key]) for key in expected]

    # Leaves

    def _pair(self, actual: Any, expected: Any) -> tuple[Callable[[Any, Any], None], Any, Any]:
        """How two leaves are compared, and what of them: nothing compares a tensor with a number or an array."""
        if actual is None or expected is None:
            return self._nones, actual, expected
        if isinstance(expected, _TRUTHS) and isinstance(actual, _TRUTHS):
            return self._numbers, bool(actual), bool(expected)
        if isinstance(expected, _NUMBERS) and isinstance(actual, _NUMBERS):
            if isinstance(expected, bool) or isinstance(actual, bool):
                raise _Different(RuntimeError, _mixed(actual, expected))
            return self._numbers, _plain(actual), _plain(expected)
        ours, theirs = _class_of(actual), _class_of(expected)
        if (issubclass(ours, theirs) or issubclass(theirs, ours)) and (self.subclasses or ours is theirs):
            if isinstance(actual, Tensor):
                return self._tensors, actual, expected
            if isinstance(actual, np.ndarray) and {actual.dtype.kind, expected.dtype.kind}.isdisjoint("OSUmMV"):
                return self._tensors, tensor(actual), tensor(expected)
        raise _Different(
            TypeError,
            f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}: assert_close takes two "
            f"tensors, two arrays, two numbers, None, and sequences and mappings of them; make both tensors first",
        )

    def _nones(self, actual: Any, expected: Any) -> None:
        if actual is not expected:
            raise _Different(AssertionError, f"None mismatch: {actual} is not {expected}")

    def _numbers(self, actual: Any, expected: Any) -> None:
        if self.dtype and type(actual) is not type(expected):
            raise _Different(AssertionError, f"The (d)types do not match: {type(actual)} != {type(expected)}.")
        rtol, atol = self._tolerances(tensor(actual).dtype, tensor(expected).dtype, numbers=True)
        if _close(np.asarray(actual), np.asarray(expected), rtol, atol, self.equal_nan).all():
            return
        if isinstance(actual, bool) and isinstance(expected, bool):
            raise _Different(AssertionError, f"Booleans mismatch: {actual} is not {expected}")
        difference = abs(actual - expected)
        relative = difference / abs(expected) if expected else float("inf")
        lines = [
            f"Scalars are not {'equal' if rtol == atol == 0 else 'close'}!\n",
            f"Expected {expected} but got {actual}.",
            f"Absolute difference: {difference}{_allowed(rtol, atol, atol)}",
            f"Relative difference: {relative}{_allowed(rtol, atol, rtol)}",
        ]
        raise _Different(AssertionError, "\n".join(lines))

    def _tensors(self, actual: Any, expected: Any) -> None:
        self._attributes(actual, expected)
        if actual.is_meta or expected.is_meta:  # no numbers to compare
            return
        rtol, atol = self._tolerances(actual.dtype, expected.dtype)
        if actual.layout is not expected.layout:
            actual, expected = actual.to_dense(), expected.to_dense()
        for name, a, e, exact in _parts(actual, expected):
            self._values(a, e, *((0.0, 0.0) if exact else (rtol, atol)), name)

    def _values(self, actual: Any, expected: Any, rtol: float, atol: float, name: str | None) -> None:
        a, e = _comparable(actual), _comparable(expected)
        with np.errstate(all="ignore"):
            equal = _close(a, e, rtol, atol, self.equal_nan)
            if not equal.all():
                text = _difference(a, e, equal, rtol, atol)
                raise _Different(AssertionError, text if name is None else text.replace("Tensor-likes", name, 1))

    def _attributes(self, actual: Any, expected: Any) -> None:
        pairs = [("shape", actual.shape, expected.shape, True), ("device", actual.device, expected.device, self.device)]
        pairs.append(("dtype", actual.dtype, expected.dtype, self.dtype))
        pairs.append(("layout", actual.layout, expected.layout, self.layout))
        for name, a, e, wanted in pairs:
            if wanted and a != e:
                shown = (f"{a!r}", f"{e!r}") if name != "device" else (f"{str(a)!r}", f"{str(e)!r}")
                raise _Different(AssertionError, f"The values for attribute '{name}' do not match: {shown[0]} != {shown[1]}.")
        if self.stride and actual.stride() != expected.stride():
            raise _Different(
                AssertionError, f"The values for attribute 'stride()' do not match: {actual.stride()} != {expected.stride()}."
            )

    def _tolerances(self, a: Any, e: Any, numbers: bool = False) -> tuple[float, float]:
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        if not numbers:
            return tolerances.default(a, e)
        exact = a.category < 2 and e.category < 2
        return tolerances.EXACT if exact else tolerances.default(tenfold.float64)


def _parts(actual: Any, expected: Any) -> list[tuple[str | None, Any, Any, bool]]:
    """What of two tensors of one layout is compared: a name for the message, both values, and whether exactly."""
    layout = str(actual.layout).rpartition(".")[2].removeprefix("sparse_").upper()
    if layout == "STRIDED":
        return [(None, actual, expected, False)]
    counts = [("specified values", actual._nnz(), expected._nnz())]
    if layout == "COO":
        counts.insert(0, ("sparse dimensions", actual.sparse_dim(), expected.sparse_dim()))
        if actual.is_coalesced() != expected.is_coalesced():
            raise _Different(
                AssertionError,
                f"The values for attribute 'is_coalesced()' do not match: {actual.is_coalesced()} != {expected.is_coalesced()}.",
            )
    for what, a, e in counts:
        if a != e:
            raise _Different(AssertionError, f"The number of {what} in sparse {layout} tensors does not match: {a} != {e}")
    names = {"COO": ("_indices", "_values"), "CSR": ("crow_indices", "col_indices", "values")}
    names.update(BSR=names["CSR"], CSC=("ccol_indices", "row_indices", "values"), BSC=("ccol_indices", "row_indices", "values"))
    return [
        (f"Sparse {layout} {n.removeprefix('_')}", getattr(actual, n)(), getattr(expected, n)(), "indices" in n)
        for n in names[layout]
    ]


def _class_of(value: Any) -> type:
    """The class, where the classes of other layouts are Tensor's."""
    return Tensor if isinstance(value, Holding) else type(value)


def _plain(number: Any) -> int | float | complex:
    """NumPy's numbers as Python's, whose three types are what is compared."""
    for kind, abstract in ((int, np.integer), (float, np.floating), (complex, np.complexfloating)):
        if isinstance(number, (kind, abstract)):
            return kind(number)  # type: ignore[arg-type] # each kind of its own abstract class
    return number  # type: ignore[no-any-return]


def _mixed(actual: Any, expected: Any) -> str:
    return (
        f"Originating a NumberPair() at item  with\n\n{type(actual).__name__}(): {actual}\n\nand\n\n"
        f"{type(expected).__name__}(): {expected}\n\n"
        "resulted in the unexpected exception above: a bool is compared with a bool only"
    )


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _comparable(tensor: Any) -> Any:
    """The values in a NumPy dtype that has subtraction and every tolerance."""
    array = host(tensor.detach())
    if array.dtype.kind == "V" or array.dtype.kind == "f":
        return array.astype(np.float64)
    return array.astype(np.complex128) if array.dtype.kind == "c" else array


def _close(a: Any, e: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    if a.dtype.kind in "biu" and e.dtype.kind in "biu" and rtol == atol == 0:
        return np.asarray(a == e)
    with np.errstate(all="ignore"):
        return np.asarray(np.isclose(a, e, rtol=rtol, atol=atol, equal_nan=equal_nan))


def _difference(a: Any, e: Any, equal: Any, rtol: float, atol: float) -> str:
    """PyTorch's three lines: how many, the greatest absolute and the greatest relative difference, and where."""
    count, total = int((~equal).sum()), equal.size
    if a.dtype.kind == "b" or e.dtype.kind == "b":
        a, e = a.astype(np.int64), e.astype(np.int64)
    kind = np.result_type(a, e, np.float64) if a.dtype.kind != "u" else np.float64
    absolute = np.abs(a.astype(kind) - e.astype(kind))
    absolute = np.where(equal, 0, absolute)
    relative = np.where(equal, 0, absolute / np.abs(e))
    subject = "Scalars" if not a.shape else "Tensor-likes"
    lines = [f"{subject} are not {'equal' if rtol == atol == 0 else 'close'}!\n"]
    if not a.shape:
        lines.append(f"Expected {e.item()} but got {a.item()}.")
        lines.append(f"Absolute difference: {_apart(a, e, absolute, ())}{_allowed(rtol, atol, atol)}")
        lines.append(f"Relative difference: {relative.item()}{_allowed(rtol, atol, rtol)}")
        return "\n".join(lines)
    lines.append(f"Mismatched elements: {count} / {total} ({count / total:.1%})")
    for name, values, limit in (("absolute", absolute, atol), ("relative", relative, rtol)):
        place = np.unravel_index(int(np.argmax(values)), values.shape)
        where = tuple(int(i) for i in place)
        shown = _apart(a, e, values, where) if name == "absolute" else values[where].item()
        lines.append(f"Greatest {name} difference: {shown} at index {where}{_allowed(rtol, atol, limit)}")
    return "\n".join(lines)


def _apart(a: Any, e: Any, absolute: Any, where: tuple[int, ...]) -> Any:
    """How far apart two elements are: integers by an integer, of any size."""
    whole = a.dtype.kind in "iu" and e.dtype.kind in "iu"
    return abs(int(a[where]) - int(e[where])) if whole else absolute[where].item()


def _allowed(rtol: float, atol: float, limit: float) -> str:
    return "" if rtol == atol == 0 else f" (up to {limit} allowed)"


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: Message = None,
) -> None:  # fmt: skip
    """Raise AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere.

    Takes tensors, numbers, None, and sequences and mappings of them. The default tolerances depend on the dtype
    (`tenfold.testing.tolerances.DEFAULT`); integers compare exactly.

    Raises: AssertionError that says how many elements differ, and the greatest differences with their indices;
    ValueError when only one of rtol and atol is given; TypeError for objects of other types, and for a tensor with an array
    or a number.

    >>> import tenfold
    >>> from tenfold.testing import assert_close
    >>> assert_close(tenfold.tensor([1.0, 2.0]), tenfold.tensor([1.0, 2.5]))
    Traceback (most recent call last):
    AssertionError: Tensor-likes are not close!
    <BLANKLINE>
    Mismatched elements: 1 / 2 (50.0%)
    Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)
    Greatest relative difference: 0.2 at index (1,) (up to 1.3e-06 allowed)
    """
    comparison = _Comparison(rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride, allow_subclasses)
    try:
        comparison.compare(actual, expected)
    except _Different as different:
        text = different.text + (f"\n\nThe failure occurred for item {different.place}" if different.place else "")
        raise different.kind(text if msg is None else msg(text) if callable(msg) else msg) from None


def assert_equal(actual: Any, expected: Any, *, equal_nan: bool = True, msg: Message = None) -> None:
    """Raise AssertionError unless both have the same structure, dtypes, shapes and values, bit for bit but for NaN.

    >>> import tenfold
    >>> from tenfold.testing import assert_equal
    >>> assert_equal(tenfold.arange(2), [tenfold.tensor(0), tenfold.tensor(1)][0:0] or tenfold.tensor([0, 1]))
    """
    assert_close(actual, expected, rtol=0.0, atol=0.0, equal_nan=equal_nan, msg=msg)


_ALLCLOSE = {"float16": (1e-3, 1e-3), "bfloat16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True, msg: str = ""
) -> None:
    """`assert_close` of old: numbers and sequences are made tensors, dtypes may differ, NaN equals NaN. FutureWarning.

    >>> import warnings
    >>> import tenfold
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     assert_allclose(tenfold.ones(2), [1.0, 1.0])
    """
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. "
        "Please use `torch.testing.assert_close()` instead.",
        FutureWarning,
        stacklevel=2,
    )
    ours = actual if isinstance(actual, Tensor) else tenfold.tensor(actual)
    wanted = expected if isinstance(expected, Tensor) else tenfold.tensor(expected, dtype=ours.dtype)
    if rtol is None and atol is None:
        found = [_ALLCLOSE.get(t.dtype.name, (0.0, 0.0)) for t in (ours, wanted)]
        rtol, atol = max(r for r, _ in found), max(a for _, a in found)
    assert_close(
        ours, wanted, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False, check_stride=False,
        msg=msg or None,
    )  # fmt: skip
