"""`torch.distributed.checkpoint.state_dict` in one process: states of models and optimizers by the names of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import tenfold

__all__ = [
    "StateDictOptions",
    "get_model_state_dict",
    "get_optimizer_state_dict",
    "get_state_dict",
    "set_model_state_dict",
    "set_optimizer_state_dict",
    "set_state_dict",
]
State = dict[str, Any]


@dataclass
class StateDictOptions:
    """What a state holds and how it is loaded. In one process a whole state is the state, and there is no other rank."""

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"

    def __post_init__(self) -> None:
        if self.broadcast_from_rank0 and not self.full_state_dict:
            raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")


def get_model_state_dict(model: Any, *, submodules: Any = None, options: StateDictOptions | None = None) -> State:
    """A model's state, or that of some of its modules: the tensors themselves, moved to the CPU where options say so."""
    options = options or StateDictOptions()
    state = model.state_dict()
    frozen = {name for name, p in model.named_parameters() if not p.requires_grad} if options.ignore_frozen_params else ()
    for name in frozen:
        state.pop(name, None)
    if submodules:
        prefixes = [f"{name}." for name, module in model.named_modules() if module in submodules]
        named = {n: (n if options.keep_submodule_prefixes else n[len(p) :]) for p in prefixes for n in state if n.startswith(p)}
        state = {named[name]: value for name, value in state.items() if name in named}
    return _moved(state, options)  # type: ignore[no-any-return]


def set_model_state_dict(model: Any, model_state_dict: Any, *, options: StateDictOptions | None = None) -> Any:
    """Load a model's state; the missing and unexpected names. A whole one replaces tensors of the device "meta"."""
    options = options or StateDictOptions()
    if model_state_dict and not isinstance(next(iter(model_state_dict)), str):  # states of modules, an older form
        places = {module: f"{name}." if name else "" for name, module in model.named_modules()}
        model_state_dict = {places[m] + name: v for m, state in model_state_dict.items() for name, v in state.items()}
    empty = options.full_state_dict and any(tensor.is_meta for tensor in (*model.parameters(), *model.buffers()))
    return model.load_state_dict(model_state_dict, strict=options.strict, assign=empty)


def get_optimizer_state_dict(
    model: Any, optimizers: Any, *, submodules: Any = None, options: StateDictOptions | None = None
) -> State:
    """Optimizers' state, in which parameters are names. One that has not stepped takes a step of no gradient at no rate."""
    options = options or StateDictOptions()
    names = _names(model)
    state: State = {}
    groups: list[State] = []
    for optimizer in _several(optimizers):
        _begin(optimizer)
        state |= {names[p]: dict(values) for p, values in optimizer.state.items() if p in names}
        for group in optimizer.param_groups:
            rest = {key: value for key, value in group.items() if key != "params"}
            groups.append({**rest, "params": [names[p] for p in group["params"]]})
    if submodules:
        inside = {names[p] for module in submodules for p in module.parameters()}
        state = {name: values for name, values in state.items() if name in inside}
        groups = [{**group, "params": [name for name in group["params"] if name in inside]} for group in groups]
    if not options.flatten_optimizer_state_dict:
        return _moved({"state": state, "param_groups": groups}, options)  # type: ignore[no-any-return]
    flat = {f"state.{name}.{key}": value for name, values in state.items() for key, value in values.items()}
    for group in groups:
        rest = {key: value for key, value in group.items() if key != "params"}
        flat |= {f"param_groups.{name}.{key}": value for name in group["params"] for key, value in rest.items()}
    return _moved(flat, options)  # type: ignore[no-any-return]


def set_optimizer_state_dict(
    model: Any, optimizers: Any, optim_state_dict: State, *, options: StateDictOptions | None = None
) -> None:
    """Load optimizers' state that `get_optimizer_state_dict` gave."""
    names = _names(model)
    for optimizer in _several(optimizers):
        _begin(optimizer)
        given = optim_state_dict if "state" in optim_state_dict else _nested(optim_state_dict, optimizer, names)
        own = optimizer.state_dict()
        numbers = {
            names[p]: number
            for group, numbered in zip(optimizer.param_groups, own["param_groups"])
            for p, number in zip(group["params"], numbered["params"])
        }
        for group in own["param_groups"]:
            wanted = {name for name, number in numbers.items() if number in group["params"]}
            found = next((g for g in given["param_groups"] if wanted & set(g["params"])), None)
            if wanted and found is None:
                raise RuntimeError(f"The optimizer's state has no group of {', '.join(sorted(wanted))}")
            group.update({key: value for key, value in (found or {}).items() if key != "params"})
        own["state"] = {numbers[name]: values for name, values in given["state"].items() if name in numbers}
        optimizer.load_state_dict(own)


def get_state_dict(
    model: Any, optimizers: Any, *, submodules: Any = None, options: StateDictOptions | None = None
) -> tuple[State, State]:
    """The states of a model and of its optimizers."""
    state = get_model_state_dict(model, submodules=submodules, options=options)
    return state, get_optimizer_state_dict(model, optimizers, submodules=submodules, options=options)


def set_state_dict(
    model: Any, optimizers: Any, *, model_state_dict: State, optim_state_dict: State, options: StateDictOptions | None = None
) -> Any:
    """Load the states of a model and of its optimizers; the missing and unexpected names of the model's."""
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)


def _names(model: Any) -> dict[Any, str]:
    return {p: name for name, p in model.named_parameters()}


def _several(optimizers: Any) -> Iterator[Any]:
    return iter(optimizers if isinstance(optimizers, Iterable) else (optimizers,))


def _begin(optimizer: Any) -> None:
    """Make the state of an optimizer that has not stepped."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    if optimizer.state or any(p.grad is not None for p in parameters):
        return
    for p in parameters:
        p.grad = tenfold.zeros_like(p) if p.requires_grad else None
    rates = [group.get("lr") for group in optimizer.param_groups]
    for group in (g for g in optimizer.param_groups if "lr" in g):
        group["lr"] = tenfold.zeros_like(group["lr"]) if isinstance(group["lr"], tenfold.Tensor) else 0.0
    optimizer.step(closure=None)
    for group, rate in zip(optimizer.param_groups, rates):
        group.update({"lr": rate} if "lr" in group else {})
    optimizer.zero_grad(set_to_none=True)


def _nested(flat: State, optimizer: Any, names: dict[Any, str]) -> State:
    """A flattened state as `get_optimizer_state_dict` gives it otherwise."""
    state: State = {}
    groups = []
    for group in optimizer.param_groups:
        own = [names[p] for p in group["params"]]
        keys = [key for key in group if key != "params"]
        rest = {key: flat[f"param_groups.{own[0]}.{key}"] for key in keys if f"param_groups.{own[0]}.{key}" in flat}
        groups.append({**rest, "params": own})
        for name in own:
            values = {k.removeprefix(f"state.{name}."): v for k, v in flat.items() if k.startswith(f"state.{name}.")}
            state |= {name: values} if values else {}
    return {"state": state, "param_groups": groups}


def _moved(value: Any, options: StateDictOptions) -> Any:
    """A state on the CPU, where options say so."""
    if not options.cpu_offload:
        return value
    if isinstance(value, tenfold.Tensor):
        return value.detach().cpu()
    if isinstance(value, dict):
        return type(value)((key, _moved(item, options)) for key, item in value.items())
    return [_moved(item, options) for item in value] if isinstance(value, list) else value
