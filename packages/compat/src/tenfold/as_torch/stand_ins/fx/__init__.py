"""What libraries import from below `torch.fx` and Tenfold's graphs have not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.as_torch.stand_ins.absent import show, show_missing

_WHY = "Tenfold's graphs are recorded on proxies (torch.fx.symbolic_trace), without symbolic shapes or operators of aten"


def get_proxy_mode() -> None:
    """None: no graph is being made of operators."""


def compatibility(is_backward_compatible: bool) -> Callable[[Any], Any]:
    """A decorator that leaves a function as it is: a promise of PyTorch's developers."""
    return lambda function: function


show(f"{__name__}._compatibility", {"compatibility": compatibility})
show_missing(
    __name__,
    {
        "experimental": "",
        "experimental.proxy_tensor": "make_fx",
        "experimental.symbolic_shapes": "ShapeEnv SymNode guard_size_oblivious",
        "traceback": "preserve_node_meta",
    },
    _WHY,
)
globals()["experimental"].proxy_tensor.get_proxy_mode = get_proxy_mode
