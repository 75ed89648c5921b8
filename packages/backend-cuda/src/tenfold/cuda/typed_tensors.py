"""PyTorch's typed tensor classes of the device "cuda": `tenfold.cuda.FloatTensor` and its kin."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch import devices
from tenfold.ops.creation.legacy import TYPED as CPU_TYPED, _TypedTensor, legacy_tensor
from tenfold.tensor.tensor import Tensor


class _TypedCudaTensor(_TypedTensor):
    """The class of `cuda.FloatTensor` and its kin: calls make tensors, which are instances by dtype and device."""

    is_cuda = True

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype and instance.device.type == "cuda"

    def __call__(cls, *data: Any, device: Any = None) -> Tensor:
        if device is not None and devices.device(device).type != "cuda":
            raise RuntimeError(f"legacy constructor expects device type: cuda but device type: {device} was passed")
        return legacy_tensor(data, "cuda" if device is None else device, cls.dtype, cls.__name__)


TYPED: dict[str, Any] = {
    name: _TypedCudaTensor(name, (), {"dtype": kind.dtype, "__module__": "tenfold.cuda"}) for name, kind in CPU_TYPED.items()
}
