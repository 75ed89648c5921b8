"""Parametrizations: a module's tensor computed from other ("original") parameters whenever it is read.

A parametrized module gets a class of its own, with a property where the tensor was; `module.parametrizations[name]` holds the
originals and the chain of modules that computes the tensor.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn.container import ModuleDict, ModuleList
from tenfold.nn.module import Module
from tenfold.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cache: dict[tuple[int, str], Tensor] = {}
_cache_depth = 0


@contextmanager
def cached() -> Iterator[None]:
    """Within it, each parametrized tensor is computed once and then remembered."""
    global _cache_depth
    _cache_depth += 1
    try:
        yield
    finally:
        _cache_depth -= 1
        if not _cache_depth:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The originals of one tensor and the modules that compute it; they are `original`, or `original0`, `original1`,
    ...

    A `right_inverse` of the modules, last first, gives the originals for a value. Raises ValueError, unless `unsafe`, where
    the computed tensor differs in dtype or shape.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        before = SimpleNamespace(dtype=original.dtype, shape=original.shape)
        new: Any = original
        with tenfold.no_grad():
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):  # no inverse after all: the value passes as it is
                        new = module.right_inverse(new)
        self.is_tensor = isinstance(new, Tensor)
        parts = (new,) if self.is_tensor else _checked_sequence(new)
        self.ntensors = len(parts)
        if self.is_tensor and new.dtype != original.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
            )
        for name, part in zip(self._original_names(), parts, strict=True):
            kept = _refilled(original, part) if self.is_tensor else _same_kind(part, original)
            self.__dict__.pop(name, None)
            _register(self, name, kept)
        if not unsafe:
            _check_like(self(), before, _REGISTERED)

    def _original_names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Sets the originals so that the tensor becomes `value`; raises RuntimeError where a module has no `right_inverse`."""
        new: Any = value
        with tenfold.no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse, so it cannot be assigned to."
                    )
                new = module.right_inverse(new)
            if self.is_tensor and not isinstance(new, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(new).__name__}")
            for name, part in zip(self._original_names(), (new,) if self.is_tensor else new, strict=True):
                current = getattr(self, name)
                if part.dtype != current.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {part.dtype} while `{name}` has dtype {current.dtype}"
                    )
                current.set_(part) if current.shape != part.shape else current.copy_(part)

    def forward(self) -> Tensor:
        first, *rest = list(self)
        value: Tensor = first(*(getattr(self, name) for name in self._original_names()))
        for module in rest:
            value = module(value)
        return value


def _refilled(original: Tensor, part: Tensor) -> Tensor:
    """`original`, which an optimizer may hold already, with the values of `part`."""
    if part is not original:
        with tenfold.no_grad():
            original.set_(part.detach())
    return original


def _same_kind(part: Tensor, original: Tensor) -> Tensor:
    """`part` as a parameter where the original is one."""
    if not isinstance(original, Parameter):
        return part
    made: Parameter = Parameter(part, requires_grad=original.requires_grad)
    return made


def _register(module: Module, name: str, tensor: Tensor | None) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


_REGISTERED = "Registering a parametrization may not change the {what} of the tensor"
_INVERTED = "The tensor returned by parametrization.right_inverse must have the same {what} as the parametrized one"


def _check_like(computed: Any, original: Any, rule: str) -> None:
    """Raises ValueError where `computed` is no tensor of the original's dtype and shape; `rule` words the demand."""
    if not isinstance(computed, Tensor):
        kind = type(computed).__name__
        if rule is _REGISTERED:
            raise ValueError(f"A parametrization must return a tensor. Got {kind}.")
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {kind}")
    for what in ("dtype", "shape"):
        before, after = getattr(original, what), getattr(computed, what)
        if before != after:
            raise ValueError(f"{rule.format(what=what)}, unless the `unsafe` flag is enabled: got {after} for {before}.")


def _checked_sequence(parts: Any) -> tuple[Tensor, ...]:
    """The several originals that a `right_inverse` gave; raises ValueError where they are no tensors."""
    demand = "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...)."
    if not isinstance(parts, Sequence):
        raise ValueError(f"{demand} Got {type(parts).__name__}")
    for place, part in enumerate(parts):
        if not isinstance(part, Tensor):
            raise ValueError(f"{demand} Got element {place} of the sequence with type {type(part).__name__}.")
    return tuple(parts)


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether `module` has a parametrization, of the tensor `tensor_name` if given."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def _own_class(module: Module) -> None:
    """Gives `module` a class of its own, which can hold properties."""
    base = type(module)

    def getstate(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(); copy.deepcopy works, pickle does not."
        )

    def deepcopy(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            clone = memo[id(self)] = self.__new__(type(self))
            clone.__dict__ = copy.deepcopy(self.__dict__, memo)
        return memo[id(self)]

    members = {"__getstate__": getstate, "__deepcopy__": deepcopy}
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), members)


def _property_for(name: str) -> property:
    def get(self: Any) -> Tensor:
        if not _cache_depth:
            return self.parametrizations[name]()  # type: ignore[no-any-return]
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def set_(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(get, set_)


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Module:
    """Computes `module.<tensor_name>` by `parametrization(original)` from now on; further calls add to the chain.

    Raises ValueError where the module has no such parameter or buffer or, unless `unsafe`, dtype or shape would change.

    >>> from tenfold.nn import Linear, ReLU
    >>> layer = register_parametrization(Linear(2, 2), "weight", ReLU())
    >>> bool((layer.weight >= 0).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _extend(module, tensor_name, parametrization, unsafe)
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    original: Any = getattr(module, tensor_name)
    chain = ParametrizationList([parametrization], original, unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _own_class(module)
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, _property_for(tensor_name))
    module.parametrizations[tensor_name] = chain
    return module


def _extend(module: Module, tensor_name: str, parametrization: Module, unsafe: bool) -> None:
    """Adds a step to an existing chain."""
    value: Any = getattr(module, tensor_name)
    if not unsafe:
        with tenfold.no_grad():
            computed = parametrization(value)
            _check_like(computed, value, _REGISTERED)
            if hasattr(parametrization, "right_inverse"):
                with suppress(NotImplementedError):
                    _check_like(parametrization.right_inverse(computed), value, _INVERTED)
    module.parametrizations[tensor_name].append(parametrization)
    module.parametrizations[tensor_name].unsafe |= unsafe


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Makes `module.<tensor_name>` an ordinary tensor again: the computed value, or the original one.

    Raises ValueError where it is not parametrized, or where there are several originals and they are to be left.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chain: Any = module.parametrizations[tensor_name]
    if not chain.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized by several tensors."
        )
    original = chain.original if chain.is_tensor else chain.original0
    kept = original
    if leave_parametrized:
        with tenfold.no_grad():
            value = getattr(module, tensor_name)
        if chain.is_tensor and not chain.unsafe:
            with tenfold.no_grad():
                original.copy_(value)
        else:
            kept = Parameter(value) if isinstance(original, Parameter) else value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, kept)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class of the module without its parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Module, to_module: Module, tensor_name: str | None = None) -> Module:
    """Gives `to_module` the parametrizations of `from_module` (those of one tensor if named) and the values of their
    originals.
    """
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        source: Any = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach().clone()))
        for step in source:
            register_parametrization(to_module, name, step, unsafe=source.unsafe)
        target: Any = to_module.parametrizations[name]
        with tenfold.no_grad():
            for original in source._original_names():
                getattr(target, original).copy_(getattr(source, original))
    return to_module
