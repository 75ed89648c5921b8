"""`sdpa_kernel`: a choice among PyTorch's implementations of attention, of which Tenfold's devices have one each."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator, Sequence

from tenfold.nn.attention.flash_implementations import (
    activate_flash_attention_impl,
    current_flash_attention_impl,
    list_flash_attention_impls,
    register_flash_attention_impl,
    restore_flash_attention_impl,
)

__all__ = [
    "WARN_FOR_UNFUSED_KERNELS", "SDPBackend", "activate_flash_attention_impl", "current_flash_attention_impl",
    "list_flash_attention_impls", "register_flash_attention_impl", "restore_flash_attention_impl", "sdpa_kernel",
]  # fmt: skip

WARN_FOR_UNFUSED_KERNELS = False  # a program may set it; there is one implementation for each device here, and nothing to tell


class SDPBackend(enum.IntEnum):
    """PyTorch's implementations of `scaled_dot_product_attention`."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_chosen: list[tuple[SDPBackend, ...]] = []


@contextlib.contextmanager
def sdpa_kernel(backends: SDPBackend | Sequence[SDPBackend], set_priority: bool = False) -> Iterator[None]:
    """A context in which attention may use only these implementations; the result is the same with each.

    Raises: AssertionError for what is no SDPBackend.

    >>> with sdpa_kernel(SDPBackend.MATH):
    ...     _cur_sdpa_kernel_backends()
    [<SDPBackend.MATH: 0>]
    """
    given = (backends,) if isinstance(backends, SDPBackend) else tuple(backends)
    if not given or not all(isinstance(one, SDPBackend) for one in given):
        raise AssertionError(f"Backend must be an instance of SDPBackend or a list of SDPBackend instances, got {backends!r}")
    _chosen.append(given)
    try:
        yield
    finally:
        _chosen.pop()


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """The implementations that attention may use here."""
    return list(_chosen[-1]) if _chosen else [backend for backend in SDPBackend if backend > 0 or backend == SDPBackend.MATH]
