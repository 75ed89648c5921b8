"""Devices and the backends that serve them.

`device("cuda:1")` is both the user's name of a device and the key by which operators find their kernels: a tensor
carries its device, and `tensor._key.kernels.mul` is the kernel (see callpath.py). A backend is loaded when one of its
attributes is first asked for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.dispatch import kernels
from tenfold.dispatch.runtime import STATE
from tenfold.dispatch.services import SERVICES


class AcceleratorError(RuntimeError):
    """A device reported an error."""


class OutOfMemoryError(RuntimeError):
    """A device has no memory left for what was asked.

    >>> issubclass(OutOfMemoryError, RuntimeError)
    True
    """


class MissingDevice(RuntimeError, AssertionError):
    """A device is not here: what PyTorch raises with CUDA but no driver, and what it raises without CUDA."""


AcceleratorError.__module__ = OutOfMemoryError.__module__ = "tenfold"


class Backend:
    """What a device must provide beside kernels; third-party packages subclass it (guide: docs/guide/backend.md).

    A backend's array is any object with `shape` (tuple of int), `dtype` (numpy.dtype) and `strides` (in bytes).
    Views share memory: `as_strided` is the one view function a backend writes, all view operators are built on it.
    """

    name: str = ""
    array_type: type = object  # what kernels return
    indexed = True  # whether tensors say "name:0" rather than "name"
    takes_numbers = False  # whether kernels take numbers beside every dtype, and `from_numpy` repeats an array of strides 0
    dtypes: Collection[str] | None = None  # the names of the element types that the device has; None: all

    def require_dtype(self, dtype: Any) -> None:
        """Raise the TypeError for an element type (a numpy.dtype) that the device lacks."""
        if self.dtypes is not None and dtype.name not in self.dtypes:
            raise TypeError(
                f"device {self.name!r} has no dtype {dtype.name}; it has {', '.join(self.dtypes)}. Convert with .to(dtype) first"
            )

    def is_available(self) -> bool:
        return True

    def unavailable_reason(self) -> str:
        """Why `is_available` is false, and what the user can do."""
        return ""

    def device_count(self) -> int:
        return 1

    def current_index(self) -> int:
        return 0

    def empty(self, shape: Sequence[int], dtype: Any, index: int | None) -> Any:
        """A new array with any content."""
        raise TypeError(f"backend {self.name!r} defines no method empty(shape, dtype, index)")

    def from_numpy(self, array: Any, index: int | None) -> Any:
        """Copy a NumPy array to the device."""
        raise TypeError(f"backend {self.name!r} defines no method from_numpy(array, index)")

    def to_numpy(self, array: Any) -> Any:
        """Copy to a NumPy array on the host."""
        raise TypeError(f"backend {self.name!r} defines no method to_numpy(array)")

    def as_strided(self, array: Any, shape: Sequence[int], strides: Sequence[int], offset: int) -> Any:
        """A view of the memory of `array`; strides and offset count elements, offset from the memory's start."""
        raise TypeError(f"backend {self.name!r} defines no method as_strided(array, shape, strides, offset)")

    def write(self, destination: Any, source: Any) -> None:
        """Copy `source` (broadcast, converted) into the memory of `destination`."""
        raise TypeError(f"backend {self.name!r} defines no method write(destination, source)")

    def memory(self, array: Any) -> tuple[Any, int, int]:
        """(the memory object that views share, its size in bytes, the array's offset in it in bytes)."""
        raise TypeError(f"backend {self.name!r} defines no method memory(array)")

    def reinterpret(self, array: Any, dtype: Any) -> Any:
        """The whole memory behind `array` as a flat array of another dtype (a numpy.dtype): the same bytes, shared.

        As many elements as fit; bytes that are left over at the end are in no element. `view(dtype)` and loading need it.
        """
        raise TypeError(f"backend {self.name!r} defines no method reinterpret(array, dtype), which view(dtype) needs")

    def memory_bytes(self, array: Any) -> Any:
        """The memory object behind the array as a flat uint8 array: what `untyped_storage()` and deep copies read."""
        return self.reinterpret(array, np.dtype(np.uint8))

    def index_of(self, array: Any) -> int | None:
        """Which of the device's units holds the array; a backend with several must say, so that copies stay there."""
        return None

    def data_ptr(self, array: Any) -> int:
        """The address of the array's first element."""
        return 0

    def coerce(self, result: Any) -> Any:
        """Turn a kernel's result that is not an `array_type` into one, or raise."""
        raise TypeError(
            f"a kernel of backend {self.name!r} returned {type(result).__name__}, expected {self.array_type.__name__}"
        )

    def synchronize(self, index: int | None = None) -> None:
        """Wait until all work given to the device is done."""

    def manual_seed(self, seed: int) -> None:
        """Restart the device's own random streams: `tenfold.manual_seed` calls it on loaded backends."""

    def kept(self, devices: Any = None) -> Any:
        """What puts the device's own random streams back."""
        return int

    def sampling(self, index: int | None) -> Any:
        """`tenfold.random.sampling` with arrays of the device; None: drawn on the CPU."""

    def numbers(self, index: int | None) -> Any:
        """The array module that makes ranges."""
        return np


class _NotLoaded:
    """The type of no array: that of a device whose backend is not loaded."""


# PyTorch's device types, which may be spoken of where no backend serves them.
_NAMED = "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu mtia privateuseone".split()


class device:  # noqa: N801 - PyTorch's name
    """Where a tensor lives, e.g. `device("cpu")`, `device("cuda", 1)`; as a context manager, its thread's default.

    >>> import tenfold
    >>> tenfold.device("cuda:1")
    device(type='cuda', index=1)
    """

    __slots__ = ("_backend", "_kernels", "array_type", "coerce", "device", "index", "level", "override", "type")
    type: str
    index: int | None
    device: Any  # itself: what a tensor's key answers, be it a device or not
    level: int | None
    override: bool
    array_type: Any
    coerce: Any
    _backend: Backend
    _kernels: Any
    _interned: ClassVar[dict[tuple[str, int | None], Any]] = {}

    def __new__(cls, type: Any, index: int | None = None) -> Self:
        if isinstance(type, cls):
            return type
        if isinstance(type, int):  # a bare index means the accelerator, as in PyTorch
            if type < 0:
                raise RuntimeError("Device index must not be negative")
            type, index = accelerator_type(), type
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' must be str, int or device, not {type.__class__.__name__}")
        name, colon, number = type.partition(":")
        if colon:
            if index is not None:
                raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {type}")
            if not number.isdigit() or number != str(int(number)):
                raise RuntimeError(f"Invalid device string: '{type}'")
            index = int(number)
        found: Self | None = cls._interned.get((name, index))
        if found is None:
            if not name.replace("_", "a").isalpha():
                raise RuntimeError(f"Invalid device string: '{type}'")
            if name not in _NAMED:
                SERVICES.backend_of(name)  # says which names there are
            made = object.__new__(cls)
            made.type, made.index = name, index
            made.device, made.override, made.level = made, False, None
            made.array_type, made.coerce = _NotLoaded, made._first_array
            found = cls._interned.setdefault((name, index), made)
        return found

    def _first_array(self, array: Any) -> Any:
        """What `coerce` is until the backend is loaded: a tensor may be made before anything asked for the backend."""
        self._load()
        return array if type(array) is self.array_type else self.coerce(array)

    def _load(self) -> None:
        backend = SERVICES.backend_of(self.type)
        self.array_type, self.coerce = backend.array_type, backend.coerce
        self._kernels, self._backend = kernels.table(self.type), backend

    @property
    def backend(self) -> Backend:
        """The backend that serves this device, loaded when first asked for."""
        try:
            return self._backend
        except AttributeError:
            self._load()
            return self._backend

    @property
    def kernels(self) -> Any:
        """The kernels of this device as attributes; None where there is none."""
        try:
            return self._kernels
        except AttributeError:
            self._load()
            return self._kernels

    def __repr__(self) -> str:
        return f"device(type={self.type!r})" if self.index is None else f"device(type={self.type!r}, index={self.index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> Any:
        return device, (self.type, self.index)

    def __enter__(self) -> Self:
        STATE.devices = (*STATE.devices, located(self))
        return self

    def __exit__(self, *exc: object) -> None:
        STATE.devices = STATE.devices[:-1]


class _NoKernels:
    """The kernel table of keys that no kernel serves: every call takes the full dispatch."""

    def __getattr__(self, name: str) -> None:
        return None


NO_KERNELS = _NoKernels()


class OverrideKey:
    """The key of a tensor whose class overrides operators (`__torch_function__`), on a given device."""

    __slots__ = ("array_type", "backend", "coerce", "device", "index", "kernels", "level", "override", "type")
    array_type: Any
    backend: Backend
    coerce: Any
    device: Any
    index: int | None
    kernels: Any
    level: int | None
    override: bool
    type: str
    _interned: ClassVar[dict[Any, Any]] = {}

    def __new__(cls, device: Any) -> Self:
        found: Self | None = cls._interned.get(device)
        if found is None:
            found = object.__new__(cls)
            found.device, found.override, found.kernels, found.level = device, True, NO_KERNELS, None
            found.type, found.index = device.type, device.index
            found.backend, found.array_type, found.coerce = device.backend, device.array_type, device.coerce
            cls._interned[device] = found
        return found


CPU = device("cpu")
META = device("meta")


def chosen() -> device | None:
    """The default device, if one was set."""
    return STATE.devices[-1] if STATE.devices else None


def get_default_device() -> device:
    """The device that this thread's factories use when none is given."""
    return chosen() or CPU


def set_default_device(device: Any) -> None:
    """Let this thread's factories create on this device (`None`: the CPU)."""
    STATE.devices = (*STATE.devices[:-1], device and located(device))


def located(value: Any) -> device:
    """The device that a tensor asked for on `value` really lives on: "cuda" becomes "cuda:0"."""
    if value is None:
        value = get_default_device()
    found = value if type(value) is device else device(value)
    backend = found.backend
    if found is CPU or found is META:
        return found
    if not backend.is_available():
        raise MissingDevice(f"device {found} is not available: {backend.unavailable_reason()}")
    if not backend.indexed:
        return device(found.type)
    index = backend.current_index() if found.index is None else found.index
    if index >= backend.device_count():
        raise RuntimeError(f"device {found}: invalid index, {found.type} has {backend.device_count()} device(s)")
    return device(found.type, index)


def loaded_backends() -> list[Backend]:
    """The backends that are in use, each once."""
    found = [d._backend for d in list(device._interned.values()) if hasattr(d, "_backend")]
    return list({id(backend): backend for backend in found}.values())


def forget(device_type: str) -> None:
    """Let a device type's devices look for their backend anew, with no kernels attached."""
    kernels.drop(device_type)
    for (name, _), found in device._interned.items():
        if name == device_type:
            found.array_type, found.coerce = _NotLoaded, found._first_array
            for slot in ("_backend", "_kernels"):
                with contextlib.suppress(AttributeError):
                    delattr(found, slot)
            OverrideKey._interned.pop(found, None)


def accelerator_type() -> str:
    """The device type that a bare index means."""
    return "cuda"


def accelerator_backend() -> Backend | None:
    """The backend of the device besides the CPU, if there is such a device."""
    try:
        backend = device(accelerator_type()).backend
    except Exception:  # noqa: BLE001 - no plugin serves it, or the one that should does not load
        return None
    return backend if backend.is_available() else None


def require_accelerator() -> Backend:
    """The same, or RuntimeError."""
    backend = accelerator_backend()
    if backend is None:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return backend
