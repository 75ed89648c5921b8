"""Element types: PyTorch's `dtype` objects, each naming the NumPy dtype that holds it in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tenfold.types import qualified
from tenfold.types.narrow import RECORD


class dtype:  # noqa: N801 - PyTorch's name
    """An element type, such as `tenfold.float32`; one object exists per type, so `is` compares them."""

    __slots__ = ("category", "is_complex", "is_floating_point", "is_half", "is_signed", "itemsize", "name", "numpy")

    numpy: Any

    def __init__(self, name: str, numpy_type: Any, category: int) -> None:
        self.name = name
        if isinstance(numpy_type, int):  # the size of a type that ml_dtypes defines, which is imported when first used
            self.itemsize = numpy_type
        else:
            self.numpy = np.dtype(numpy_type)
            self.itemsize = self.numpy.itemsize
        self.category = category  # 0 bool, 1 integer, 2 floating, 3 complex: the order of promotion
        self.is_floating_point = category == 2
        self.is_half = category == 2 and self.itemsize == 2  # computed in float32
        self.is_complex = category == 3
        self.is_signed = category >= 2 or (category == 1 and not name.startswith("u"))

    if not TYPE_CHECKING:  # to type checkers it would mean that any attribute is there

        def __getattr__(self, name: str) -> Any:
            if name != "numpy":
                raise AttributeError(f"'dtype' object has no attribute {name!r}")
            import ml_dtypes

            self.numpy = np.dtype(getattr(ml_dtypes, self.name))
            FROM_NUMPY[self.numpy] = self
            return self.numpy

    def __repr__(self) -> str:
        return qualified(self.name)

    def __reduce__(self) -> Any:
        return self.name if type(self).__module__ == "torch" else (_named, (self.name,))

    def to_complex(self) -> dtype:
        """The complex type whose parts have this precision; RuntimeError for integers and bool."""
        if self.category < 2:
            raise RuntimeError(f"Unknown Complex ScalarType for {type_name(self)}")
        if self.is_complex:
            return self
        return complex128 if self.itemsize == 8 else complex32 if self is float16 else complex64

    def to_real(self) -> dtype:
        """The type of the real part."""
        return {"complex32": float16, "complex64": float32, "complex128": float64}.get(self.name, self)


bool_ = dtype("bool", np.bool_, 0)
uint8 = dtype("uint8", np.uint8, 1)
int8 = dtype("int8", np.int8, 1)
int16 = dtype("int16", np.int16, 1)
int32 = dtype("int32", np.int32, 1)
int64 = dtype("int64", np.int64, 1)
uint16 = dtype("uint16", np.uint16, 1)
uint32 = dtype("uint32", np.uint32, 1)
uint64 = dtype("uint64", np.uint64, 1)
float16 = dtype("float16", np.float16, 2)
bfloat16 = dtype("bfloat16", 2, 2)
float32 = dtype("float32", np.float32, 2)
float64 = dtype("float64", np.float64, 2)
float8_e4m3fn = dtype("float8_e4m3fn", 1, 2)
float8_e5m2 = dtype("float8_e5m2", 1, 2)
float8_e4m3fnuz = dtype("float8_e4m3fnuz", 1, 2)
float8_e5m2fnuz = dtype("float8_e5m2fnuz", 1, 2)
complex32 = dtype("complex32", RECORD, 3)
complex64 = dtype("complex64", np.complex64, 3)
complex128 = dtype("complex128", np.complex128, 3)

ALL = (
    bool_, uint8, int8, int16, int32, int64, uint16, uint32, uint64, float16, bfloat16, float32, float64,
    float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, complex32, complex64, complex128,
)  # fmt: skip
BY_NAME = {d.name: d for d in ALL}
ALIASES = {"half": float16, "float": float32, "double": float64, "short": int16, "int": int32, "long": int64,
           "chalf": complex32, "cfloat": complex64, "cdouble": complex128}  # fmt: skip


def _named(name: str) -> dtype:
    """The dtype that was pickled."""
    return BY_NAME[name]


class _FromNumpy(dict[Any, dtype]):
    """Tenfold's dtypes by NumPy's; those of ml_dtypes join when one is used or met."""

    def __missing__(self, numpy_type: Any) -> dtype:
        if np.dtype(numpy_type).type.__module__ == "ml_dtypes":
            self.update({d.numpy: d for d in ALL})
        if numpy_type not in self:
            raise KeyError(numpy_type)
        return self[numpy_type]


LATE = (bfloat16, float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz)
FROM_NUMPY = _FromNumpy({d.numpy: d for d in ALL if d not in LATE})

_default = float32


def from_numpy(numpy_type: Any) -> dtype:
    """The tenfold dtype held in memory as `numpy_type`; TypeError when Tenfold has none."""
    found = FROM_NUMPY.get(numpy_type)
    if found is not None:
        return found
    try:
        return FROM_NUMPY[np.dtype(numpy_type).newbyteorder("=")]
    except KeyError:
        names = ", ".join(d.name for d in ALL)
        raise TypeError(f"can't convert np.ndarray of type {np.dtype(numpy_type)}. The supported types are: {names}.") from None


def get_default_dtype() -> dtype:
    """The floating type that factories use when none is given.

    >>> import tenfold
    >>> tenfold.get_default_dtype()
    tenfold.float32
    """
    return _default


def set_default_dtype(d: Any) -> None:
    """Set the default floating type: float16, bfloat16, float32 or float64."""
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point or d.itemsize < 2:
        raise TypeError(f"set_default_dtype: only floating-point types are supported as the default type, got {d!r}")
    _default = d


def default_complex() -> dtype:
    """The complex type that matches the default floating type."""
    return _default.to_complex()


def c_name(d: dtype) -> str:
    """C++'s name of a dtype, as some of PyTorch's messages use it."""
    names = {"float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "int64": "long int",
             "int32": "int", "int16": "short int", "int8": "signed char", "uint8": "unsigned char",
             "complex32": "c10::complex<c10::Half>", "complex64": "c10::complex<float>",
             "complex128": "c10::complex<double>"}  # fmt: skip
    return names.get(d.name, d.name)


# The words in the names of storages and of typed tensors.
TITLES = {
    "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long", "int32": "Int",
    "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}  # fmt: skip


def type_name(d: Any) -> str:
    """PyTorch's C++ name of a dtype, as its messages use it."""
    return "ComplexHalf" if d.name == "complex32" else TITLES.get(d.name, str(d.name))
