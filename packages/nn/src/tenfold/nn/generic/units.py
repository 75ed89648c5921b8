"""Units that have a gradient rule, on devices without a kernel of their own: the body, run on arrays.

A composite that no kernel serves is recorded operator by operator. Its gradient is then put together from those of its
parts, which overflow and round where the rule does not; a kernel lets the rule hold on every device.
"""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.devices import device
from tenfold.dispatch.kernels import ANY_DEVICE, kernel
from tenfold.dispatch.operators import Operator, op
from tenfold.dispatch.runtime import RUNTIME


def _by_body(operator: Operator) -> Any:
    def unit(backend: Any, input: Any, *options: Any) -> Any:
        try:
            return operator.body(RUNTIME["wrap"](input, device(backend.name, backend.index_of(input))), *options)._array
        except Exception:  # noqa: BLE001 - the body says it to the caller
            return NotImplemented

    return unit


for _operator in (
    op.celu, op.elu, op.hardshrink, op.hardsigmoid, op.hardtanh, op.leaky_relu, op.mish, op.softshrink, op.threshold,
):  # fmt: skip
    kernel(_operator, device=ANY_DEVICE)(_by_body(_operator))
