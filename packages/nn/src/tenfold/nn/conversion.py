"""Changing what a module's tensors are: dtype, device, memory format, sharing."""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Callable
from typing import Any, Self

import tenfold
from tenfold import Tensor
from tenfold.__future__ import get_overwrite_module_params_on_conversion, get_swap_module_params_on_conversion
from tenfold.nn.parameter import Parameter, is_lazy
from tenfold.nn.swapping import swap_tensors

__all__: list[str] = []


class Conversion:
    """The methods of `Module` that apply something to every tensor in place."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replaces every tensor's data by `fn(tensor)`; parameters stay the same objects, so optimizers keep hold of them."""
        if recurse:
            for child in self.children():  # type: ignore[attr-defined]
                child._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = _converted(parameter, fn, f"{type(self).__name__}.{name}")
        for name, buffer in self._buffers.items():
            if buffer is not None:
                applied = fn(buffer)
                self._buffers[name] = _still_lazy(buffer, applied) if is_lazy(buffer) else applied
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Moves and casts the tensors: `to(device, dtype, non_blocking)`, `to(dtype)`, `to(tensor)`, `to(memory_format=...)`.

        Only floating and complex tensors are cast, and only 4-d and 5-d ones take the memory format.
        Raises TypeError for a dtype that is neither floating nor complex, RuntimeError for `copy=True`, NotImplementedError for
        tensors on the device "meta", which have nothing that could be moved.
        """
        device, dtype, non_blocking, memory_format = _parse_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}; "
                "cast the single tensors instead."
            )
        if dtype is not None and dtype.is_complex:
            warnings.warn(
                "Complex modules are a new feature under active development whose design may change, and some modules might "
                "not work as expected when using complex tensors as parameters or buffers.",
                stacklevel=2,
            )

        def convert(tensor: Tensor) -> Tensor:
            if tensor.is_meta and device is not None and device.type != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use tenfold.nn.Module.to_empty() instead of "
                    "tenfold.nn.Module.to() when moving module from meta to a different device."
                )
            target = dtype if tensor.is_floating_point() or tensor.is_complex() else None
            if memory_format is not None and tensor.dim() in (4, 5):
                return tensor.to(device=device, dtype=target, non_blocking=non_blocking, memory_format=memory_format)
            return tensor.to(device=device, dtype=target, non_blocking=non_blocking)

        return self._apply(convert)

    def type(self, dst_type: Any) -> Self:
        """Casts all parameters and buffers, integer ones included, to `dst_type`."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def _cast(self, dtype: Any) -> Self:
        return self._apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)

    def float(self) -> Self:
        """Casts the floating parameters and buffers to float32."""
        return self._cast(tenfold.float32)

    def double(self) -> Self:
        """Casts the floating parameters and buffers to float64."""
        return self._cast(tenfold.float64)

    def half(self) -> Self:
        """Casts the floating parameters and buffers to float16."""
        return self._cast(tenfold.float16)

    def bfloat16(self) -> Self:
        """Casts the floating parameters and buffers to bfloat16."""
        return self._cast(tenfold.bfloat16)

    def cpu(self) -> Self:
        """Moves the parameters and buffers to the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Moves the parameters and buffers to a GPU, the current one unless `device` names another."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Moves the parameters and buffers to `device` without their values, as memory still to be filled."""

        def emptied(tensor: Tensor) -> Tensor:
            if is_lazy(tensor):  # stays without a shape, on its new device
                return tenfold.empty(0, device=device, dtype=tensor.dtype)
            return tenfold.empty_like(tensor, device=device)

        return self._apply(emptied, recurse=recurse)

    def share_memory(self) -> Self:
        """Moves the storage of parameters and buffers to shared memory, where other processes can see it."""

        def shared(tensor: Any) -> Any:
            return tensor.share_memory_()

        return self._apply(shared)


def _converted(parameter: Parameter, fn: Callable[[Tensor], Tensor], name: str) -> Parameter:
    """`parameter` (the same object where its kind of memory allows) with `fn` applied to it and to its gradient."""
    with tenfold.no_grad():
        applied = fn(parameter)
    if get_swap_module_params_on_conversion() and not is_lazy(parameter):
        return _swapped(parameter, applied, fn, name)
    grad = parameter.grad
    if _same_kind(parameter, applied):
        parameter.data = applied
        result = parameter
    elif is_lazy(parameter):
        result = _still_lazy(parameter, applied)
    else:
        result = Parameter(applied, parameter.requires_grad)
    if grad is not None:
        with tenfold.no_grad():
            new_grad = fn(grad)
        if result is parameter and _same_kind(grad, new_grad):
            grad.data = new_grad
        else:
            result.grad = new_grad.requires_grad_(grad.requires_grad)
    return result


def _swapped(parameter: Parameter, applied: Tensor, fn: Callable[[Tensor], Tensor], name: str) -> Parameter:
    """`parameter` after it changed places with the converted one, and its gradient likewise."""
    grad = parameter.grad
    _swap(parameter, Parameter(applied, parameter.requires_grad), name)
    parameter.grad = None
    if grad is not None:
        with tenfold.no_grad():
            new_grad = fn(grad).requires_grad_(grad.requires_grad)
        _swap(grad, new_grad, f"{name}.grad")
        parameter.grad = grad
    return parameter


def _swap(old: Tensor, new: Tensor, name: str) -> None:
    try:
        swap_tensors(old, new)
    except Exception as error:
        raise RuntimeError(f"_apply(): Couldn't swap {name}") from error


def _still_lazy(old: Any, applied: Tensor) -> Any:
    """An uninitialized tensor like `old`, on the device and of the dtype of `applied`."""
    return type(old)(old.requires_grad, applied.device, applied.dtype)


def _same_kind(old: Tensor, new: Tensor) -> bool:
    """Whether `old.data = new` is possible and wanted: not across the meta device or layouts."""
    return not get_overwrite_module_params_on_conversion() and bool(old.is_meta == new.is_meta and old.layout == new.layout)


def _parse_to(
    *args: Any,
    device: Any = None,
    dtype: Any = None,
    non_blocking: bool = False,
    copy: bool | None = None,
    memory_format: Any = None,
    **unknown: Any,
) -> tuple[Any, Any, bool, Any]:
    """(device, dtype, non_blocking, memory_format) of the ways to call `Module.to`."""
    if unknown or len(args) > 4:
        raise TypeError(
            f"Module.to: got {', '.join(unknown) or f'{len(args)} positional arguments'}, accepted are "
            "(device, dtype, non_blocking), (dtype, non_blocking), (tensor, non_blocking) and memory_format=."
        )
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        like = rest.pop(0)
        device, dtype = like.device, like.dtype
    elif rest and isinstance(rest[0], tenfold.dtype):
        dtype = rest.pop(0)
    elif rest:
        device = _one_of(rest.pop(0), str, int, tenfold.device)
        dtype = _one_of(rest.pop(0), tenfold.dtype) if rest else dtype
    flags = [_flag(value) for value in rest]
    if len(flags) > 2:
        raise TypeError(f"Module.to: got {len(flags)} flags, accepted are (non_blocking, copy).")
    if copy is not None or len(flags) == 2:
        raise RuntimeError("Module.to() does not accept copy argument: it converts in place; copy.deepcopy(module) copies first")
    non_blocking = flags[0] if flags else non_blocking
    if device is not None and not isinstance(device, tenfold.device):
        device = tenfold.device(device)
    return device, dtype, non_blocking, memory_format


def _one_of(value: Any, *kinds: builtins.type) -> Any:
    """A positional argument that may be None, of one of these types."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, kinds)):
        raise TypeError(
            f"Module.to: got {type(value).__name__} {value!r}, accepted are (device, dtype, non_blocking), (dtype, non_blocking) "
            "and (tensor, non_blocking)."
        )
    return value


def _flag(value: Any) -> builtins.bool:
    if not isinstance(value, bool):
        raise TypeError(
            f"Module.to: got {type(value).__name__} {value!r}, accepted are a device, a floating or complex dtype, or a tensor."
        )
    return value
