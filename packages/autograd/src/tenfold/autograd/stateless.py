"""Calling modules with parameters from outside: `functional_call`, `stack_module_state`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tenfold.ops.indexing.joining import stack
from tenfold.tensor.tensor import Tensor


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict[str, Any] | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """Call a module with other tensors in the place of its parameters and buffers; the module itself stays as it was.

    What the module assigns to a buffer meanwhile is in the dictionary afterwards.

    The tensors are given by their names in `named_parameters()` and `named_buffers()`, in one dictionary or several that
    share no key. `tie_weights`: a tensor that the module has under several names is replaced under all of them.
    Raises RuntimeError with `strict` for missing or unexpected names, ValueError for a name given twice.

    >>> from types import SimpleNamespace
    >>> import tenfold
    >>> from tenfold.autograd.func import functional_call
    >>> class Scale:
    ...     def __init__(self):
    ...         self._parameters, self._buffers, self._modules = {"w": tenfold.ones(1)}, {}, {}
    ...     def __call__(self, x):
    ...         return x * self._parameters["w"]
    >>> functional_call(Scale(), {"w": tenfold.tensor([3.0])}, (tenfold.tensor([2.0]),))
    tensor([6.])
    """
    given = _merged(parameter_and_buffer_dicts)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    owners = _owners(module)
    if strict:
        _check_names(module, given, owners)
    unknown = [name for name in given if name not in owners]
    if unknown:
        raise RuntimeError(f"functional_call: {type(module).__name__} has no parameter or buffer {', '.join(map(repr, unknown))}")
    with _swapped(_with_ties(given, owners) if tie_weights else given, owners, given):
        return module(*arguments, **(kwargs or {}))


def _merged(dicts: Any) -> dict[str, Tensor]:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            f"functional_call: Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    made: dict[str, Tensor] = {}
    for one in dicts:
        if not isinstance(one, dict):
            raise ValueError(
                f"functional_call: Expected all elements of parameter_and_buffer_dicts to be dictionaries, got {type(one)}"
            )
        repeated = made.keys() & one.keys()
        if repeated:
            raise ValueError(
                f"functional_call: {sorted(repeated)} appeared in multiple dictionaries; behavior of functional call is ambiguous"
            )
        made.update(one)
    return made


def _owners(module: Any, prefix: str = "") -> dict[str, tuple[dict[str, Any], str]]:
    """For each parameter and buffer: the dictionary of the module that holds it, and its name there."""
    found: dict[str, tuple[dict[str, Any], str]] = {}
    for table in (module._parameters, module._buffers):
        for name, value in table.items():
            if value is not None:
                found[prefix + name] = (table, name)
    for name, child in module._modules.items():
        if child is not None:
            found.update(_owners(child, f"{prefix}{name}."))
    return found


def _check_names(module: Any, given: dict[str, Tensor], owners: dict[str, Any]) -> None:
    missing = [name for name in owners if name not in given]
    unexpected = [name for name in given if name not in owners]
    if missing or unexpected:
        raise RuntimeError(
            f"Error(s) in functional_call of {type(module).__name__}: unexpected key(s): {', '.join(unexpected) or 'none'}; "
            f"missing key(s): {', '.join(missing) or 'none'}"
        )


def _with_ties(given: dict[str, Tensor], owners: dict[str, Any]) -> dict[str, Tensor]:
    """The tensors also under the other names of what they replace."""
    made = dict(given)
    names: dict[int, list[str]] = {}
    for name, (table, own) in owners.items():
        names.setdefault(id(table[own]), []).append(name)
    for tied in names.values():
        values = [given[name] for name in tied if name in given]
        if len(tied) > 1 and values:
            if any(v is not values[0] for v in values):
                raise ValueError(
                    f"functional_call: {', '.join(tied)} are one tied tensor but got different values; use tie_weights=False"
                )
            made.update(dict.fromkeys(tied, values[0]))
    return made


@contextmanager
def _swapped(
    values: dict[str, Tensor], owners: dict[str, tuple[dict[str, Any], str]], given: dict[str, Tensor]
) -> Iterator[None]:
    """The values in the modules' dictionaries, until the end of the block; then `given` has what became of its own."""
    before = {name: owners[name][0][owners[name][1]] for name in values}
    try:
        for name, value in values.items():
            table, own = owners[name]
            table[own] = value
        yield
    finally:
        given.update({name: table[own] for name in given for table, own in [owners[name]] if own in table})
        for name, value in before.items():
            table, own = owners[name]
            table[own] = value


def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of several equal modules, each stacked along a new first dimension.

    Raises RuntimeError when the list is empty, or when classes, training modes or `requires_grad` differ.
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or not any(m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(name: str, tensors: tuple[Any, ...]) -> Tensor:
        if any(t.requires_grad != tensors[0].requires_grad for t in tensors):
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        leaf = all(t.is_leaf for t in tensors)
        made: Tensor = stack([t.detach() for t in tensors] if leaf else list(tensors))
        return made.requires_grad_(tensors[0].requires_grad) if leaf else made

    parameters = [dict(m.named_parameters()) for m in models]
    buffers = [dict(m.named_buffers()) for m in models]
    return (
        {name: stacked(name, tuple(p[name] for p in parameters)) for name in parameters[0]},
        {name: stacked(name, tuple(b[name] for b in buffers)) for name in buffers[0]},
    )
