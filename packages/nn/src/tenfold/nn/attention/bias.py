"""Causal masks of attention between sequences of different lengths, as `scaled_dot_product_attention` takes them."""

from __future__ import annotations

import enum
from typing import Any, Self

import tenfold
from tenfold import Tensor
from tenfold.overrides import DisableTorchFunctionSubclass

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(enum.IntEnum):
    """Which corner the diagonal of a causal mask ends in where it is not square."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A causal mask (L, S), True where attention is allowed, made by `causal_upper_left` or `causal_lower_right`."""

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Self:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant)}")
        first = seq_len_kv - seq_len_q if variant == CausalVariant.LOWER_RIGHT else 0
        kept = tenfold.ones(seq_len_q, seq_len_kv, dtype=tenfold.bool).tril(first)
        made: Self = kept.as_subclass(cls)
        made.variant, made.seq_len_q, made.seq_len_kv = variant, seq_len_q, seq_len_kv
        return made

    def _materialize(self, device: Any = None) -> Tensor:
        """The mask as a plain tensor."""
        kept: Tensor = self.as_subclass(Tensor)
        return kept if device is None else kept.to(device)

    def __repr__(self) -> str:  # type: ignore[override]
        return repr(self._materialize())

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Every operator takes the plain mask, on the device of the tensors beside it; a second mask is refused beside it."""
        kwargs = kwargs or {}
        if func is tenfold.nn.functional.scaled_dot_product_attention and (kwargs.get("is_causal") or True in args[5:6]):
            raise ValueError("CausalBias should not be used with causal=True")
        devices = [x.device for x in (*args, *kwargs.values()) if isinstance(x, Tensor) and not isinstance(x, cls)]

        def plain(x: Any) -> Any:
            with DisableTorchFunctionSubclass():
                return x._materialize(devices[0] if devices else None) if isinstance(x, cls) else x

        return func(*map(plain, args), **{name: plain(x) for name, x in kwargs.items()})


def causal_upper_left(*size: int) -> CausalBias:
    """The causal mask whose diagonal begins in the upper left corner, which is `is_causal=True`'s.

    >>> causal_upper_left(2, 3)
    tensor([[ True, False, False],
            [ True,  True, False]])
    """
    return _made(CausalVariant.UPPER_LEFT, size)


def causal_lower_right(*size: int) -> CausalBias:
    """The causal mask whose diagonal ends in the lower right corner, where the last queries are those of the last keys.

    >>> causal_lower_right(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    return _made(CausalVariant.LOWER_RIGHT, size)


def _made(variant: CausalVariant, size: tuple[int, ...]) -> CausalBias:
    if len(size) != 2:
        raise AssertionError(f"{variant.name.lower()} only supports 2D tensors, got {len(size)} sizes")
    return CausalBias(variant, *size)
