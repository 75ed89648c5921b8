"""Selective checkpoints: a policy says which operators' results are kept, and which operators run again.

Both runs of a checkpointed part are watched beneath the gradient tape. The first asks the policy about every operator and
numbers the calls of each; the second gets what was kept in place of running the operator, by the same numbers.
"""

from __future__ import annotations

import enum
import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from tenfold.tensor.tensor import Tensor

Policy = Callable[..., Any]
_WHY = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that changed "
    "between forward and backward."
)


class CheckpointPolicy(enum.Enum):
    """What is done with an operator's result: kept for the backward pass, or computed again there.

    MUST and PREFER do the same here: no compiler decides otherwise. Results that are to be offloaded to the CPU's memory are
    computed again, as PyTorch does outside its compiler.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_SAVING = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE, True)


class SelectiveCheckpointContext:
    """What a policy is told beside the operator and its arguments: the result, and that this is the first run."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute, self.op_output = is_recompute, op_output


class _Kept:
    """A result for the second run, and the versions that its tensors had."""

    def __init__(self, result: Any) -> None:
        self.several = type(result) if isinstance(result, (tuple, list)) else None
        parts = [result] if self.several is None else result
        self.values = [part.detach() if isinstance(part, Tensor) else part for part in parts]
        self.versions = [_version(value) for value in self.values]

    def result(self, may_be_written: bool) -> Any:
        """The result; RuntimeError if it was written to since, unless that is allowed."""
        if not may_be_written and self.versions != [_version(value) for value in self.values]:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        if self.several is None:
            return self.values[0]
        return self.several(*self.values) if hasattr(self.several, "_fields") else self.several(self.values)


def _version(value: Any) -> int | None:
    return value._version if isinstance(value, Tensor) else None


_AGAIN, _USED = object(), object()  # for a call that is to run again; for one whose result was taken
_Store = dict[tuple[Any, int], Any]


class _Watching:
    """A context in which `__torch_dispatch__` is asked; the calls of each operator are counted."""

    def __init__(self, store: _Store) -> None:
        self.store, self.counts = store, Counter[Any]()

    def __enter__(self) -> Any:
        self.counts.clear()
        _asking().enter(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _asking().leave(self)

    def number(self, operator: Any) -> int:
        """How often the operator was called before this call."""
        self.counts[operator] += 1
        return self.counts[operator] - 1


class _FirstRun(_Watching):
    """Keeps what the policy says."""

    def __init__(self, store: _Store, policy: Policy) -> None:
        super().__init__(store)
        self.policy = policy

    def __enter__(self) -> Any:
        self.store.clear()
        return super().__enter__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in SAC_IGNORED_OPS:
            return func(*args, **(kwargs or {}))
        place = func, self.number(func)
        self.store[place] = _AGAIN  # of a call that fails, too: a reshape may try a view before it copies
        result = func(*args, **(kwargs or {}))
        told = SelectiveCheckpointContext(is_recompute=False, op_output=result)
        if self.policy(told, func, *args, **(kwargs or {})) in _SAVING:
            self.store[place] = _Kept(result)
        return result


class _SecondRun(_Watching):
    """Hands out what was kept, each once, and runs the rest."""

    def __init__(self, store: _Store, may_be_written: bool) -> None:
        super().__init__(store)
        self.may_be_written = may_be_written

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in SAC_IGNORED_OPS:
            return func(*args, **(kwargs or {}))
        place = func, self.number(func)
        found = self.store.get(place)
        if found is None:
            raise RuntimeError(self._missing(*place))
        if found is _USED:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
                "selective activation checkpoint."
            )
        if found is _AGAIN:
            return func(*args, **(kwargs or {}))
        self.store[place] = _USED
        return found.result(self.may_be_written)

    def _missing(self, func: Any, number: int) -> str:
        which = f"{func} invocation index {number}" if (func, 0) in self.store else f"{func}"
        return f"{which} encountered during backward but not found in storage. {_WHY}"


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | list[Any], allow_cache_entry_mutation: bool = False
) -> tuple[Any, Any]:
    """The contexts for `checkpoint(..., use_reentrant=False, context_fn=...)` that keep the results of chosen operators.

    Args:
        policy_fn_or_list: the operators to keep, such as `torch.ops.aten.mm.default`, or a function of a
            SelectiveCheckpointContext, an operator and its arguments that returns a CheckpointPolicy.
        allow_cache_entry_mutation: take what was kept though it was written to since.

    Raises ValueError for what is in the list and is no operator, RuntimeError in the backward pass when what was kept was
    written to, is asked for twice or is missing. Operators are watched by tenfold-compat, which has PyTorch's names of them.

    >>> import functools, tenfold
    >>> from tenfold.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts
    >>> def policy(ctx, op, *args, **kwargs):
    ...     return CheckpointPolicy.MUST_SAVE if "mm" in str(op) else CheckpointPolicy.PREFER_RECOMPUTE
    >>> contexts = functools.partial(create_selective_checkpoint_contexts, policy)
    >>> x = tenfold.eye(2).requires_grad_()
    >>> checkpoint(lambda x: (x @ x).exp().sum(), x, use_reentrant=False, context_fn=contexts).backward()
    >>> x.grad
    tensor([[5.4366, 2.0000],
            [2.0000, 5.4366]])
    """
    _asking()
    store: _Store = {}
    return _FirstRun(store, _policy(policy_fn_or_list)), _SecondRun(store, allow_cache_entry_mutation)


def _policy(given: Any) -> Policy:
    if callable(given):
        return given  # type: ignore[no-any-return]
    if not isinstance(given, list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    kinds = importlib.import_module("tenfold._ops")
    for op in given:
        if not isinstance(op, (kinds.OpOverload, kinds.HigherOrderOperator)):
            packet = isinstance(op, kinds.OpOverloadPacket)
            advice = f"Name one of its forms, such as torch.ops.{op}.default, not all of them." if packet else ""
            raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {advice}")
    chosen = frozenset(given)
    return lambda ctx, op, *args, **kwargs: op in chosen


def _asking() -> Any:
    """What enters dispatch modes: of tenfold-compat, which this package does not need otherwise."""
    return importlib.import_module("tenfold.as_torch.asking")


class _Ignored:
    """Operators that both runs may call differently often: a checkpoint's own steps call them."""

    def __contains__(self, operator: Any) -> bool:
        return operator in self._operators()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._operators())

    def __len__(self) -> int:
        return len(self._operators())

    @staticmethod
    def _operators() -> tuple[Any, ...]:
        return (importlib.import_module("tenfold._ops").ops.aten.detach.default,)


SAC_IGNORED_OPS = _Ignored()
