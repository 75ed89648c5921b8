"""The level of forward mode: wrappers of a primal value and its tangent, the derivative along the direction pushed forward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.autograd import quick_calls
from tenfold.autograd.batching import find as find_batching
from tenfold.autograd.captures import check_captured
from tenfold.autograd.geometry import extent
from tenfold.autograd.levels import Below, Transform
from tenfold.autograd.tangents import draws, find as find_pushforward, push
from tenfold.autograd.transform_printing import in_scopes, tracking
from tenfold.dispatch.inplace import check_writable, write_back
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import RUNTIME, STATE
from tenfold.ops.creation.factories import zeros
from tenfold.ops.creation.like import empty_like, zeros_like
from tenfold.tensor.tensor import Tensor

new = object.__new__
DRAWN_AROUND = frozenset(("bernoulli", "binomial", "normal", "poisson"))  # a tensor says around what these draw


class Dual(Meta):
    """The array of a wrapper: `value` is the primal; `tangent` None means zero."""

    __slots__ = ("tangent", "value")
    value: Tensor
    tangent: Tensor | None


class DualLevel(Transform):
    """One forward-mode derivative."""

    enabled = True  # whether tangents are pushed on; forward_ad._set_fwd_grad_enabled

    def __init__(self, function: Any = None) -> None:
        super().__init__()
        self.function = function  # the user's, which must not write to what it captures

    def refuse_output(self, operator: Operator) -> None:
        raise NotImplementedError(
            f"Trying to use forward AD with {operator.name}_out that does not support it because it is an out= function: use the "
            f"result instead"
        )

    def wrap(self, primal: Tensor, tangent: Tensor | None) -> Tensor:
        """A wrapper around a primal and its tangent."""
        inner: Any = primal._array
        key: Any = primal._key
        array: Any = new(Dual)
        array.shape, array.strides, array.dtype, array.offset = inner.shape, inner.strides, inner.dtype, 0
        array.value, array.tangent = primal, tangent
        if primal._node is not None or (tangent is not None and tangent._node is not None):
            self.recorded_below = self.within_recording
        return self.make(array, key.device)

    def constant(self, tensor: Tensor) -> Tensor:
        return self.wrap(tensor, None)

    def mapped(self, tensor: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
        primal, tangent = self.unwrap(tensor)
        wrapper = self.wrap(function(primal), None if tangent is None else function(tangent))
        wrapper._node = tensor._node
        return wrapper

    def unwrap(self, value: Any) -> tuple[Any, Any]:
        """(primal, tangent or None) of an argument; lists give lists of both."""
        if isinstance(value, Tensor):
            return (value._array.value, value._array.tangent) if self.owns(value) else (value, None)
        if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
            pairs = [self.unwrap(v) for v in value]
            return [p for p, _ in pairs], [t for _, t in pairs]
        return value, None

    def handles(self, operator: Operator) -> bool:
        if draws(operator) or operator.nondifferentiable is not None:
            return find_batching(operator) is not None  # a level of vmap below may have to see it whole
        return find_pushforward(operator) is not None

    def quick(self, operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return quick_calls.run_dual(self, operator, args, kwargs)

    def process(self, operator: Operator, values: dict[str, Any]) -> Any:
        primals: dict[str, Any] = {}
        tangents: dict[str, Any] = {}
        for name, value in values.items():
            primals[name], tangent = self.unwrap(value)
            if self.enabled and tangent is not None and not (isinstance(tangent, list) and all(t is None for t in tangent)):
                tangents[name] = tangent
        if self.closed:
            return operator.fn(**primals)
        if draws(operator) or (operator.random and not tangents):
            return self._drawn(operator, values, primals, bool(tangents))
        if tangents and operator.nondifferentiable is None:
            if operator.random:  # every level sees what draws, this one inside the rule, too
                with Below(self):
                    result, tangent = push(operator, primals, tangents)
            else:
                result, tangent = push(operator, primals, tangents)
        else:
            result, tangent = operator.fn(**primals), None
        return self.wrap_results(operator, values[operator.kernel_params[0].name] if operator.view else None, result, tangent)

    def _drawn(self, operator: Operator, values: dict[str, Any], primals: dict[str, Any], moving: bool) -> Any:
        """Random numbers are constants; those that depend on a dual tensor have zeros as tangent, for whoever unpacks them."""
        in_place = operator.name.endswith("_")
        if in_place:  # drawn elsewhere and written as any result: views, tangents and the tape see it
            primals = {**primals, "input": empty_like(primals["input"])}
        with Below(self):
            result = operator.fn(**primals)
        if in_place:
            return write_back(operator.name, values["input"], self.constant(result))
        return self.wrap(result, zeros_like(result) if moving and operator.name in DRAWN_AROUND else None)

    def wrap_results(self, operator: Operator, source: Any, result: Any, tangent: Any) -> Any:
        """The results with their tangents; views of `source` where the operator makes views."""
        if isinstance(result, Tensor):
            wrapped: Any = self.wrap(result, _of_dtype(tangent, result))
        else:
            tangents = (None,) * len(result) if tangent is None else tangent
            wrapped = tuple([self.wrap(r, _of_dtype(t, r)) for r, t in zip(result, tangents)])
        return self.arranged(operator, source, result, wrapped)

    def write(self, name: str, target: Tensor, result: Tensor) -> None:
        value, tangent = self.unwrap(result)
        place, place_tangent = self.unwrap(target)
        check_writable(name, place)
        for transform in STATE.transforms:
            transform.before_write(place)
        if tangent is not None and not _holds(place_tangent, tangent):
            if not self.owns(target):
                check_captured(name, target, self.function)
            place_tangent = self._give_tangent(target, place_tangent, tangent)
            place = target._array.value
        write_back(name, place, value)
        if place_tangent is not None:
            write_back(name, place_tangent, zeros_like(value) if tangent is None else tangent)

    def _give_tangent(self, target: Any, present: Tensor | None, coming: Tensor) -> Tensor:
        """Make the target, its base and the base's other views duals whose tangents share memory as they do.

        The memory is made from zeros with every batch dimension that the present and the coming tangent have.
        """
        base = target if target._base is None else target._base
        whole, old = self.unwrap(base)
        block = zeros((extent(whole.shape, whole.stride()),), dtype=whole.dtype, device=whole.device)
        for t in (present, coming):
            block = block if t is None else block + zeros_like(t).sum()
        views = [target] if base is target else [base, target]
        if base._storage is not None:
            views += [v for v in base._storage.live_views(base, target) if v._base is base and v is not target]
        origin = whole.storage_offset()
        for view in views:
            own = self.unwrap(view)[0]
            self._become(view, own, block.as_strided(own.shape, own.stride(), own.storage_offset() - origin))
        if old is not None:
            write_back("jvp", base._array.tangent, old)
        return target._array.tangent  # type: ignore[no-any-return]

    def _become(self, tensor: Any, primal: Tensor, tangent: Tensor) -> None:
        if primal is tensor:  # a plain tensor that was made inside the level
            primal = RUNTIME["new"](Tensor)
            for slot in ("_array", "_key", "_node", "_storage", "_base"):
                setattr(primal, slot, getattr(tensor, slot))
        wrapper = self.wrap(primal, tangent)
        tensor._array, tensor._key = wrapper._array, wrapper._key

    def readable(self, tensor: Tensor) -> Tensor:
        return self.unwrap(tensor)[0]  # type: ignore[no-any-return]

    def repr_of(self, tensor: Tensor) -> str:
        primal, tangent = self.unwrap(tensor)
        return in_scopes(f"DualTensor(lvl={self.shown}, primal={primal!r}, tangent={tangent!r})", tracking(tensor))


def _holds(place: Tensor | None, coming: Tensor) -> bool:
    """Whether a tangent can be written into another: it differs between the examples of no vmap for which that is one."""
    return place is not None and _batches(coming) <= _batches(place)


def _batches(t: Any) -> set[Transform]:
    """The vmap levels for whose examples a tensor differs."""
    found: set[Transform] = set()
    while t._key.level is not None:
        if getattr(t._array, "dim", None) is not None:
            found.add(t._key.transform)
        t = t._array.value
    return found


def _of_dtype(tangent: Any, result: Tensor) -> Any:
    """The tangent in its result's shape and dtype; integer results have none."""
    if tangent is None or result.dtype.category < 2:
        return None
    if tangent.dtype is not result.dtype:
        tangent = tangent.to(result.dtype)
    return tangent if tangent.shape == result.shape else tangent.expand(result.shape)
