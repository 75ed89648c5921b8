"""`torch.utils.flop_counter`: the floating-point operations of products, convolutions and attention, as they are carried out.

A multiplication and an addition count as two. Operators of other kinds count as none, as in PyTorch. What is counted is what
runs: the backward pass too, and products inside of other operators.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from math import prod
from typing import Any

from tenfold import Tensor
from tenfold._ops import OpOverload, OpOverloadPacket, ops
from tenfold.utils._python_dispatch import TorchDispatchMode
from tenfold.utils._pytree import tree_map
from tenfold.utils.module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "flop_registry", "register_flop_formula"]

Shape = Iterable[int]
aten = ops.aten
flop_registry: dict[Any, Callable[..., int]] = {}


def _shape_of(value: Any) -> Any:
    return value.shape if isinstance(value, Tensor) else value


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Decorator: a function of an operator's arguments, tensors as their shapes, and `out_shape`, that returns its operations.

    `get_raw`: tensors are handed over as they are, the result as `out_val`.

    >>> from tenfold._ops import ops
    >>> @register_flop_formula(ops.aten.hypot)
    ... def hypot_operations(x, y, *args, out_shape=None, **kwargs):
    ...     return 4 * out_shape.numel()
    >>> import tenfold
    >>> with FlopCounterMode(display=False) as counter:
    ...     length = tenfold.hypot(tenfold.ones(3), tenfold.ones(3))
    >>> counter.get_total_flops(), flop_registry.pop(ops.aten.hypot) is not None
    (12, True)
    """

    def register(formula: Callable[..., int]) -> Callable[..., int]:
        given = formula if get_raw else _of_shapes(formula)
        for target in targets if isinstance(targets, (list, tuple)) else (targets,):
            if not isinstance(target, OpOverloadPacket):
                raise ValueError(
                    f"register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. "
                    f"torch.ops.mylib.foo), got {target} which is of type {type(target)}"
                )
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = given
        return formula

    return register


def _of_shapes(formula: Callable[..., int]) -> Callable[..., int]:
    def of_values(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        args, kwargs, out_shape = tree_map(_shape_of, (args, kwargs, out_val))
        return formula(*args, out_shape=out_shape, **kwargs)

    return of_values


@register_flop_formula(aten.mm)
def mm_flop(a_shape: Any, b_shape: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """(M, K) by (K, N): 2 M K N."""
    m, k = a_shape
    if k != b_shape[0]:
        raise AssertionError(f"matrix multiply: inner dimensions must match, got {k} and {b_shape[0]}")
    return int(2 * m * k * b_shape[1])


@register_flop_formula(aten.addmm)
def addmm_flop(self_shape: Any, a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """As the product alone."""
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.bmm)
def bmm_flop(a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """(B, M, K) by (B, K, N): 2 B M K N."""
    b, m, k = a_shape
    if b != b_shape[0] or k != b_shape[1]:
        raise AssertionError(f"batched matrix multiply: shapes {tuple(a_shape)} and {tuple(b_shape)} do not fit")
    return int(2 * b * m * k * b_shape[2])


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(self_shape: Any, a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """As the product alone."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape: Any, w_shape: Any, out_shape: Any, transposed: bool = False) -> int:
    """N places of the result (of the input, if transposed) by all weights: 2 N prod(places) prod(weight)."""
    places = (x_shape if transposed else out_shape)[2:]
    return int(2 * x_shape[0] * prod(places) * prod(w_shape))


@register_flop_formula(aten.convolution)
def conv_flop(
    x_shape: Any, w_shape: Any, _bias: Any, _stride: Any, _padding: Any, _dilation: Any, transposed: bool, *args: Any,
    out_shape: Any = None, **kwargs: Any,
) -> int:  # fmt: skip
    """As many for a bias as for none."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed)


@register_flop_formula(aten.convolution_backward)
def conv_backward_flop(
    grad_out_shape: Any, x_shape: Any, w_shape: Any, _bias: Any, _stride: Any, _padding: Any, _dilation: Any,
    transposed: bool, _output_padding: Any, _groups: int, output_mask: Any, out_shape: Any = None, **kwargs: Any,
) -> int:  # fmt: skip
    """The input's gradient is a convolution of the forward's size, the weight's one of all channels with all, groups or not."""
    count = conv_flop_count(x_shape, w_shape, grad_out_shape, transposed) if output_mask[0] else 0
    if output_mask[1]:
        moved, fixed = (grad_out_shape, x_shape) if transposed else (x_shape, grad_out_shape)
        count += 2 * moved[1] * prod(w_shape[2:]) * prod(fixed)
    return count


def sdpa_flop_count(query_shape: Any, key_shape: Any, value_shape: Any) -> int:
    """The scores of all queries with all keys, and the means of the values by them."""
    *batch, q, width = query_shape
    return int(2 * prod(batch) * q * key_shape[-2] * (width + value_shape[-1]))


class FlopCounterMode(TorchDispatchMode):
    """Counts while entered, the backward pass too, by module. `mods` is taken for PyTorch's sake: modules are found by running.

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
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self.depth, self.display = depth, display
        self.flop_counts: dict[str, dict[Any, int]] = {}
        given = {k: v if getattr(v, "_get_raw", False) else _of_shapes(v) for k, v in (custom_mapping or {}).items()}
        self.flop_registry = {**flop_registry, **given}
        self.mod_tracker = ModuleTracker()

    def __enter__(self) -> Any:
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))

    def __torch_dispatch__(self, func: OpOverload, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        self._count_flops(func.overloadpacket, result, args, kwargs)
        return result

    def _count_flops(self, packet: OpOverloadPacket, out: Any, args: Any, kwargs: Any) -> Any:
        formula = self.flop_registry.get(packet)
        if formula is not None:
            count = formula(*args, **kwargs, out_val=out)
            for name in self.mod_tracker.parents:
                counts = self.flop_counts.setdefault(name, {})
                counts[packet] = counts.get(packet, 0) + count
        return out

    def get_total_flops(self) -> int:
        """All operations so far."""
        return sum(self.flop_counts.get("Global", {}).values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """{module: {operator: operations}}; all modules together are "Global"."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The modules, their operators, operations and shares of all, down to a depth."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        rows = [("Module", "FLOP", "% Total")]
        for name in sorted(self.flop_counts, key=lambda name: (name != "Global", name)):
            level = 0 if name == "Global" else name.count(".") + 1
            if level > depth:
                continue
            counts = self.flop_counts[name]
            for indent, what, count in [
                (" " * level, name, sum(counts.values())),
                *((f"{' ' * level} - ", k, n) for k, n in counts.items()),
            ]:
                rows.append((f"{indent}{what}", _shown(count, total), f"{count / max(total, 1):.2%}"))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in rows]
        return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])


def _shown(count: int, total: int) -> str:
    """A number of operations in the unit that the total asks for."""
    power = min(max((len(str(total)) - 1) // 3, 0), 6)
    return str(count) if not power else f"{count / 1000**power:.3f}{' KMBTPE'[power]}"
