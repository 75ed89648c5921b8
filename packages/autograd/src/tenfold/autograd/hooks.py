"""Hooks on tensors and nodes."""

from __future__ import annotations

import weakref
from typing import Any

from tenfold.autograd.handles import add_hook
from tenfold.autograd.levels import SCOPES
from tenfold.autograd.nodes import Node
from tenfold.autograd.seen import seen
from tenfold.utils.hooks import RemovableHandle


def register_tensor_hook(tensor: Any, hook: Any) -> RemovableHandle:
    """Call `hook(grad)` when the gradient of `tensor` is computed."""
    node = tensor._node
    if node is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not callable(hook):
        raise TypeError(f"a hook must be callable, got {type(hook).__name__}")
    return add_hook(node.extras().setdefault("tensor", {}), hook)


def register_post_accumulate_hook(tensor: Any, hook: Any) -> RemovableHandle:
    """Call `hook(tensor)` after the leaf's `.grad` was updated."""
    node = tensor._node
    if node is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not node.is_leaf:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    node.extras()["leaf"] = tensor  # which the hook is to see, also where the graph alone is left of it
    return add_hook(node.extras().setdefault("post_accumulate", {}), hook)


def retain_grad(tensor: Any) -> None:
    """Keep the gradient of a non-leaf tensor in its `.grad`."""
    node = tensor._node
    if node is None:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if SCOPES.depth:
        raise RuntimeError(
            "You are attempting to call Tensor.retain_grad() inside of a function being transformed by grad or vjp. This is "
            "unsupported: return what you need the gradient of, or take the gradient by it."
        )
    if not node.is_leaf:
        node.extras()["retain"] = weakref.ref(tensor)


def arriving(node: Node, g: Any) -> Any:
    """Run what waits for the gradient that arrives at `node`, whether or not the node runs: tensor hooks, retained gradients.

    Hooks get None where the nodes before gave none. Those of one of several results run here as well, once all have arrived.
    """
    extra = node._extra
    assert extra is not None
    if node.is_output:
        return g
    outputs = extra.get("outputs") if g is not None else None
    if outputs is None:
        return _retained(extra, _hooked(node, extra, g))
    for index, own in list(outputs.items()):
        g[index] = _hooked(node, own, g[index])
    for index, own in list(outputs.items()):
        _retained(own, g[index])
    return g


def _hooked(node: Node, extra: dict[str, Any], g: Any) -> Any:
    """What a tensor's hooks make of its gradient."""
    for hook in list(extra.get("tensor", {}).values()):
        g = seen(g)
        replaced = hook(g)
        if replaced is not None:
            _check_replacement(node, replaced, g)
            g = replaced
    return g


def _retained(extra: dict[str, Any], g: Any) -> Any:
    """Keep a gradient where that was asked for."""
    if "retain" in extra and g is not None:
        tensor = extra["retain"]()
        if tensor is not None:
            # In memory of its own: what arrives may be somebody's tensor, or what `autograd.grad` returns.
            tensor._grad = g.clone() if tensor.grad is None else tensor.grad + g
    return g


def before(node: Node, g: Any) -> Any:
    """Run the node's own prehooks."""
    assert node._extra is not None
    for hook in list(node._extra.get("pre", {}).values()):
        g = seen(g)
        replaced = hook(node._of_outputs(g))
        if replaced is not None:
            g = node._to_results(replaced if isinstance(replaced, (tuple, list)) else (replaced,))
    return g


def accumulated(node: Node, leaf: Any, g: Any) -> None:
    """After a leaf's `.grad` was updated: the tensor's hooks, then the node's."""
    assert node._extra is not None
    for hook in list(node._extra.get("post_accumulate", {}).values()):
        answer = hook(leaf)
        if answer is not None and answer is not leaf:  # which hooks in one expression return, such as lambda p: p.add_(p.grad)
            raise RuntimeError("Tensor post accumulate grad hooks should return None.")
    for hook in list(node._extra.get("post", {}).values()):
        hook((), (g,))


def _check_replacement(node: Node, replaced: Any, g: Any) -> None:
    if not hasattr(replaced, "_array"):
        raise TypeError(f"expected Tensor from a hook of {node.name()}, but hook returned {type(replaced).__name__}")
    if g is not None and (replaced.dtype is not g.dtype or replaced.device != g.device):
        raise RuntimeError(
            f"hook of {node.name()} has changed the type of value: was {g.dtype} on {g.device}, got {replaced.dtype} on "
            f"{replaced.device}"
        )
    if g is not None and replaced._array.shape != g._array.shape:
        raise RuntimeError(
            f"hook of {node.name()} has changed the size of value: got {list(replaced.shape)}, expected {list(g.shape)}"
        )


def after(node: Node, inputs: Any, g: Any) -> Any:
    """Run the node's hooks on (gradients of inputs, gradients of outputs)."""
    assert node._extra is not None
    outputs = node._of_outputs(g)
    for hook in list(node._extra.get("post", {}).values()):  # each sees what the one before it returned
        replaced = hook(tuple(inputs), outputs)
        if replaced is not None:
            expected = len(inputs)
            inputs = replaced if isinstance(replaced, (tuple, list)) else (replaced,)
            if len(inputs) != expected:
                raise RuntimeError(
                    f"hook {getattr(hook, '__name__', hook)!r} of {node.name()} has returned an incorrect number of values "
                    f"(got {len(inputs)}, but expected {expected})"
                )
    return inputs
