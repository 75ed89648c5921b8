"""`make_graphed_callables`: functions and modules whose forward and backward passes are CUDA graphs.

Inputs are copied to where the recorded work reads them, and results are read from where it writes them: a result is to be used
before the next call. All passes share one pool of memory, and are recorded in the order in which they are replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenfold.cuda.graphs import CUDAGraph, graph
from tenfold.cuda.pools import MemPool, pool_of
from tenfold.cuda.streams import Stream, current_stream, stream
from tenfold.dispatch.gradmode import enable_grad, no_grad
from tenfold.ops.creation.like import empty_like
from tenfold.tensor.tensor import Tensor

HOOKS = ("_backward_hooks", "_forward_hooks", "_forward_pre_hooks")


class _Recorded:
    """One callable: its graphs, and the tensors that they read and write."""

    def __init__(self, function: Callable[..., Any], sample: Sequence[Any]) -> None:
        self.function = function
        self.inputs = _tensors(function, sample)
        parameters = getattr(function, "parameters", tuple)
        self.parameters = [p for p in parameters() if p.requires_grad]
        self.forward, self.backward = CUDAGraph(), CUDAGraph()
        self.outputs: list[Tensor] = []
        self.structure: Any = None
        self.of_outputs: list[Any] = []  # where backward reads the outputs' gradients; None where one has none
        self.of_sources: list[Any] = []  # where it writes those of inputs and parameters

    @property
    def sources(self) -> list[Tensor]:
        """What gradients are of."""
        return [*self.inputs, *self.parameters]

    def call(self) -> None:
        """The function on the recorded inputs."""
        with enable_grad():
            result = self.function(*self.inputs)
        self.structure = type(result) if isinstance(result, (tuple, list)) else None
        self.outputs = [result] if isinstance(result, Tensor) else list(result)
        if not all(isinstance(x, Tensor) for x in self.outputs):
            raise TypeError("make_graphed_callables: expected a callable that returns a tensor, or a tuple or list of tensors")

    def differentiate(self, allow_unused: bool) -> None:
        """The gradients of the sources, for `of_outputs`."""
        from tenfold.autograd import grad  # of an optional package, which callables with gradients need

        roots = [x for x in self.outputs if x.requires_grad]
        wanted = [s for s in self.sources if s.requires_grad]
        if not roots or not wanted:
            self.of_sources = [None] * len(self.sources)
            return
        given = [g for g in self.of_outputs if g is not None]
        found = iter(grad(roots, wanted, given, allow_unused=allow_unused))
        self.of_sources = [next(found) if s.requires_grad else None for s in self.sources]

    def rebuilt(self, results: Sequence[Tensor]) -> Any:
        """Results as the function returned them."""
        if self.structure is None:
            return results[0]
        fields = hasattr(self.structure, "_fields")
        return self.structure(*results) if fields else self.structure(results)


def _tensors(function: Any, sample: Any) -> list[Tensor]:
    given = [sample] if isinstance(sample, Tensor) else list(sample)
    if not all(isinstance(x, Tensor) for x in given):
        raise TypeError(f"make_graphed_callables: expected sample_args of tensors only, got {[type(x).__name__ for x in given]}")
    if any(b.requires_grad for b in getattr(function, "buffers", tuple)()):
        raise RuntimeError(
            "make_graphed_callables: In any `nn.Module` passed to it, only parameters may be trainable. All buffers must have "
            "``requires_grad=False``."
        )
    if hasattr(function, "parameters") and any(vars(function).get(name) for name in HOOKS):
        raise RuntimeError("make_graphed_callables: modules must not have hooks registered when they are passed; add them later")
    return given


def make_graphed_callables(
    callables: Any, sample_args: Any, num_warmup_iters: int = 3, allow_unused_input: bool = False, pool: Any = None
) -> Any:
    """Callables (one, or a tuple in the order in which they will be run) whose passes are recorded, and replayed when called.

    Modules are changed in place: while their mode of training is that of the recording, `forward` replays. `sample_args` are the
    tensors, or a tuple of such for each callable, whose shapes, dtypes and `requires_grad` all later arguments have to share.

    Raises: RuntimeError where there is no GPU, for modules with hooks or trainable buffers; TypeError for other arguments.
    """
    single = not isinstance(callables, tuple)
    functions = (callables,) if single else callables
    samples = (sample_args,) if single else sample_args
    if len(functions) != len(samples):
        raise ValueError(f"make_graphed_callables: got {len(functions)} callables and sample_args for {len(samples)}")
    recorded = [_Recorded(f, s) for f, s in zip(functions, samples, strict=True)]
    _warm(recorded, num_warmup_iters, allow_unused_input)
    _record(recorded, pool_of(pool), allow_unused_input)
    made = [_attached(r) for r in recorded]
    return made[0] if single else tuple(made)


def _warm(recorded: Sequence[_Recorded], times: int, allow_unused: bool) -> None:
    """Run everything a few times on a side stream, so that what is made at first use is there."""
    side = Stream()
    side.wait_stream(current_stream())
    with stream(side):
        for r in recorded:
            for _ in range(times):
                r.call()
                r.of_outputs = [empty_like(x) if x.requires_grad else None for x in r.outputs]
                r.differentiate(allow_unused)
            r.outputs, r.of_outputs, r.of_sources = [], [], []
    current_stream().wait_stream(side)


def _record(recorded: Sequence[_Recorded], pool: MemPool, allow_unused: bool) -> None:
    for r in recorded:
        with graph(r.forward, pool=pool):
            r.call()
    for r in reversed(recorded):
        r.of_outputs = [empty_like(x) if x.requires_grad else None for x in r.outputs]
        if any(g is not None for g in r.of_outputs):
            with graph(r.backward, pool=pool):
                r.differentiate(allow_unused)
        else:
            r.of_sources = [None] * len(r.sources)
        r.outputs = [x.detach() for x in r.outputs]


def _replaying(r: _Recorded) -> Callable[..., Any]:
    """The function that replays, differentiable."""
    from tenfold.autograd import Function  # as above

    class Graphed(Function):  # type: ignore[misc, unused-ignore]
        """Replays one pass, and in its backward the other."""

        @staticmethod
        def forward(ctx: Any, *arguments: Any) -> Any:
            for place, given in zip(r.inputs, arguments[: len(r.inputs)], strict=True):
                if place.data_ptr() != given.data_ptr():
                    with no_grad():
                        place.copy_(given)
            r.forward.replay()
            results = [x.detach() for x in r.outputs]
            ctx.mark_non_differentiable(*[x for x, g in zip(results, r.of_outputs, strict=True) if g is None])
            return tuple(results)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            for place, given in zip(r.of_outputs, grads, strict=True):
                if place is not None and place.data_ptr() != given.data_ptr():
                    place.copy_(given)
            r.backward.replay()
            return tuple(None if g is None else g.detach() for g in r.of_sources)

    def call(*arguments: Any) -> Any:
        if len(arguments) != len(r.inputs):
            raise TypeError(f"a graphed callable takes {len(r.inputs)} tensors, as when it was recorded, got {len(arguments)}")
        for place, given in zip(r.inputs, arguments, strict=True):
            if place.shape != given.shape or place.dtype is not given.dtype or place.device != given.device:
                raise ValueError(
                    f"a graphed callable was recorded for {place.dtype} of shape {tuple(place.shape)} on {place.device}, got "
                    f"{given.dtype} of shape {tuple(given.shape)} on {given.device}; record another one for it"
                )
        return r.rebuilt(Graphed.apply(*arguments, *r.parameters))

    return call


def _attached(r: _Recorded) -> Any:
    """The callable that replays; a module gets it for a `forward`, and keeps its own for the other mode."""
    replaying = _replaying(r)
    module: Any = r.function
    if not hasattr(module, "parameters"):
        return replaying
    mode, plain = module.training, module.forward

    def forward(*arguments: Any, **options: Any) -> Any:
        return replaying(*arguments) if module.training == mode and not options else plain(*arguments, **options)

    module.forward = forward
    return module
