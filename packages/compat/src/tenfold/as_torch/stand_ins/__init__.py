"""What answers for the shape of PyTorch and is no feature of Tenfold's: modules and functions that programs ask for.

A module here is found as `torch.NAME` where Tenfold has none of that name, so that a package which brings the real one takes
its place by being installed.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any

# Functions and classes of the module torch itself, by the modules that have them.
_NAMES = {
    name: module
    for module, names in {
        "tenfold.compiler": "compile",
        "_higher_order_ops": "cond while_loop",
        "_C": "DisableTorchFunctionSubclass Future Generator PyTorchFileReader PyTorchFileWriter ScriptFunction ScriptModule "
        "AnyType BoolType ClassType DictType FloatType IntType ListType NoneType NumberType OptionalType StringType "
        "TensorType TupleType "
        "Event StorageBase Stream SymBool SymFloat SymInt",
        "quantized": "qint8 quint8 qint32 quint4x2 quint2x4 qscheme per_tensor_affine "
        "per_tensor_symmetric per_channel_affine per_channel_symmetric per_channel_affine_float_qparams",
        "_internal_names": "_check_with _check_tensor_all_with _convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo "
        "DeviceObjType _has_compatible_shallow_copy_type _softmax_backward_data dsmm get_device_module",
    }.items()
    for name in names.split()
}
# Older names for what parts of `backends` say: whether they are built in.
_BUILT = {f"has_{part}": part for part in ("cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp")}


def stand_in(name: str) -> Any:
    """A function, class or flag of the module `torch` that Tenfold itself has not, or None."""
    if name in _BUILT:
        return _is_built(_BUILT[name])
    module = _NAMES.get(name)
    if module is None:
        return None
    return getattr(importlib.import_module(module if "." in module else f"{__name__}.{module}"), name)


def _is_built(part: str) -> bool:
    backend = importlib.import_module(f"tenfold.backends.{part}")
    question = "is_built" if hasattr(backend, "is_built") else "is_available"
    if part not in ("mkl", "openmp"):
        warnings.warn(f"'has_{part}' is deprecated, please use 'torch.backends.{part}.{question}()'", stacklevel=5)
    return bool(getattr(backend, question)())
