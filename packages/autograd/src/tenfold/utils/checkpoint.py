"""Activation checkpointing: the backward pass computes a part of the forward pass again instead of keeping its results.

Two ways. The reentrant one is a custom Function that runs the part without recording, and in its backward pass runs it
again, recorded, and goes backward through that. The other lets the part record, but saves numbered placeholders instead
of tensors; the first of them that is asked for makes the part run again, and what that run saves takes their places.

Source: T. Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from tenfold.autograd import engine
from tenfold.autograd.function import Function
from tenfold.autograd.saved import hooked
from tenfold.autograd.surroundings import (
    Surroundings,
    _infer_device_type,
    get_device_states,
    set_device_states,
)
from tenfold.autograd.tape import backward
from tenfold.dispatch.gradmode import enable_grad, no_grad
from tenfold.dispatch.runtime import STATE
from tenfold.ops.creation.factories import empty
from tenfold.tensor.tensor import Tensor
from tenfold.utils._selective_checkpoint import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


class CheckpointError(RuntimeError):
    """What the second run computed is not what the first did."""


class _Settings(threading.local):
    early_stop = True
    debug: bool | None = None


_SETTINGS = _Settings()


def noop_context_fn() -> Contexts:
    """No contexts around the two runs."""
    return nullcontext(), nullcontext()


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Within the block, whether a second run ends as soon as it has saved all that is needed."""
    before, _SETTINGS.early_stop = _SETTINGS.early_stop, enable
    try:
        yield
    finally:
        _SETTINGS.early_stop = before


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Within the block, whether errors tell what both runs did, whatever `debug=` says."""
    before, _SETTINGS.debug = _SETTINGS.debug, enabled
    try:
        yield
    finally:
        _SETTINGS.debug = before


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn, determinism_check: str = "default", debug: bool = False,
    early_stop: bool = True, **kwargs: Any,
) -> Any:  # fmt: skip
    """`function(*args)`, whose intermediate results are computed again in the backward pass.

    Args:
        use_reentrant: which way (see the module); False is recommended and will become the default.
        preserve_rng_state (in kwargs): whether the second run draws the same random numbers.
        context_fn: makes the contexts for the first and the second run (not for the reentrant way), such as
            `create_selective_checkpoint_contexts`, which keeps the results of some operators.
        determinism_check: "none" does not compare shape, dtype and device of what both runs save.
        debug: tell in errors what both runs saved.
        early_stop: end the second run as soon as it has saved all that is needed.

    Raises CheckpointError when the second run saves other tensors than the first.

    >>> import tenfold
    >>> from tenfold.utils.checkpoint import checkpoint
    >>> x = tenfold.tensor(2.0, requires_grad=True)
    >>> checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False).backward()
    >>> x.grad
    tensor(-1.0331)
    """
    if use_reentrant is None:
        warnings.warn(
            "tenfold.utils.checkpoint: the use_reentrant parameter should be passed explicitly. use_reentrant=False is "
            "recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        return _without_reentering(
            function, args, kwargs, preserve, context_fn, determinism_check, debug, early_stop and _SETTINGS.early_stop
        )
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return CheckpointFunction.apply(function, preserve, *args)


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any) -> Any:
    """A sequence of modules in `segments` checkpointed parts; the last part is run as usual."""
    if use_reentrant is None:
        warnings.warn(
            "tenfold.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. "
            "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass "
            "use_reentrant=True.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)

    def part(chosen: Sequence[Any]) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            for step in chosen:
                x = step(x)
            return x

        return run

    size = len(steps) // segments
    for i in range(segments - 1):
        chosen = steps[i * size : (i + 1) * size]
        input = checkpoint(part(chosen), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return part(steps[(segments - 1) * size :])(input)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, tensors as fresh leaves that require gradients where the given ones do."""
    made = []
    for x in inputs:
        if isinstance(x, Tensor):
            fresh = x.detach()
            if x.requires_grad:
                fresh.requires_grad_(True)
            x = fresh
        made.append(x)
    return tuple(made)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn where no tensor among the inputs asks for gradients, so that a reentrant checkpoint will have none."""
    if not any(isinstance(value, Tensor) and value.requires_grad for value in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


class CheckpointFunction(Function):
    """The reentrant way: runs the part unrecorded, and in its backward pass once more, recorded."""

    @staticmethod
    def forward(ctx: Any, function: Any, preserve: bool, *args: Any) -> Any:
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3)
        ctx.function, ctx.surroundings = function, Surroundings(preserve)
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        if not engine.is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter "
                "to .backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without "
                "passing the `inputs` argument."
            )
        args = list(ctx.others)
        for i, t in zip(ctx.places, ctx.saved_tensors):
            args[i] = t
        inputs = detach_variable(tuple(args))
        with ctx.surroundings.again(), enable_grad():
            outputs = ctx.function(*inputs)
        outputs = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
        pairs = [(t, g) for t, g in zip(outputs, gs) if isinstance(t, Tensor) and t.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([t for t, _ in pairs], [g for _, g in pairs])
        return (None, None, *[x.grad if isinstance(x, Tensor) else None for x in inputs])


# The other way


class _Placeholder:
    """Stands in a node for a saved tensor; `values` holds, for each backward pass, that it was computed again."""

    __slots__ = ("__weakref__", "index")

    def __init__(self, index: int) -> None:
        self.index = index


class _Inputs(Function):
    """Saves the arguments of the part as any node would, so that an outer checkpoint may compute them again, too."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*tensors)
        return anchor.clone()

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        raise AssertionError("the node only keeps tensors")


class _Stop(Exception):
    """All that is needed was computed again."""


class _Part:
    """One checkpointed call: its placeholders, and how to run it again."""

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], preserve: bool) -> None:
        self.function, self.kwargs = function, kwargs
        self.surroundings = Surroundings(preserve)
        self.others = [None if isinstance(a, Tensor) else a for a in args]
        self.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        self.keeper = self._keeper([args[i] for i in self.places])
        self.context: AbstractContextManager[Any] = nullcontext()
        self.early_stop = self.compare = True
        self.debug = self.complete = False  # complete: the first run is over
        self.placeholders: list[weakref.ref[_Placeholder]] = []
        self.described: list[Any] = []
        self.computed: dict[Any, dict[int, Tensor]] = {}  # backward pass: what was computed again and not yet used

    @staticmethod
    def _keeper(tensors: list[Tensor]) -> Any:
        with enable_grad():
            return _Inputs.apply(empty((0,)).requires_grad_(True), *tensors).grad_fn

    def pack(self, tensor: Tensor) -> _Placeholder:
        """In the first run: a number for the tensor."""
        made = _Placeholder(len(self.placeholders))
        self.placeholders.append(weakref.ref(made))
        self.described.append(_described(tensor))
        return made

    def unpack(self, placeholder: _Placeholder) -> Tensor:
        """The tensor of a placeholder, computed again unless this backward pass has done so already."""
        task: Any = engine.TASKS.current
        if task is None or task not in self.computed:
            values = self.run_again()
            if task is None:
                return values[placeholder.index]
            self.computed[task] = values
            task.callbacks.append(lambda: self.computed.pop(task, None))
        value = self.computed[task].pop(placeholder.index, None)
        if value is None:
            raise CheckpointError(
                "tenfold.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you are "
                "calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue with "
                "details on your use case."
            )
        return value

    def arguments(self) -> list[Any]:
        """The arguments of the first run."""
        args = list(self.others)
        for i, t in zip(self.places, self.keeper.saved_tensors):
            args[i] = t
        return args

    def run_again(self) -> dict[int, Tensor]:
        """Run the part; what it saves, by number."""
        found: dict[int, Tensor] = {}
        described: list[Any] = []
        needed = len(self.placeholders)
        early_stop = self.early_stop or not self.complete  # a backward pass inside the first run needs what it saved so far

        def keep(tensor: Tensor) -> Tensor:
            if len(described) >= needed and not early_stop:
                raise CheckpointError(
                    "tenfold.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                    f"forward pass.{self._debugging(described)}"
                )
            if len(described) < needed:
                if self.placeholders[len(described)]() is not None:
                    found[len(described)] = tensor
                described.append(_described(tensor))
            if early_stop and len(described) == needed:
                raise _Stop
            return tensor

        args = [a.detach().requires_grad_(a.requires_grad) if isinstance(a, Tensor) else a for a in self.arguments()]
        surroundings = self.surroundings.again()
        with hooked((keep, lambda tensor: tensor)), surroundings, self.context, enable_grad(), contextlib.suppress(_Stop):
            self.function(*args, **self.kwargs)
        self._check(described)
        return found

    def _check(self, described: list[Any]) -> None:
        if len(described) != len(self.described):
            raise CheckpointError(
                "tenfold.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.described)}\nNumber of tensors saved during "
                f"recomputation: {len(described)}.{self._debugging(described)}"
            )
        if self.compare:
            wrong = [i for i, (a, b) in enumerate(zip(self.described, described)) if a != b]
            if wrong:
                lines = [
                    f"tensor at position {i}:\nsaved metadata: {self.described[i]}\nrecomputed metadata: {described[i]}"
                    for i in wrong
                ]
                raise CheckpointError(
                    "tenfold.utils.checkpoint: Recomputed values for the following tensors have different metadata than during "
                    "the forward pass.\n" + "\n".join(lines) + self._debugging(described)
                )

    def _debugging(self, described: list[Any]) -> str:
        if not (self.debug if _SETTINGS.debug is None else _SETTINGS.debug):
            return "\nTip: To see a more detailed error message, pass `debug=True` to checkpoint."
        return (
            "\nYou are seeing this error because you passed `debug=True` to checkpoint (or set it for all). Saved in the first "
            f"run: {self.described}. Saved in the second run: {described}."
        )


def _described(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


def _without_reentering(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], preserve: bool, context_fn: Any, determinism_check: str,
    debug: bool, early_stop: bool,
) -> Any:  # fmt: skip
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    first, second = context_fn()
    if not STATE.grad_enabled:
        with first:
            return function(*args, **kwargs)
    part = _Part(function, args, kwargs, preserve)
    part.context, part.early_stop, part.compare, part.debug = second, early_stop, determinism_check == "default", debug
    with hooked((part.pack, part.unpack)), first:
        results = function(*args, **kwargs)
    part.complete = True
    return results


__all__ = [
    "SAC_IGNORED_OPS", "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "SelectiveCheckpointContext",
    "_infer_device_type",
    "check_backward_validity", "checkpoint", "checkpoint_sequential", "create_selective_checkpoint_contexts", "detach_variable",
    "get_device_states", "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "set_device_states",
]  # fmt: skip
