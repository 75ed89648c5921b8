"""Functions of modules' parameters under the names that came before `functional_call`: deprecated, as in PyTorch."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

from tenfold.autograd.stateless import functional_call
from tenfold.ops.indexing.joining import stack
from tenfold.tensor.tensor import Tensor

Tensors = tuple[Tensor, ...]


def _deprecated(name: str, instead: str) -> None:
    warnings.warn(
        f"We've integrated functorch: {name} is deprecated. Please use tenfold.func.{instead} instead: "
        "it takes the module and a dictionary of its tensors.",
        FutureWarning,
        stacklevel=3,
    )


class FunctionalModule:
    """A module as a function of its parameters: `f(params, *args)`."""

    def __init__(self, model: Any, tracked: bool) -> None:
        self.stateless_model = copy.deepcopy(model)
        self.param_names = tuple(name for name, _ in self.stateless_model.named_parameters())
        self.buffer_names = tuple(name for name, _ in self.stateless_model.named_buffers())
        self.tracked = tracked

    def parameters(self) -> Tensors:
        """The parameters of the copied module, as the function takes them."""
        given = copy.deepcopy(tuple(self.stateless_model.parameters()))
        return tuple(p.requires_grad_(p.requires_grad and self.tracked) for p in given)

    def buffers(self) -> Tensors:
        """The buffers of the copied module, as the function takes them."""
        return copy.deepcopy(tuple(self.stateless_model.buffers()))

    def __call__(self, params: Any, *args: Any, **kwargs: Any) -> Any:
        return self._run(dict(zip(self.param_names, params, strict=True)), args, kwargs)

    def _run(self, tensors: dict[str, Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return functional_call(self.stateless_model, tensors, args, kwargs)


class FunctionalModuleWithBuffers(FunctionalModule):
    """A module as a function of its parameters and buffers: `f(params, buffers, *args)`."""

    def __call__(self, params: Any, buffers: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = {**dict(zip(self.param_names, params, strict=True)), **dict(zip(self.buffer_names, buffers, strict=True))}
        return self._run(tensors, args, kwargs)


def make_functional(model: Any, disable_autograd_tracking: bool = False) -> tuple[FunctionalModule, Tensors]:
    """(f, params): the module as a function `f(params, *args)`. Deprecated: `functional_call` does the same without a copy.

    Raises RuntimeError for a module with buffers.
    """
    _deprecated("make_functional", "functional_call")
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead, or "
            "functional_call"
        )
    made = FunctionalModule(model, not disable_autograd_tracking)
    return made, made.parameters()


def make_functional_with_buffers(
    model: Any, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """(f, params, buffers): the module as a function `f(params, buffers, *args)`. Deprecated for `functional_call`."""
    _deprecated("make_functional_with_buffers", "functional_call")
    made = FunctionalModuleWithBuffers(model, not disable_autograd_tracking)
    return made, made.parameters(), made.buffers()


def combine_state_for_ensemble(models: Any) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """(f, params, buffers) of equal modules, each tensor stacked along a new first dimension. Deprecated for
    `stack_module_state`.

    Raises RuntimeError when there are none, or when classes or training modes differ.
    """  # fmt: skip
    _deprecated("combine_state_for_ensemble", "stack_module_state")
    models = list(models)
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or not any(m.training for m in models)):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    functions = [FunctionalModuleWithBuffers(m, True) for m in models]
    params = zip(*[f.parameters() for f in functions])
    buffers = zip(*[f.buffers() for f in functions])
    return functions[0], tuple(stack(list(p)) for p in params), tuple(stack(list(b)) for b in buffers)


def functional_init(model_class: Any, ensemble_shape: Any = (), device: Any = "cpu") -> Callable[..., Any]:
    """A maker of models as functions: `functional_init(Net, (B,))(*args)` gives (weights, f, names), where each weight has those
    of B models along its first dimension, and `f(weights, args)` runs one model. `ensemble_shape` () makes one model.

    Raises ValueError for more than one dimension of models, or none of them.
    """  # fmt: skip

    def made(*args: Any, **kwargs: Any) -> Any:
        function, models = _models(model_class, ensemble_shape, device, args, kwargs)
        weights = _stacked([tuple(m.parameters()) for m in models], ensemble_shape)
        return weights, lambda params, inputs: FunctionalModule.__call__(function, params, *inputs), function.param_names

    return made


def functional_init_with_buffers(model_class: Any, ensemble_shape: Any = (), device: Any = "cpu") -> Callable[..., Any]:
    """The same for models with buffers: (weights, buffers, f, weights' names, buffers' names), with `f(weights, buffers, args)`.

    Raises ValueError as `functional_init`.
    """

    def made(*args: Any, **kwargs: Any) -> Any:
        function, models = _models(model_class, ensemble_shape, device, args, kwargs)
        weights = _stacked([tuple(m.parameters()) for m in models], ensemble_shape)
        buffers = _stacked([tuple(m.buffers()) for m in models], ensemble_shape)
        names = function.param_names, function.buffer_names
        return weights, buffers, lambda params, buffers, inputs: function(params, buffers, *inputs), *names

    return made


def _models(model_class: Any, shape: Any, device: Any, args: Any, kwargs: Any) -> tuple[FunctionalModuleWithBuffers, list[Any]]:
    if len(shape) > 1 or (len(shape) == 1 and shape[0] <= 0):
        raise ValueError(f"functional_init: expected ensemble_shape () or (number of models,), got {tuple(shape)}")
    models = [model_class(*args, **kwargs).to(device) for _ in range(shape[0] if shape else 1)]
    return FunctionalModuleWithBuffers(models[0], False), models


def _stacked(tensors: list[Tensors], shape: Any) -> Tensors:
    return tuple(stack([t.detach() for t in of_each]) for of_each in zip(*tensors)) if shape else tensors[0]


__all__ = [
    "combine_state_for_ensemble", "functional_init", "functional_init_with_buffers", "make_functional",
    "make_functional_with_buffers",
]  # fmt: skip
