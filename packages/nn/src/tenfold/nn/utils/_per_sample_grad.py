"""Each example's own gradient of a module's parameters, by `vmap` over examples that each have parameters to themselves."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from tenfold import Tensor
from tenfold.autograd.pytree import flatten, tree_map, unflatten
from tenfold.autograd.stateless import functional_call
from tenfold.autograd.vmap import vmap
from tenfold.nn.layers.rnn.layers import RNNBase
from tenfold.nn.module import Module
from tenfold.nn.utils.rnn import PackedSequence

__all__ = ["call_for_per_sample_grads"]


def call_for_per_sample_grads(
    module: Any, *, batch_size: Any = None, loss_reduction: str = "sum", batch_first: bool = True
) -> Callable[..., Any]:
    """The module's call, after which a backward pass leaves each example's gradient in every parameter's `grad_sample`.

    Shape: `grad_sample` (batch, *sizes of the parameter); `grad` is not touched. Tensors among the arguments whose
    batch dimension (the first, or the second without `batch_first`) has the batch's size are taken apart into examples.
    `loss_reduction` says how the loss that is differentiated puts the examples together: "sum" or "mean".

    Raises: RuntimeError for what is no module, for a batch size that is not one or that inputs contradict, and for
    parameters that have a `grad_sample` already.

    >>> import tenfold
    >>> layer = tenfold.nn.Linear(2, 1, bias=False)
    >>> call_for_per_sample_grads(layer)(tenfold.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    >>> layer.weight.grad_sample
    tensor([[[1., 2.]],
    <BLANKLINE>
            [[3., 4.]]])
    """
    _check(module, batch_size, loss_reduction)

    @functools.wraps(module.forward)
    def call(*args: Any, **kwargs: Any) -> Any:
        _require_fresh(module)
        size = _size_of(args, kwargs, batch_first) if batch_size is None else batch_size
        scale = size if loss_reduction == "mean" else 1
        own = {name: _of_each(p, size, scale) for name, p in module.named_parameters() if p.requires_grad}
        return _by_example(module, own, size, 0 if batch_first else 1, args, kwargs)

    return call


def _check(module: Any, batch_size: Any, loss_reduction: str) -> None:
    if not isinstance(module, Module):
        raise RuntimeError(f"Module passed must be nn.Module, got {type(module).__name__}")
    if batch_size is not None and (not isinstance(batch_size, int) or isinstance(batch_size, bool)):
        raise RuntimeError(f"Batch size passed must be None or an integer, got {type(batch_size).__name__}")
    if batch_size is not None and batch_size < 1:
        raise RuntimeError(f"Batch size must be positive, got {batch_size}")
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(f"Expected loss_reduction argument to be sum or mean, got {loss_reduction!r}")


def _require_fresh(module: Any) -> None:
    for name, p in module.named_parameters():
        if getattr(p, "grad_sample", None) is not None and p.requires_grad:
            raise RuntimeError(
                "Current Expanded Weights accumulates the gradients, which will be incorrect for multiple calls without "
                f"clearing gradients: delete {name}.grad_sample before the call"
            )


def _size_of(args: Any, kwargs: Any, batch_first: bool) -> int:
    dim, found = 0 if batch_first else 1, None
    for leaf in flatten((args, kwargs))[0]:
        if isinstance(leaf, Tensor) and leaf.dim() > dim:
            found = leaf.shape[dim] if found is None else found
            if leaf.shape[dim] != found:
                raise RuntimeError(
                    f"When computing batch size, found at least one input with batch size {found} and one with batch size "
                    f"{leaf.shape[dim]}: say which it is by batch_size="
                )
    if found is None:
        raise RuntimeError(
            "Unable to find a tensor in the passed args and kwargs. They may not be pytree-able and so ExpandedWeights cannot "
            "compute the batch size from the inputs: say it by batch_size="
        )
    return int(found)


def _of_each(parameter: Any, size: int, scale: int) -> Any:
    """The parameter once for each example, whose gradients are kept with the parameter."""
    own = parameter.detach().expand(size, *parameter.shape).requires_grad_()

    def keep(tensor: Any) -> None:
        gradient, tensor.grad = tensor.grad * scale, None
        before = getattr(parameter, "grad_sample", None)
        parameter.grad_sample = gradient if before is None else before + gradient

    own.register_post_accumulate_grad_hook(keep)
    return own


def _by_example(module: Any, own: Any, size: int, dim: int, args: Any, kwargs: Any) -> Any:
    recurrent = isinstance(module, RNNBase)
    opened, rebuild = _opened(args, size, dim)
    leaves, spec = flatten((opened, kwargs))
    places = _places(args, recurrent, leaves, spec, size, dim)

    def one(parameters: Any, *examples: Any) -> Any:
        whole = [x if place is None else x.unsqueeze(place) for x, place in zip(examples, places)]
        inner, named = unflatten(whole, spec)
        return functional_call(module, parameters, rebuild(inner), named)

    def examples_apart(parameters: Any, *examples: Any) -> Any:
        result = one(parameters, *examples)
        if not recurrent:
            return tree_map(lambda x: x.squeeze(dim), result)
        return result[0].squeeze(dim), tree_map(lambda x: x.squeeze(1), result[1])  # states have the batch second

    out_dims: Any = (dim, 1) if recurrent else dim
    return vmap(examples_apart, in_dims=(0, *places), out_dims=out_dims, randomness="different")(own, *leaves)


def _places(args: Any, recurrent: bool, leaves: list[Any], spec: Any, size: int, dim: int) -> tuple[int | None, ...]:
    """The batch dimension of each leaf: of a recurrent layer's states always the second."""
    states = len(flatten(args[0])[0]) if recurrent and args else len(leaves)
    wanted = [dim if i < states else 1 for i in range(len(leaves))]
    return tuple(d if isinstance(x, Tensor) and x.dim() > d and x.shape[d] == size else None for x, d in zip(leaves, wanted))


def _opened(args: tuple[Any, ...], size: int, dim: int) -> tuple[list[Any], Callable[[Any], tuple[Any, ...]]]:
    """The arguments with the tensors of dataclasses laid open, and the function that puts these together again."""
    opened: list[Any] = []
    for x in args:
        if isinstance(x, PackedSequence):
            raise RuntimeError("call_for_per_sample_grads: packed sequences are not taken apart; give a padded tensor")
        held = _tensors_of(x)
        for name, value in held.items():
            if value.dim() <= dim or value.shape[dim] != size:
                raise RuntimeError(
                    "Expected ExpandedWeights to have batch size matching input but got input batch size of "
                    f"{value.shape[dim] if value.dim() > dim else None}, in {name}, with ExpandedWeight of batch size {size}"
                )
        opened.append(held or x)
    return opened, lambda inner: tuple(dataclasses.replace(x, **y) if _tensors_of(x) else y for x, y in zip(args, inner))


def _tensors_of(value: Any) -> dict[str, Any]:
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return {}
    named = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    return {name: v for name, v in named.items() if isinstance(v, Tensor)}
