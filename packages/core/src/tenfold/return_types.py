"""What operators with several named results return, under PyTorch's names and field names; each is made when first used."""

from collections import namedtuple
from typing import Any

from tenfold.types import qualified

_PAIR = "values indices"
FIELDS = {
    "max": _PAIR, "min": _PAIR, "aminmax": "min max", "sort": _PAIR, "topk": _PAIR, "kthvalue": _PAIR, "median": _PAIR,
    "nanmedian": _PAIR, "mode": _PAIR, "cummax": _PAIR, "cummin": _PAIR, "histogram": "hist bin_edges",
    "histogramdd": "hist bin_edges",
    "frexp": "mantissa exponent", "qr": "Q R", "svd": "U S V", "slogdet": "sign logabsdet", "geqrf": "a tau",
    "lu_unpack": "P L U", "triangular_solve": "solution cloned_coefficient", "linalg_qr": "Q R", "linalg_svd": "U S Vh",
    "linalg_eigh": "eigenvalues eigenvectors", "linalg_eig": "eigenvalues eigenvectors", "linalg_cholesky_ex": "L info",
    "linalg_inv_ex": "inverse info", "linalg_solve_ex": "result info", "linalg_slogdet": "sign logabsdet",
    "linalg_lstsq": "solution residuals rank singular_values", "linalg_lu": "P L U", "linalg_lu_factor": "LU pivots",
    "linalg_lu_factor_ex": "LU pivots info", "linalg_ldl_factor": "LD pivots", "linalg_ldl_factor_ex": "LD pivots info",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    fields = FIELDS.get(name)
    if fields is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made: Any = namedtuple(name, fields, module=qualified("return_types"))  # type: ignore[misc] # noqa: PYI024 - its fields are data
    made.__doc__ = f"The result of `tenfold.{name.replace('linalg_', 'linalg.')}`: ({fields.replace(' ', ', ')})."
    setattr(made, "__repr__", _named_lines)  # noqa: B010 - mypy takes it for a method of the class
    globals()[name] = made
    return made


def _named_lines(self: Any) -> str:
    lines = ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self))
    return f"{qualified('return_types')}.{type(self).__name__}(\n{lines})"


def __dir__() -> list[str]:
    return sorted(FIELDS)
