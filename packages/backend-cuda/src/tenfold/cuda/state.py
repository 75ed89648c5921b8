"""What programs ask of the device beside memory and streams: initialization, architectures, peers, random state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tenfold.cuda import runtime, seeding
from tenfold.cuda.architectures import TESTED
from tenfold.cuda.devices import device_count, get_device_capability, index_of, is_available
from tenfold.tensor.tensor import Tensor


def init() -> None:
    """Find the device now rather than at its first use.

    Raises: RuntimeError that says what is missing where there is none.
    """
    runtime.current()


def is_initialized() -> bool:
    """Whether the device has been used in this process."""
    return runtime._state["runtime"] is not None


def get_arch_list() -> list[str]:
    """The architectures that kernels are tested to compile for, where there is a device; [] where there is none.

    Kernels are compiled at their first use, for the GPU that is there, also for another architecture that Triton knows.
    """
    return [f"sm_{capability}" for capability in TESTED] if is_available() else []


def get_gencode_flags() -> str:
    """`get_arch_list` as options of nvcc."""
    return " ".join(f"-gencode compute=compute_{a[3:]},code={a}" for a in get_arch_list())


def ipc_collect() -> None:
    """Nothing to collect: tensors are not sent to other processes in device memory."""


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether one GPU can read another's memory.

    Raises: AssertionError for a number that no GPU has; RuntimeError without a GPU.
    """
    first, second = index_of(device), index_of(peer_device)
    if runtime.is_replaced() or first == second:
        return False
    return bool(runtime.current().module.cuda.runtime.deviceCanAccessPeer(first, second))


def is_current_stream_capturing() -> bool:
    """Whether the current stream's work is being recorded into a graph."""
    if not is_initialized() or runtime.is_replaced():
        return False
    return bool(runtime.current().module.cuda.get_current_stream().is_capturing())


def is_tf32_supported() -> bool:
    """Whether the current GPU has TF32 units: from compute capability 8.0 on."""
    return is_available() and get_device_capability() >= (8, 0)


def current_blas_handle() -> int:
    """cuBLAS's handle of the current GPU as a number."""
    if runtime.is_replaced():
        raise RuntimeError("current_blas_handle: this process interprets kernels, products are NumPy's")
    return int(runtime.current().module.cuda.get_cublas_handle())


class device_of:  # noqa: N801 - PyTorch's name
    """Run a block with the GPU of a tensor as the current one; a tensor that is on none changes nothing."""

    def __init__(self, obj: Any) -> None:
        self.idx = obj.device.index if getattr(obj, "is_cuda", False) else -1
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx >= 0:
            self.prev_idx = int(runtime.current().current_index())
            runtime.current().set_current(self.idx)

    def __exit__(self, *exc: object) -> None:
        if self.idx >= 0:
            runtime.current().set_current(self.prev_idx)


def get_rng_state(device: Any = "cuda") -> Tensor:
    """The state of a GPU's random numbers: 16 bytes, its seed and how far it was drawn from."""
    return seeding.state_of(index_of(device))


def get_rng_state_all() -> list[Tensor]:
    """`get_rng_state` of every GPU."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Put a GPU's random numbers back to a state that `get_rng_state` gave."""
    seeding.default_generator(index_of(device)).set_state(new_state)


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """`set_rng_state` with the states of all GPUs."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
