"""Steps of an optimizer with other parameters and another state than its own, for the length of a block."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NoReturn

from tenfold import Tensor
from tenfold.optim.optimizer import Optimizer


@contextlib.contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Tensor], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """In this block the optimizer has these parameters, in the order of its own, and the state and options of a `state_dict`.

    What steps write into the given tensors stays there; what they put in place of them, and options that they set, is forgotten.
    Raises: RuntimeError before the optimizer's first step, and for parameters or a state of another form than its own.

    >>> import tenfold
    >>> weight, other = tenfold.ones(1, requires_grad=True), tenfold.zeros(1, requires_grad=True)
    >>> optimizer = tenfold.optim.SGD([weight], lr=0.5, momentum=0.9)
    >>> weight.grad = other.grad = tenfold.ones(1)
    >>> optimizer.step()
    >>> with swap_in_optimizer_params_and_state(optimizer, {"weight": other}, optimizer.state_dict()):
    ...     optimizer.step()
    >>> weight.tolist(), other.tolist()
    ([0.5], [-0.949999988079071])
    """
    groups = _checked_groups(optimizer, swapin_optim_state)
    parameters = _parted(swapin_parameters, [len(group["params"]) for group in groups])
    before = optimizer.state, [dict(group) for group in optimizer.param_groups]
    try:
        own: defaultdict[Any, Any] = defaultdict(dict)
        for group, given, taken in zip(optimizer.param_groups, groups, parameters, strict=True):
            group.update(given, params=taken)
            for number, parameter in zip(given["params"], taken, strict=True):
                own[parameter] = dict(swapin_optim_state["state"].get(number, {}))
        optimizer.state = own
        yield
    finally:
        optimizer.state = before[0]
        for group, kept in zip(optimizer.param_groups, before[1], strict=True):
            group.clear()
            group.update(kept)


def _checked_groups(optimizer: Optimizer, state: Any) -> list[dict[str, Any]]:
    """The groups of a `state_dict` that fits the optimizer."""
    if not optimizer.state:
        _refuse("it needs an optimizer that has stepped: this one has no state")
    if not isinstance(state, dict) or not {"state", "param_groups"} <= state.keys():
        _refuse(f"the state must be that of state_dict(), with 'state' and 'param_groups', got {type(state).__name__}")
    groups, entries = state["param_groups"], state["state"]
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        _refuse("its param_groups must be a list of dictionaries")
    if len(groups) != len(optimizer.param_groups):
        _refuse(f"it has a different number of parameter groups: {len(groups)}, the optimizer {len(optimizer.param_groups)}")
    for i, (own, given) in enumerate(zip(optimizer.param_groups, groups, strict=True)):
        if own.keys() != given.keys():
            _refuse(f"the keys of group {i} differ: {sorted(own.keys() ^ given.keys())} are in one only")
        numbers = given["params"]
        if not isinstance(numbers, list) or not all(isinstance(number, int) for number in numbers):
            _refuse(f"the params of group {i} must be the numbers that state_dict() gives them")
        if len(numbers) != len(own["params"]):
            _refuse(f"group {i} has a different number of params: {len(numbers)}, the optimizer's {len(own['params'])}")
    known = {number for group in groups for number in group["params"]}
    if not isinstance(entries, dict) or not entries.keys() <= known or not all(isinstance(e, dict) for e in entries.values()):
        _refuse("its entries must be dictionaries by the numbers of parameters that are in param_groups")
    return groups


def _parted(parameters: Any, counts: list[int]) -> list[list[Tensor]]:
    if not isinstance(parameters, dict) or len(parameters) != sum(counts):
        _refuse(f"it needs a dictionary of {sum(counts)} parameters")
    given = iter(parameters.values())
    return [[next(given) for _ in range(count)] for count in counts]


def _refuse(reason: str) -> NoReturn:
    raise RuntimeError(f"swap_in_optimizer_params_and_state: {reason}")
