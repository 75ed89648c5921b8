"""`backends.cuda.cufft_plan_cache`: the plans of Fourier transforms that CuPy keeps for each GPU and thread."""

from __future__ import annotations

import importlib
from typing import Any


class cuFFTPlanCache:  # noqa: N801 - PyTorch's name
    """The plans of one GPU (None: the current one): `size`, `max_size`, `clear()`."""

    def __init__(self, device_index: int | None) -> None:
        vars(self)["device_index"] = device_index

    def _kept(self) -> Any:
        runtime = importlib.import_module("tenfold.cuda.runtime")
        cupy = runtime.current().module
        if runtime.is_replaced():
            raise RuntimeError("cufft_plan_cache: this process interprets kernels; plans are a GPU's")
        index = vars(self)["device_index"]
        with cupy.cuda.Device(index):
            return cupy.fft.config.get_plan_cache()

    @property
    def size(self) -> int:
        """How many plans are kept."""
        return int(self._kept().get_curr_size())

    @property
    def max_size(self) -> int:
        """How many may be."""
        return int(self._kept().get_size())

    def __setattr__(self, name: str, value: int) -> None:
        if name == "size":
            raise RuntimeError(".size is a read-only property showing the number of plans currently in the cache. To change the "
                               "cache capacity, set cufft_plan_cache.max_size.")  # fmt: skip
        if name != "max_size":
            raise AttributeError(f"cufft_plan_cache has no attribute {name!r}")
        self._kept().set_size(value)

    def clear(self) -> None:
        """Forget the plans."""
        self._kept().clear()


class cuFFTPlanCacheManager(cuFFTPlanCache):  # noqa: N801 - PyTorch's name
    """The plans of the current GPU, and by an index or a device those of another one.

    Raises: RuntimeError for a number that no GPU has.
    """

    def __init__(self) -> None:
        super().__init__(None)

    def __getitem__(self, device: Any) -> cuFFTPlanCache:
        try:
            gpus = importlib.import_module("tenfold.cuda.devices")
        except ModuleNotFoundError:
            raise RuntimeError("cufft_plan_cache: no device index has plans without the package tenfold-backend-cuda") from None
        index, count = device if isinstance(device, int) else gpus.index_of(device), gpus.device_count()
        if not 0 <= index < count:
            raise RuntimeError(f"cufft_plan_cache: expected 0 <= device index < {count}, but got device with index {index}")
        return cuFFTPlanCache(index)
