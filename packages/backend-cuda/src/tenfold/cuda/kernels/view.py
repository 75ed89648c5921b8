"""Views that read the same memory as another dtype; all others are Tenfold's own, by the backend's `as_strided`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import Operator, op


def _by_rule(operator: Operator) -> Callable[..., Any]:
    """The view that the operator's shape rule describes, dtype included."""

    def view(*arguments: Any) -> Any:
        input, *rest = arguments
        geometry = operator.shape_rule(Meta(input.shape, input.dtype, input.strides), *rest)
        now = runtime.current()
        return now.view(input, geometry.shape, geometry.strides, now.memory(input)[2] + geometry.offset, geometry.dtype)

    return view


for _operator in (op.view, op.view_as_real, op.view_as_complex):
    kernel(_operator, device="cuda")(_by_rule(_operator))
