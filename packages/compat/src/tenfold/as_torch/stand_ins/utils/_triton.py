"""`torch.utils._triton`: whether PyTorch's compiler could use Triton; it is not here."""

from __future__ import annotations


def has_triton() -> bool:
    """False: no program is compiled through Triton.

    >>> has_triton()
    False
    """
    return False


has_triton_package = has_triton_tma = has_triton_tma_device = has_triton
