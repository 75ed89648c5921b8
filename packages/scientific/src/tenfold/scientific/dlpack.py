"""DLPack: memory shared with other array libraries through capsules, by the layout of DLPack's C header.

A capsule "dltensor" (or "dltensor_versioned", from DLPack 1.0 on) points at a structure that names memory, shape, strides
and a function to call when the memory is no longer needed.

Source: dlpack.h of https://github.com/dmlc/dlpack and the protocol of https://data-apis.org/array-api.
"""

from __future__ import annotations

import ctypes
import enum
from typing import Any

import numpy as np

from tenfold.dispatch.devices import CPU, device as device_of, located
from tenfold.tensor.tensor import Tensor, wrap
from tenfold.types import dtypes
from tenfold.types.dtypes import dtype


class DLDeviceType(enum.IntEnum):
    """DLPack's numbers of device types."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


_NAME, _VERSIONED = b"dltensor", b"dltensor_versioned"
_USED = {_NAME: b"used_dltensor", _VERSIONED: b"used_dltensor_versioned"}  # capsules keep the pointer, not the text
_READ_ONLY = 1
_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6  # DLDataTypeCode
_delete_t = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", _delete_t))


class _ManagedVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", _delete_t),
        ("flags", ctypes.c_uint64), ("tensor", _DLTensor),
    )  # fmt: skip


def _api(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_capsule_new = _api("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_capsule_valid = _api("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_capsule_pointer = _api("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_capsule_rename = _api("PyCapsule_SetName", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_exported: dict[int, Any] = {}  # what the structures point at, by their addresses, until their deleters are called
_destroy_t = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


def _release(address: int) -> None:
    _exported.pop(address, None)


def _destroy(capsule: int) -> None:
    """A capsule that nobody took owns its memory still; one that was taken has another name."""
    for name in (_NAME, _VERSIONED):
        if _capsule_valid(capsule, name):
            _exported.pop(_capsule_pointer(capsule, name), None)


_released, _destroyed = _delete_t(_release), _destroy_t(_destroy)


def _code(d: dtype) -> int:
    if d.category < 2:
        return _BOOL if d.category == 0 else _INT if d.is_signed else _UINT
    return _COMPLEX if d.is_complex else _BFLOAT if d.name == "bfloat16" else _FLOAT


def dlpack_device(tensor: Tensor) -> tuple[int, int]:
    """`Tensor.__dlpack_device__`: DLPack's device type and index."""
    kinds = {"cpu": DLDeviceType.kDLCPU, "cuda": DLDeviceType.kDLCUDA}
    if tensor.device.type not in kinds:
        raise ValueError(f"Unknown device type {tensor.device.type} for Dlpack")
    return kinds[tensor.device.type], tensor.device.index or 0


def export(tensor: Tensor, stream: Any, max_version: Any, dl_device: Any, copy: bool | None) -> Any:
    """`Tensor.__dlpack__`: a capsule on the tensor's memory, or on a copy of it."""
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if tensor.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set")
    if stream is not None and not isinstance(stream, int):
        raise TypeError("stream must be ``int`` or ``none``")
    if dl_device is not None and tuple(dl_device) != dlpack_device(tensor):
        if copy is False:
            raise ValueError(f"cannot export to device {dl_device} without a copy")
        tensor, copy = tensor.to("cpu" if dl_device[0] == DLDeviceType.kDLCPU else f"cuda:{dl_device[1]}"), False
    if copy:
        tensor = tensor.clone()
    if tensor.is_meta:
        raise BufferError("Cannot pack tensors on meta")
    if tensor.device is not CPU:
        if tensor.dtype is not dtypes.bfloat16:
            return tensor._array.__dlpack__(stream=stream)
        capsule = tensor.view(dtypes.int16)._array.__dlpack__(stream=stream)  # array libraries do not know bfloat16
        _described(capsule).code = _BFLOAT
        return capsule
    return _capsule(tensor, versioned=max_version is not None and max_version[0] >= 1)


def _capsule(tensor: Tensor, versioned: bool) -> Any:
    n = tensor.dim()
    strides = [1 if size < 2 else stride for size, stride in zip(tensor.shape, tensor.stride())]
    sizes, steps = (ctypes.c_int64 * n)(*tensor.shape), (ctypes.c_int64 * n)(*strides)
    bits = 8 * tensor.itemsize
    described = _DLTensor(tensor.data_ptr() or None, 1, 0, n, _code(tensor.dtype), bits, 1, sizes, steps, 0)
    made: Any = _ManagedVersioned(1, 0, None, _released, 0, described) if versioned else _Managed(described, None, _released)
    address = ctypes.addressof(made)
    _exported[address] = (made, sizes, steps, tensor)
    return _capsule_new(address, _VERSIONED if versioned else _NAME, ctypes.cast(_destroyed, ctypes.c_void_p))


class _Imported:
    """Memory that another library lent, given back when no tensor is left on it."""

    def __init__(self, managed: Any, address: int, interface: dict[str, Any]) -> None:
        self.managed, self.address, self.__array_interface__ = managed, address, interface

    def __del__(self) -> None:
        if self.managed.deleter:
            self.managed.deleter(self.address)


class _Bits:
    """Another library's array, bfloat16 as int16, which every array library knows."""

    def __init__(self, lender: Any) -> None:
        self.lender, self.__dlpack_device__ = lender, lender.__dlpack_device__
        self.dtype: Any = None  # what the array is of, if not of what it seems to be

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self.lender.__dlpack__(**options)
        described = _described(capsule)
        if described.code == _BFLOAT:
            described.code, self.dtype = _INT, dtypes.bfloat16.numpy
        return capsule


class _Lender:
    """A capsule on a GPU's memory, as the object that gave it."""

    def __init__(self, capsule: Any, device: tuple[int, int]) -> None:
        self.capsule, self.device = capsule, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule


def _described(capsule: Any) -> Any:
    """What a capsule says of its memory, to read and to change."""
    at = id(capsule)
    name, kind = (_VERSIONED, _ManagedVersioned) if _capsule_valid(at, _VERSIONED) else (_NAME, _Managed)
    return kind.from_address(_capsule_pointer(at, name)).tensor


_TYPES = {(_code(d), 8 * d.itemsize): d for d in dtypes.ALL if not d.name.startswith("float8")}


def _from_capsule(capsule: Any) -> Tensor:
    """A tensor on the memory of a capsule, which belongs to the tensor from now on."""
    at = id(capsule)
    versioned = bool(_capsule_valid(at, _VERSIONED))
    name = _VERSIONED if versioned else _NAME
    if not _capsule_valid(at, name):
        raise RuntimeError("from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once")
    address = _capsule_pointer(at, name)
    managed = (_ManagedVersioned if versioned else _Managed).from_address(address)
    described = managed.tensor
    if described.device_type == DLDeviceType.kDLCUDA:
        return _from_gpu(_Lender(capsule, (described.device_type, described.device_id)))
    d = _TYPES.get((described.code, described.bits))
    if described.device_type != DLDeviceType.kDLCPU or d is None or described.lanes != 1:
        raise BufferError(
            f"from_dlpack: no such memory here: device type {described.device_type}, type code {described.code} of "
            f"{described.bits} bits and {described.lanes} lanes"
        )
    shape = tuple(described.shape[i] for i in range(described.ndim))
    strides = tuple(described.strides[i] * d.itemsize for i in range(described.ndim)) if described.strides else None
    kind = f"<u{d.itemsize}" if d.name == "bfloat16" else d.numpy.str
    read_only = versioned and bool(managed.flags & _READ_ONLY)
    data = ((described.data or 0) + described.byte_offset, read_only)
    interface = {"version": 3, "shape": shape, "strides": strides, "typestr": kind, "data": data}
    _capsule_rename(at, _USED[name])
    lent = _Imported(managed, address, interface)
    array = np.asarray(lent) if 0 not in shape else np.empty(shape, d.numpy)
    return wrap(array.view(d.numpy) if array.dtype != d.numpy else array, located("cpu"))


def _from_gpu(ext_tensor: Any) -> Tensor:
    """A tensor on the memory of another library's array on a GPU, by what the device "cuda" has for it."""
    backend = device_of("cuda").backend
    shared = getattr(backend, "shared", None)
    if shared is None:
        raise BufferError("from_dlpack: memory of a GPU needs the device 'cuda': install tenfold-backend-cuda[gpu]")
    own = isinstance(ext_tensor, backend.array_type)
    lent = _Bits(ext_tensor) if not own and hasattr(ext_tensor, "__dlpack_device__") else None
    array, index = shared(lent or ext_tensor)
    if lent is not None and lent.dtype is not None:
        array = array.view(lent.dtype)
    return wrap(array, located(f"cuda:{index}"))


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of another library's array, or of a DLPack capsule.

    >>> import numpy, tenfold
    >>> a = numpy.zeros(2)
    >>> tenfold.from_dlpack(a)[0] = 5
    >>> a.tolist()
    [5.0, 0.0]
    """
    if type(ext_tensor).__name__ == "PyCapsule":
        made = _from_capsule(ext_tensor)
        if copy:
            made = made.clone()
        return made if device is None else made.to(device)
    if not hasattr(ext_tensor, "__dlpack__"):
        raise RuntimeError(f"from_dlpack received an invalid capsule: {type(ext_tensor).__name__} has no __dlpack__")
    kind, _ = ext_tensor.__dlpack_device__()
    wanted = None if device is None else device_of(device)
    if kind == DLDeviceType.kDLCUDA:
        made = _from_gpu(ext_tensor)
        if wanted is None or wanted is made.device:
            return made.clone() if copy else made
        if copy is False:
            raise ValueError(f"cannot move (i.e. copy=False) tensor from {made.device} to {wanted}.")
        return made.to(wanted)
    if kind != DLDeviceType.kDLCPU:
        raise BufferError(f"from_dlpack: memory of DLPack's device type {kind} cannot be shared here; move it to the CPU first")
    if wanted is not None and wanted is not CPU and copy is False:
        raise ValueError(f"cannot move (i.e. copy=False) tensor from cpu to {wanted}.")
    options = {} if copy is None else {"copy": copy}
    try:
        capsule = ext_tensor.__dlpack__(max_version=(1, 0), **options)
    except TypeError:  # a library from before DLPack 1.0
        capsule = ext_tensor.__dlpack__(**options)
    made = _from_capsule(capsule)
    return made if wanted is None else made.to(wanted)


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule on a tensor's memory, which can be taken once."""
    return export(tensor, None, None, None, None)
