"""`torch.utils.flop_counter`: the floating-point operations of products, convolutions and attention, as they are called.

A multiplication and an addition count as two. Operators of other kinds count as none, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from tenfold.dispatch.overrides import TorchFunctionMode

__all__ = ["FlopCounterMode"]


def _product(result: Any, input: Any, other: Any, *rest: Any) -> int:
    return 2 * result.numel() * int(input.shape[-1])


def _added_product(result: Any, input: Any, first: Any, *rest: Any) -> int:
    return 2 * result.numel() * int(first.shape[-1])


def _convolution(result: Any, input: Any, weight: Any, *rest: Any) -> int:
    return 2 * result.numel() * prod(weight.shape[1:])


def _transposed(result: Any, input: Any, weight: Any, *rest: Any) -> int:
    return 2 * input.numel() * prod(weight.shape[1:])  # type: ignore[no-any-return]


def _attention(result: Any, query: Any, key: Any, value: Any, *rest: Any) -> int:
    *batch, length, width = query.shape
    return 2 * prod(batch) * int(length) * int(key.shape[-2]) * int(width + value.shape[-1])


COUNTED: dict[str, Callable[..., int]] = {
    **dict.fromkeys(("mm", "matmul", "bmm", "mv", "dot", "linear", "__matmul__"), _product),
    **dict.fromkeys(("addmm", "baddbmm", "addmv"), _added_product),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _convolution),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), _transposed),
    "scaled_dot_product_attention": _attention,
}


class FlopCounterMode(TorchFunctionMode):
    """Counts while entered. `mods`, `depth` are taken for PyTorch's sake: all is counted under "Global".

    Differs from PyTorch: operations of the backward pass are not counted.

    >>> import tenfold
    >>> with FlopCounterMode(display=False) as counter:
    ...     product = tenfold.ones(2, 3) @ tenfold.ones(3, 4)
    >>> counter.get_total_flops()
    48
    """

    def __init__(
        self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: dict[Any, Any] | None = None
    ) -> None:
        super().__init__()
        self.depth, self.display, self.custom_mapping = depth, display, dict(custom_mapping or {})
        self._counts: dict[str, int] = {}

    def __enter__(self) -> Any:
        self._counts = {}
        super().__enter__()
        return self

    def __exit__(self, *exc: object) -> Any:
        ended = super().__exit__(*exc)
        if self.display:
            print(self.get_table())
        return ended

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.op.name if hasattr(func, "op") else func.__name__
        given = (*args, *(kwargs or {}).values())
        if func in self.custom_mapping:
            self._count(name, self.custom_mapping[func](*given, out_val=result))
        elif name in COUNTED:
            self._count(name, COUNTED[name](result, *given))
        return result

    def _count(self, name: str, operations: int) -> None:
        self._counts[name] = self._counts.get(name, 0) + operations

    def get_total_flops(self) -> int:
        """All operations so far."""
        return sum(self._counts.values())

    def get_flop_counts(self) -> dict[str, dict[str, int]]:
        """{"Global": {operator: operations}}."""
        return {"Global": dict(self._counts)}

    def get_table(self, depth: int | None = None) -> str:
        """The operators, their operations, and each one's share of all."""
        total = self.get_total_flops()
        rows = [("Global", total), *((f" - {name}", count) for name, count in self._counts.items())]
        return "\n".join(f"{name:<40} {count:>16,} {count / max(total, 1):>8.2%}" for name, count in rows)
