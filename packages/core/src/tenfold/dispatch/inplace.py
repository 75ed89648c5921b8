"""Writing into existing tensors: the in-place operators, `out=`, and what a write means for gradients."""

from __future__ import annotations

import warnings
from typing import Any

from tenfold.dispatch.operators import Operator
from tenfold.dispatch.overlap import read_late, refuse_overlap
from tenfold.dispatch.runtime import RUNTIME, STATE
from tenfold.dispatch.services import SERVICES
from tenfold.types import promotion
from tenfold.types.dtypes import type_name
from tenfold.types.memory_format import is_dense


def run_inplace(operator: Operator, values: dict[str, Any]) -> Any:
    """Compute the base operator and write its result into the first argument."""
    base = operator.inplace_of
    assert base is not None
    first = base.params[0].name
    target = values[first]
    if base.name in _UNRECORDED and STATE.grad_enabled and is_refused(target):
        with RUNTIME["no_grad"]():
            return run_inplace(operator, values)
    recording = STATE.grad_enabled and any_node(values.values()) and target.dtype.category > 1
    check_writable(operator.name, target, recording, _may_repeat(base.name, target, values), base.name)
    refuse_overlap(base.name, target, read_late(values))
    if values.get("dtype") not in (None, target.dtype):
        raise RuntimeError(f"{operator.name}: Bad in-place call: {target.dtype} is written, so dtype cannot be {values['dtype']}")
    repeated = target._storage is not None and target._storage.guarded and repeats(target._array)
    at_once = base.body is not None and base.in_place is not None and not (recording or repeated) and target._key.level is None
    if at_once and base.in_place(**values) is not NotImplemented:
        return target
    if recording and not repeated and SERVICES.autograd().record_write(operator, values):
        return target
    if recording or (STATE.grad_enabled and target._key.level is not None):
        # The tape, perhaps that of a lower level, keeps the old value.
        values[first] = snapshot(target)
    try:
        result = base.fn(**values)
    except NotImplementedError:  # what the target cannot hold is said before what is not computed
        if base.promote == "common":
            _refuse_cast(operator.name, promotion.of_values([*values.values()][:2]), target.dtype)
        raise
    if repeated:
        result = _agreed(target, values[first], result, bool(values.get("accumulate")))
    return write_back(operator.name, target, result, any(result is v for v in values.values()))


def is_refused(target: Any) -> bool:
    """Whether a recorded write would be refused: to a leaf, to a view of one, or to one of several views."""
    nodes = [t._node for t in (target, target._base) if t is not None and t._node is not None]
    return any(node.is_leaf for node in nodes) or getattr(target, "_origin", None) is not None


def _may_repeat(name: str, target: Any, values: dict[str, Any]) -> bool:
    """Whether an operator may write to expanded memory."""
    if name in ("tril", "triu"):
        return _batches_follow(target)
    if name == "fill" and hasattr(values["value"], "_array"):
        return False
    return name in _MAY_REPEAT or values.get("src") is target


def _batches_follow(target: Any) -> bool:
    """Whether matrices lie one behind the other in memory, the first dimension aside; up to three dimensions do not matter."""
    shape, strides = target.shape, target.stride()
    expected = shape[-1] * shape[-2] if len(shape) > 3 else 0
    for d in range(len(shape) - 3, -1, -1) if expected else ():
        if strides[d] != expected and (d or (strides[d] and shape[d] != 1)):
            return False
        expected *= shape[d]
    return True


def _agreed(target: Any, before: Any, after: Any, adds: bool) -> Any:
    """The result for elements that share their places: what one of them was given, or all were together, each of them has."""
    for d, (n, step) in enumerate(zip(target._array.shape, target._array.strides)):
        if n == 1 or step:
            continue
        if adds and before.dtype.category:
            after = before + (after - before).sum(d, keepdim=True)
        else:
            changed = before.ne(after).logical_and(before.eq(before).logical_or(after.eq(after)))
            after = after.gather(d, changed.byte().argmax(d, keepdim=True)).expand(before.shape)
    return after


def any_node(given: Any) -> bool:
    for v in given:
        if getattr(v, "_node", None) is not None:
            return True
        if type(v) in (list, tuple) and any_node(v):
            return True
    return False


def snapshot(tensor: Any) -> Any:
    """A copy of the value at the same place in the graph."""
    if tensor._key.level is not None:
        copy = tensor.clone()  # recorded, for the tapes of lower levels
    else:
        with RUNTIME["no_grad"]():
            copy = tensor.clone()
    base = tensor._base
    copy._node = tensor._node if base is None or base._node is None else SERVICES.autograd().way_to(base, tensor)
    return copy


# Writes that may go to expanded memory, since every element gets a value of its own choosing.
_MAY_REPEAT = ("fill", "zero", "masked_fill", "index_put", "index_fill", "fill_diagonal", "threshold")
# Those of them that PyTorch will refuse one day, and how they are written as an assignment.
_DEPRECATED = {
    "masked_fill": "tensor[mask] = scalar",
    "index_put": "tensor[indices] = tensor",
    "index_fill": "tensor[mask] = scalar",
}
# Which PyTorch has no derivatives for: they may write to leaves.
_UNRECORDED = ("logical_not", "logical_and", "logical_or", "logical_xor")
_LEAF = "leaf Variable that requires grad is being used in an in-place operation."
_HINT = "Write under tenfold.no_grad(), or use the out-of-place form"


def check_writable(name: str, target: Any, recording: bool = False, may_repeat: bool = False, by: str = "") -> None:
    """Refuse writes to memory of inference mode and to repeated elements, and recorded ones where no gradient could follow.

    `recording`: whether what is written requires gradients, beside the target. `by`: the out-of-place operator.
    """
    storage = target._storage
    if storage is not None and storage.guarded:
        check_memory(target, may_repeat)
        if by in _DEPRECATED and repeats(target._array):
            warnings.warn(
                f"Use of {by}_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. "
                f"This also applies to advanced indexing e.g. {_DEPRECATED[by]}",
                UserWarning,
                stacklevel=5,
            )
    if not STATE.grad_enabled:
        return
    node, base = target._node, target._base
    if base is not None and (recording or node is not None or base._node is not None):
        origin = getattr(target, "_origin", None)
        if origin is not None:
            raise RuntimeError(forbidden(target, origin, "is being modified inplace"))
        if base._node.is_leaf if base._node is not None else node is not None and not node.is_leaf:
            raise RuntimeError(f"{name}: a view of a {_LEAF} {_HINT}")
    if node is not None and node.is_leaf:
        raise RuntimeError(f"{name}: a {_LEAF} {_HINT}")


def check_memory(target: Any, may_repeat: bool = False) -> None:
    """Refuse inference mode's memory outside of it, and several elements at one place."""
    storage = target._storage
    if storage.inference and not STATE.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. Make a clone to get a normal tensor "
            "before doing inplace update"
        )
    if not may_repeat and target._key.level is None and repeats(target._array):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )


def repeats(array: Any) -> bool:
    """Whether several elements of an array are one place in memory, as expanding makes them."""
    return 0 in array.strides and any(s == 0 and n > 1 for n, s in zip(array.shape, array.strides)) and 0 not in array.shape


_BLOCKS = {
    "no_grad": ("no_grad mode", "with grad mode enabled", "no_grad"),
    "inference": ("inference mode", "in normal mode", "inference_mode"),
}
_REASONS = {
    "several": (
        "This view is the output of a function that returns multiple views. Such functions do not allow the output views to "
        "be modified inplace. You should replace the inplace operation by an out-of-place one."
    ),
    "function": (
        "This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to "
        "handle view+inplace would override the custom backward associated with the custom Function, leading to incorrect "
        "gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function."
    ),
}


def forbidden(view: Any, origin: str, what: str) -> str:
    """Why gradients cannot follow a write to a view of this origin, or to the memory beneath it."""
    if origin in _REASONS:
        node = view._node
        made_by = node.shown.name().removesuffix("Backward0") if node is not None else "the function"
        return f"Output {view.output_nr} of {made_by} is a view and {what}. {_REASONS[origin]}"
    mode, where, block = _BLOCKS[origin]
    if view._node is not None and view._base is not None and not view._node.is_leaf:
        return (
            f"This is a view of a view which was created in {mode} and {what} {where}: the write would not be recorded for its "
            f"base. Make both inside the {block} block, or the first view outside of it, or clone it"
        )
    return (
        f"A view was created in {mode} and {what} {where}. Which of them gradients should see is ambiguous, so this is "
        f"forbidden: make the view and write both inside the {block} block (then the write is not recorded) or both outside it"
    )


def write_back(name: str, target: Any, result: Any, shared: bool = False) -> Any:
    """Put `result` into the memory of `target` and into its place in the graph; `shared` says that it has others there."""
    if tuple(result._array.shape) != tuple(target._array.shape):
        if _broadcasts_to(result._array.shape, target._array.shape):
            result = result.expand(target._array.shape)
        else:
            raise RuntimeError(
                f"{name}: output with shape {list(target._array.shape)} doesn't match the broadcast shape "
                f"{list(result._array.shape)}"
            )
    if result.dtype is not target.dtype:
        _refuse_cast(name, result.dtype, target.dtype)
        result = result.to(target.dtype)
    if target._key.level is not None or result._key.level is not None:
        _write_through(name, target, result)
    else:
        target._key.backend.write(target._array, result._array)
    bump_version(target)
    if STATE.grad_enabled and (result._node is not None or target._node is not None):
        SERVICES.autograd().rebase(target, result, shared, name)
    elif hasattr(target._storage, "detached"):
        SERVICES.autograd().reshaped(target if target._base is None else target._base)
    return target


def _write_through(name: str, target: Any, result: Any) -> None:
    """Inside a transform, tensors are wrappers of values: write into the value of the target, so that its views see it."""
    key = max((t._key for t in (target, result) if t._key.level is not None), key=lambda key: key.level)
    key.transform.write(name, target, result)


def _refuse_cast(name: str, found: Any, held: Any) -> None:
    if not promotion.can_cast(found, held):
        raise RuntimeError(f"{name}: result type {type_name(found)} can't be cast to the desired output type {type_name(held)}")


def _broadcasts_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    if len(shape) > len(target):
        return False
    return all(a in (1, b) for a, b in zip(reversed(shape), reversed(target)))


def bump_version(tensor: Any) -> None:
    """Note that the tensor's memory was written."""
    tensor.untyped_storage().version += 1


def write_out(out: Any, result: Any) -> Any:
    """Write a result into `out=`, resizing it when needed, as PyTorch does."""
    if out._key.level is not None or result._key.level is not None:
        raise RuntimeError("calling out variants is not possible with tensors inside vmap or jvp; use the result instead of out=")
    if result.dtype is not out.dtype and not promotion.can_cast(result.dtype, out.dtype):
        raise RuntimeError(
            f"result type {type_name(result.dtype)} can't be cast to the desired output type {type_name(out.dtype)}"
        )
    if result._key.device is not out._key.device:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but out is on {out._key.device}, not {result._key.device}"
        )
    if out._storage is not None and out._storage.guarded:
        check_memory(out)
    if out._array.shape != result._array.shape:
        if out.numel():
            warnings.warn(
                f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does not "
                f"match the required output shape {list(result.shape)}. This behavior is deprecated, and in a future PyTorch "
                f"release outputs will not be resized unless they have zero elements. Resize an out tensor t to zero "
                f"elements first, with t.resize_(0).",
                UserWarning,
                stacklevel=4,
            )
        out._array = out._key.backend.empty(result._array.shape, out._array.dtype, out._key.index)
        if not result.is_contiguous() and is_dense(result._array):  # lies as the result does
            out._array = out._key.backend.as_strided(out._array, result._array.shape, result.stride(), 0)
        out._storage = None
    out._key.backend.write(out._array, result._array)
    bump_version(out)
    return out
