"""`torch._C`: what libraries look at in PyTorch's compiled core, answered from Tenfold's own.

It is no compiled module, and what is not here is an AttributeError.
"""

from __future__ import annotations

import importlib
from typing import Any

import tenfold
from tenfold import Generator as Generator, Size as Size, device as device, dtype as dtype, layout as layout
from tenfold.as_torch.stand_ins._private_functions import SymInt as SymInt
from tenfold.as_torch.stand_ins.absent import classes, errors, show
from tenfold.dispatch.devices import AcceleratorError as AcceleratorError, OutOfMemoryError as OutOfMemoryError
from tenfold.dispatch.overrides import (
    DisableTorchFunctionSubclass as DisableTorchFunctionSubclass,
    TorchFunctionMode,
    disabled_torch_function as _disabled_torch_function_impl,
)
from tenfold.dispatch.runtime import STATE
from tenfold.futures import Future as Future
from tenfold.plugins import load_operators

_WHY = "compiled programs are in the package tenfold-compile, which is not installed"
globals().update(classes("Graph Node ScriptFunction ScriptMethod ScriptModule Value Block FunctionSchema", _WHY))
_TYPES = "AnyType BoolType ClassType DictType FloatType IntType ListType NoneType NumberType OptionalType StringType "
globals().update(classes(f"{_TYPES} TensorType TupleType", _WHY))
globals().update(classes("PyTorchFileReader PyTorchFileWriter", "tenfold.load and tenfold.save read and write such files"))
globals().update(classes("Event Stream", "streams and events are those of torch.cuda, in the package tenfold-backend-cuda"))
globals().update(classes("SymBool SymFloat", "sizes are known numbers here"))
JITException = errors("Error", Exception)["Error"]
_TensorBase = TensorBase = tenfold.Tensor
StorageBase = tenfold.UntypedStorage
_TensorMeta = type(tenfold.Tensor)
_has_cuda = tenfold.version.cuda is not None
_has_mps = _has_xpu = has_mkl = has_openmp = _has_distributed = False
has_lapack = has_spectral = True
_GLIBCXX_USE_CXX11_ABI = True


def _log_api_usage_once(event: str) -> None:
    """Note that a part of the library was used: nobody is told."""


def _get_tracing_state() -> None:
    """None: no program is being traced."""


def _is_tracing() -> bool:
    """False: no program is being traced."""
    return False


def _are_functorch_transforms_active() -> bool:
    """Whether a transformation such as vmap or grad is running."""
    return bool(STATE.transforms)


def _cuda_isInBadFork() -> bool:
    """False: no child of a process with CUDA."""
    return False


def _is_torch_function_mode_enabled() -> bool:
    """Whether a `TorchFunctionMode` is entered."""
    return any(isinstance(layer, TorchFunctionMode) for layer in STATE.layers)


def _cuda_getDeviceCount() -> int:
    """The number of CUDA devices."""
    return int(tenfold.cuda.device_count())


def _cuda_getDevice() -> int:
    """The number of the current CUDA device."""
    return int(tenfold.cuda.current_device())


def _cuda_getCurrentRawStream(device: int) -> int:
    """The address of the current stream of a CUDA device, for kernels of others."""
    return int(tenfold.cuda.current_stream(device).cuda_stream)


def _cuda_clearCublasWorkspaces() -> None:
    """Free cuBLAS's workspaces: there are none."""


def _get_default_device() -> str:
    """The type of the factories' default device."""
    return tenfold.get_default_device().type


def _get_privateuse1_backend_name() -> str:
    """The name of a backend outside PyTorch, which PyTorch reserves."""
    return "privateuseone"


def _jit_set_profiling_mode(mode: bool) -> bool:
    """Whether compiled programs are profiled: there are none."""
    return False


_jit_set_profiling_executor = _jit_set_profiling_mode


def _jit_can_fuse_on_cpu() -> bool:
    """Whether compiled programs are fused: there are none."""
    return False


_jit_can_fuse_on_gpu = _jit_texpr_fuser_enabled = _jit_nvfuser_enabled = _jit_can_fuse_on_cpu


def _jit_set_texpr_fuser_enabled(enabled: bool) -> None:
    """Choose whether compiled programs are fused: there are none."""


_jit_override_can_fuse_on_cpu = _jit_override_can_fuse_on_gpu = _jit_set_texpr_fuser_enabled
_jit_set_nvfuser_enabled = _jit_set_nvfuser_guard_mode = _jit_set_texpr_fuser_enabled


def _is_alias_of(first: tenfold.Tensor, second: tenfold.Tensor) -> bool:
    """Whether two tensors share a storage.

    >>> x = tenfold.ones(3)
    >>> _is_alias_of(x, x[1:]), _is_alias_of(x, x + 1)
    (True, False)
    """
    return first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr() != 0


def _get_accelerator(check: bool | None = None) -> tenfold.device:
    """The accelerator's device, or the CPU."""
    return tenfold.accelerator.current_accelerator() or tenfold.device("cpu")


class _Functions:
    """The functions of a module of Tenfold's, as attributes of a class: `torch._C._VariableFunctions.add`."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what tools that look around ask of every object
            raise AttributeError(name)
        return getattr(importlib.import_module(self._module), name)

    def __dir__(self) -> list[str]:
        """What tools go through that wrap every function: operators' names, of which each is an attribute."""
        public = {name for name in dir(importlib.import_module(self._module)) if name[0] != "_"}
        if self._module == "tenfold":
            load_operators()
            recurrent = {name + cell for name in ("lstm", "gru", "rnn_tanh", "rnn_relu") for cell in ("", "_cell")}
            public = public & {*dir(tenfold.op)} - {"cpu", "cuda"} | recurrent  # those two are modules and methods
        return sorted({*dir(object), *public})


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """What `to(...)` was asked: (device, dtype, non_blocking, memory_format)."""
    conversion = importlib.import_module("tenfold.nn.conversion")
    return conversion._parse_to(*args, **kwargs)  # type: ignore[no-any-return]


_nn = show(f"{__name__}._nn", {"_parse_to": _parse_to})
_nn.__getattr__ = _Functions("tenfold.nn.functional").__getattr__  # type: ignore[method-assign]
_VariableFunctions = _VariableFunctionsClass = _Functions("tenfold")
_fft, _linalg, _special = _Functions("tenfold.fft"), _Functions("tenfold.linalg"), _Functions("tenfold.special")


def __getattr__(name: str) -> Any:
    if name == "_LinAlgError":
        return importlib.import_module("tenfold.linalg").LinAlgError
    if name in ("is_grad_enabled", "is_autocast_enabled", "default_generator", "_set_deterministic_algorithms"):
        return getattr(tenfold, name)
    if name == "_get_cudnn_enabled":
        return lambda: tenfold.backends.cudnn.enabled
    if name == "_set_grad_enabled":
        return tenfold.set_grad_enabled
    if name == "_get_deterministic_algorithms":
        return tenfold.are_deterministic_algorithms_enabled
    raise AttributeError(f"module 'torch._C' has no attribute {name!r} (torch is Tenfold here, by tenfold.as_torch)")
