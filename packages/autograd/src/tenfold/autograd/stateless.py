"""Calling modules with parameters from outside: `functional_call`, `stack_module_state`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tenfold.ops.indexing.joining import stack
from tenfold.tensor.tensor import Tensor

_NOTHING = object()


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict[str, Any] | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """Call a module with other tensors in the place of its parameters and buffers; the module itself stays as it was.

    What the module assigns to a buffer meanwhile is in the dictionary afterwards.

    The tensors are given by their names in `named_parameters()` and `named_buffers()`, in one dictionary or several that
    share no key. `tie_weights`: a tensor that the module has under several names is replaced under all of them. A name that the
    module does not have is an attribute of it during the call.
    Raises RuntimeError with `strict` for missing or unexpected names, ValueError for a name given twice, TypeError for what is
    no tensor.

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
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with reparametrized(module, _merged(parameter_and_buffer_dicts), tie_weights=tie_weights, strict=strict):
        return module(*arguments, **(kwargs or {}))


def reparametrized(module: Any, given: dict[str, Tensor], *, tie_weights: bool, strict: bool) -> AbstractContextManager[None]:
    """For the length of a block, a module with other tensors in the place of its own, as `functional_call` calls it."""
    values: Iterable[Any] = given.values()
    for value in values:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"functional_call: {value} is not an instance of torch.Tensor")
    owners = _owners(module)
    complete = _with_ties(given, owners) if tie_weights else given
    if strict:
        _check_names(module, complete, owners)
    for name in given.keys() - owners.keys():
        owners[name] = _place_for(module, name)
    return _swapped(complete, owners, given)


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


def _place_for(module: Any, name: str) -> tuple[Any, str]:
    """Where a name leads that is not a parameter's or buffer's first one: to one by another way, or to an attribute."""
    path, _, own = name.rpartition(".")
    for part in path.split(".") if path else ():
        if part not in module._modules:
            raise AttributeError(f"functional_call: {name!r}: {type(module).__name__} has no attribute `{part}`")
        module = module._modules[part]
    now = getattr(module, own, None)
    if now is not None and not isinstance(now, Tensor):
        raise TypeError(f"functional_call: attribute `{own}`: {now} is not an instance of torch.Tensor")
    tables = (table for table in (module._parameters, module._buffers) if own in table)
    return next(tables, _Attributes(module)), own


class _Attributes:
    """A module's attributes as a dictionary; what is put there may become a parameter of the module, as by assignment."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __contains__(self, name: str) -> bool:
        return hasattr(self.module, name)

    def __getitem__(self, name: str) -> Any:
        return getattr(self.module, name)

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self.module, name, value)

    def get(self, name: str, default: Any) -> Any:
        """The attribute, or the default."""
        return getattr(self.module, name, default)

    def pop(self, name: str, default: Any) -> None:
        """Take the attribute away, if it is there."""
        if hasattr(self.module, name):
            delattr(self.module, name)


def _owners(module: Any, prefix: str = "", above: tuple[Any, ...] = ()) -> dict[str, tuple[Any, str]]:
    """For each parameter and buffer: the dictionary of the module that holds it, and its name there."""
    found: dict[str, tuple[Any, str]] = {}
    if any(module is one for one in above):  # a module may refer to one that it is in
        return found
    for table in (module._parameters, module._buffers):
        for name, value in table.items():
            if value is not None:
                found[prefix + name] = (table, name)
    for name, child in module._modules.items():
        if child is not None:
            found.update(_owners(child, f"{prefix}{name}.", (*above, module)))
    return found


def _check_names(module: Any, given: dict[str, Tensor], owners: dict[str, Any]) -> None:
    missing = [name for name in owners if name not in given]
    unexpected = [name for name in given if name not in owners]
    told = [
        f"{title} key(s): {', '.join(map(repr, sorted(names)))}."
        for title, names in (("Unexpected", unexpected), ("Missing", missing))
        if names
    ]
    if told:
        lines = "\n\t".join(told)
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t{lines}")


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
                    f"functional_call got multiple values for keys {sorted(n for n in tied if n in given)}, which are tied. "
                    f"Consider using tie_weights=False"
                )
            made.update(dict.fromkeys(tied, values[0]))
    return made


@contextmanager
def _swapped(values: dict[str, Tensor], owners: dict[str, tuple[Any, str]], given: dict[str, Tensor]) -> Iterator[None]:
    """The values in the modules' dictionaries, until the end of the block; then `given` has what became of its own."""
    before = {name: owners[name][0].get(owners[name][1], _NOTHING) for name in values}
    try:
        for name, value in values.items():
            table, own = owners[name]
            table[own] = value
        yield
    finally:
        given.update({name: table[own] for name in given for table, own in [owners[name]] if own in table})
        for name, value in before.items():
            table, own = owners[name]
            if value is _NOTHING:
                table.pop(own, None)
            else:
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
