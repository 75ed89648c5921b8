"""`torch.fx`: what of it says something without a graph; graphs of programs are in tenfold-compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tenfold.as_torch.stand_ins.absent import classes, functions, show, show_missing

Named = TypeVar("Named", str, Callable[..., Any])
_WHY = "graphs of programs (torch.fx) are in the package tenfold-compile, which is not installed"


def wrap(fn_or_name: Named) -> Named:
    """Mark a function that a graph shows as one call; it stays what it is.

    >>> wrap("len")
    'len'
    """
    given: Any = fn_or_name
    if not isinstance(given, str) and not callable(given):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function that a graph must keep; it stays what it is."""
    return fn


def is_fx_tracing() -> bool:
    """False: no graph is being made."""
    return False


def get_proxy_mode() -> None:
    """None: no graph is being made."""


globals().update(classes("CodeGen Graph GraphModule Interpreter Node Proxy Tracer Transformer PH", _WHY))
globals().update(functions("symbolic_trace replace_pattern map_arg map_aggregate", _WHY))
_PATHS = {
    "node": "Node map_arg map_aggregate has_side_effect",
    "proxy": "Proxy",
    "graph": "CodeGen Graph",
    "graph_module": "GraphModule",
    "interpreter": "Interpreter Transformer",
    "subgraph_rewriter": "replace_pattern",
    "_symbolic_trace": "Tracer symbolic_trace wrap is_fx_tracing",
}
for _path, _names in _PATHS.items():
    globals()[_path] = show(f"{__name__}.{_path}", {name: globals()[name] for name in _names.split()})
show_missing(
    __name__,
    {
        "experimental": "",
        "experimental.proxy_tensor": "make_fx",
        "experimental.symbolic_shapes": "ShapeEnv SymNode guard_size_oblivious",
        "traceback": "preserve_node_meta",
        "passes": "",
        "passes.shape_prop": "ShapeProp",
    },
    _WHY,
)
globals()["experimental"].proxy_tensor.get_proxy_mode = get_proxy_mode
__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "has_side_effect", "map_arg",
           "replace_pattern", "symbolic_trace", "wrap"]  # fmt: skip
