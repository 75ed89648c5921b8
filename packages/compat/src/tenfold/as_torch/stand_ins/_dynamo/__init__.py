"""`torch._dynamo`, PyTorch's compiler of Python: its decorators leave functions as they are, and its settings can be set."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tenfold.as_torch.stand_ins.absent import classes, errors, functions, show
from tenfold.as_torch.stand_ins.warnings_once import warn_once
from tenfold.compiler import allow_in_graph, disable, is_compiling, reset, set_stance, substitute_in_graph

_WHY = "programs are compiled by the package tenfold-compile, which is not installed"

config = show(
    f"{__name__}.config",
    {
        "suppress_errors": False,
        "verbose": False,
        "cache_size_limit": 8,
        "recompile_limit": 8,
        "dynamic_shapes": True,
        "capture_scalar_outputs": False,
        "capture_dynamic_output_shape_ops": False,
        "optimize_ddp": True,
        "guard_nn_modules": True,
        "inline_inbuilt_nn_modules": True,
        "accumulated_cache_size_limit": 256,
        "assume_static_by_default": True,
        "automatic_dynamic_shapes": True,
        "force_parameter_static_shapes": True,
        "compiled_autograd": False,
    },
)


class _Patch(contextlib.ContextDecorator):
    """Settings of `config` for the time of a context or a function."""

    def __init__(self, *setting: Any, **settings: Any) -> None:
        given = {} if not setting else dict(setting[0]) if len(setting) == 1 else {setting[0]: setting[1]}
        self._wanted = {**given, **settings}
        if unknown := [name for name in self._wanted if not hasattr(config, name)]:
            raise AttributeError(f"torch._dynamo.config.patch: {', '.join(unknown)} is no setting")

    def __enter__(self) -> None:
        self._before = {name: getattr(config, name) for name in self._wanted}
        config.__dict__.update(self._wanted)

    def __exit__(self, *error: object) -> None:
        config.__dict__.update(self._before)


config.__dict__["patch"] = patch_dynamo_config = _Patch
assume_constant_result = disallow_in_graph = forbid_in_graph = nonstrict_trace = allow_in_graph
disable_nested_graph_breaks = dont_skip_tracing = run = disable
reset_code_caches = reset


def graph_break(msg: str = "") -> None:
    """End the graph here: there is none."""


def mark_dynamic(t: Any, index: Any, **options: Any) -> None:
    """Say that a size varies, which is always allowed here."""


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Say that a size may vary, which is always allowed here."""


def mark_static(t: Any, index: Any = None) -> None:
    """Say that a size, or every size, stays as it is: nothing is made for it."""


def mark_static_address(t: Any, guard: bool = False) -> None:
    """Say that a tensor keeps its place in memory: nothing is made for it."""


def set_recursion_limit(limit: int) -> None:
    """Choose how deep compiled functions may go: there are none."""


@contextlib.contextmanager
def error_on_graph_break(error_on_graph_break: bool) -> Iterator[None]:
    """A context in which the end of a graph is, or is not, an error: there is no graph."""
    yield


def is_dynamo_disable_recursive(method: Callable[..., Any]) -> bool | None:
    """None: no function was marked as one that is not compiled."""
    return None


def is_dynamo_supported() -> bool:
    """False: Python is not compiled."""
    return False


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """The names of compilers: none."""
    return []


def optimize(*arguments: Any, **options: Any) -> Any:
    """A decorator that returns the function itself."""
    return lambda function: function


optimize_assert = optimize
globals().update(functions("explain export lookup_backend register_backend", _WHY))
globals().update(classes("OptimizedModule", _WHY))
eval_frame = show(
    f"{__name__}.eval_frame", {"OptimizedModule": globals()["OptimizedModule"], "is_dynamo_supported": is_dynamo_supported}
)


def maybe_enable_compiled_autograd(
    should_enable: bool, fullgraph: bool = True, dynamic: bool = True
) -> contextlib.AbstractContextManager[None]:
    """A context in which gradients would be compiled: they are computed as they are."""
    return contextlib.nullcontext()


counters: collections.defaultdict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
utils = show(
    f"{__name__}.utils",
    {
        "counters": counters,  # what was compiled: nothing
        "is_compile_supported": lambda device_type: False,
        "maybe_enable_compiled_autograd": maybe_enable_compiled_autograd,
        "warn_once": warn_once,
    },
)
show(f"{__name__}.trace_rules", {"LEGACY_MOD_INLINELIST": set(), "MOD_INLINELIST": set()})


class TransformGetItemToIndex(contextlib.nullcontext[None]):
    """A context in which tensors are indexed with tensors inside vmap: here they always can be."""


show(f"{__name__}._trace_wrapped_higher_order_op", {"TransformGetItemToIndex": TransformGetItemToIndex})
_DYNAMO = errors("TorchDynamoException", RuntimeError)
_KINDS = (
    "BackendCompilerFailed InternalTorchDynamoError InvalidBackend RecompileError ResetRequired SkipFrame "
    "TensorifyScalarRestartAnalysis TorchRuntimeError UncapturedHigherOrderOpError Unsupported UserError"
)
show(
    f"{__name__}.exc",
    {**_DYNAMO, **errors(_KINDS, _DYNAMO["TorchDynamoException"]), **errors("FailOnRecompileLimitHit", Exception)},
)
__all__ = [
    "allow_in_graph",
    "config",
    "disable",
    "graph_break",
    "is_compiling",
    "mark_dynamic",
    "optimize",
    "reset",
    "set_stance",
    "substitute_in_graph",
]
