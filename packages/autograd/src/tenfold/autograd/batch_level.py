"""The level of vmap: wrappers whose value has one dimension more, the batch dimension, or none when all examples agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.autograd import quick_calls
from tenfold.autograd.batches import Batch, NotBatched, move
from tenfold.autograd.batching import find, rule_for
from tenfold.autograd.levels import Below, Transform
from tenfold.autograd.transform_printing import in_scopes, tracking
from tenfold.dispatch.failures import explained
from tenfold.dispatch.inplace import check_writable, write_back
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import Operator
from tenfold.tensor.tensor import Tensor

new = object.__new__
_ANSWERS = {"equal": "eq", "allclose": "isclose"}  # composites that answer with a Python bool, and what gives a tensor


class Batched(Meta):
    """The array of a wrapper: shape and dtype of one example; `value` has the batch at dimension `dim` (None: no batch)."""

    __slots__ = ("dim", "value")
    value: Tensor
    dim: int | None
    offset = 0

    @property  # few ask, so that no call computes them in advance
    def strides(self) -> tuple[int, ...]:  # type: ignore[override]
        strides: tuple[int, ...] = self.value._array.strides
        dim = self.dim
        return strides if dim is None else strides[:dim] + strides[dim + 1 :]


class BatchLevel(Transform):
    """vmap over `size` examples."""

    def __init__(self, size: int, randomness: str = "error") -> None:
        self.keys = {}
        self.size, self.randomness = size, randomness

    def wrap(self, value: Tensor, dim: int | None) -> Tensor:
        """A wrapper around a value with the batch at dimension `dim`."""
        inner: Any = value._array
        key: Any = value._key
        array: Any = new(Batched)
        if dim == 0:
            array.shape = inner.shape[1:]
        else:
            shape = inner.shape
            array.shape = shape if dim is None else shape[:dim] + shape[dim + 1 :]
        array.dtype, array.value, array.dim = inner.dtype, value, dim
        if value._node is not None:
            self.recorded_below = self.within_recording
        home = key.device
        t: Any = new(Tensor)
        t._array, t._key = array, self.keys.get(home) or self.key(home)
        t._node = t._storage = t._base = None
        return t  # type: ignore[no-any-return]

    def constant(self, tensor: Tensor) -> Tensor:
        return self.wrap(tensor, None)

    def mapped(self, tensor: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
        value, dim = self.unwrap(tensor)
        made = function(value)
        if made is value:
            return tensor
        wrapper = self.wrap(made, dim)
        wrapper._node = tensor._node
        return wrapper

    def unwrap(self, value: Any) -> tuple[Any, Any]:
        """(value of a lower level, batch dimension); lists give lists of both."""
        if isinstance(value, Tensor):
            return (value._array.value, value._array.dim) if self.owns(value) else (value, None)
        if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
            pairs = [self.unwrap(v) for v in value]
            return [v for v, _ in pairs], [d for _, d in pairs]
        return value, None

    quick = quick_calls.run

    def handles(self, operator: Operator) -> bool:
        return operator.name in _ANSWERS or find(operator) is not None

    def process(self, operator: Operator, values: dict[str, Any]) -> Any:
        if self.closed:
            raise RuntimeError(f"{operator.name}: got a tensor of a vmap that has ended; return it from the function instead")
        plain: dict[str, Any] = {}
        dims: dict[str, Any] = {}
        for name, value in values.items():
            plain[name], dims[name] = self.unwrap(value)
        batch = Batch(operator, plain, dims, self.size, self.randomness)
        if operator.name in _ANSWERS:
            return _answer(batch)
        try:
            if operator.random:
                with Below(self):
                    result, dim = rule_for(operator)(batch)
                if operator.name.endswith("_"):
                    return values["input"]  # drawn into its value
            elif not batch.names:
                result, dim = operator.fn(**plain), None
            else:
                result, dim = rule_for(operator)(batch)
        except NotBatched:
            raise
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            _check_nested(plain, dims)
            # The shape rule explains a bad call in the shapes of one example.
            given = [values[p.name] for p in operator.kernel_params]
            raise explained(operator, None, given, error) from error
        return self._wrap_results(operator, values, result, dim)

    def _wrap_results(self, operator: Operator, values: dict[str, Any], result: Any, dim: Any) -> Any:
        if isinstance(result, Tensor):
            wrapped: Any = self.wrap(result, dim)
        else:
            dims = dim if isinstance(dim, (tuple, list)) else (dim,) * len(result)
            wrapped = tuple([self.wrap(r, d) for r, d in zip(result, dims)])
        return self.arranged(operator, values[operator.kernel_params[0].name] if operator.view else None, result, wrapped)

    def write(self, name: str, target: Tensor, result: Tensor) -> None:
        value, dim = self.unwrap(result)
        place, place_dim = self.unwrap(target)
        if dim is not None and place_dim is None:
            raise RuntimeError(
                f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(value.shape)}: "
                f"vmap: inplace {name} is not possible because there exists a Tensor `other` in extra_args that has more "
                f"elements than `self`: it differs between the examples, but the tensor written is one that all examples share; "
                f"use the out-of-place form, or make the target from a batched tensor (new_zeros, zeros_like, clone)"
            )
        if place_dim is not None:
            value = move(value, dim, place_dim, self.size)
        check_writable(name, place)
        write_back(name, place, value)

    def readable(self, tensor: Tensor) -> Tensor:
        value, dim = self.unwrap(tensor)
        if dim is None:
            return value  # type: ignore[no-any-return]
        raise RuntimeError(
            "vmap: It looks like you're calling .item() on a Tensor, or .tolist(), .numpy() or bool() as `if` and `while` do, "
            "but it differs between the examples: data-dependent control flow is not supported. Use tenfold.where, or return the "
            "tensor and read it outside"
        )

    def refuse_data(self, what: str) -> None:
        raise RuntimeError(f"{what} under vmap transform is not allowed. Use detach() to leave the graph")

    def repr_of(self, tensor: Tensor) -> str:
        value, dim = self.unwrap(tensor)
        return in_scopes(f"BatchedTensor(lvl={self.shown}, bdim={dim}, value={value!r})", tracking(tensor))


def _answer(batch: Batch) -> bool:
    """One bool, where all examples share the tensors compared."""
    name = batch.operator.name
    if batch.names:
        raise RuntimeError(
            f"vmap: Batching rule not implemented for aten::{name}: it answers with one Python bool, which may differ between "
            f"the examples; use tenfold.{_ANSWERS[name]} and all(), which give a tensor, or call {name} outside"
        )
    return bool(batch.operator.fn(**batch.values))


def _check_nested(plain: dict[str, Any], dims: dict[str, Any]) -> None:
    """Nested tensors go with dense ones whose examples are rows, as theirs are."""
    if any(isinstance(v, Tensor) and v.is_nested for v in plain.values()) and not {0, None}.issuperset(dims.values()):
        raise NotBatched(
            "Fallback not supported for mixed nested / non-nested arguments without bdim=0: give the dense tensor with its "
            "examples in front, by movedim"
        )
