"""Walking the tree of a module: its parameters, buffers and submodules, and finding one by its dotted name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tenfold import Tensor
from tenfold.nn.parameter import Parameter

if TYPE_CHECKING:
    from tenfold.nn.module import Module

__all__: list[str] = []


class Traversal:
    """The methods of `Module` that iterate over it or look something up in it."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    if TYPE_CHECKING:  # at run time `typing.get_type_hints` could not look the name up
        _modules: dict[str, Module | None]

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Every module of the tree, this one first, as (dotted name, module); each object once unless
        `remove_duplicate` is False.
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self  # type: ignore[misc]
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, _join(prefix, name), remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Every module of the tree, this one first."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct submodules as (name, module), each object once."""
        seen: set[Any] = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """The direct submodules, each object once."""
        for _, child in self.named_children():
            yield child

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters as (dotted name, parameter), of the whole tree or (`recurse=False`) of this module alone."""
        yield from self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each object once; what an optimizer takes."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers as (dotted name, tensor), of the whole tree or (`recurse=False`) of this module alone."""
        yield from self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each object once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """What `get_members_fn` gives for every module of the tree, under full names, without None and repeated objects."""
        seen: set[Any] = set()
        tree = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for module_prefix, module in tree:
            for name, member in get_members_fn(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield _join(module_prefix, name), member

    def get_submodule(self, target: str) -> Module:
        """The submodule under the dotted name `target` (this module for "").

        Raises AttributeError where a part of the name is missing or is not a module.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            module = _module_attribute(module, name)
        return module  # type: ignore[no-any-return]

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Puts `module` under the dotted name `target`, whose parents must exist; with `strict` the name itself must, too.

        Raises ValueError for an empty name or a value that is no module, AttributeError for a name that does not lead
        to a module.
        """
        if not target:
            raise ValueError("set_submodule: Cannot set the submodule without a target name, got ''.")
        if not isinstance(module, Traversal):
            raise ValueError(f"set_submodule: `module` is not an nn.Module, found {type(module)}")
        *path, name = target.split(".")
        parent = self.get_submodule(".".join(path))
        if strict or hasattr(parent, name):
            _module_attribute(parent, name)
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter under the dotted name `target`; raises AttributeError where there is none."""
        owner, name = self._owner_of(target)
        parameter = getattr(owner, name)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """The buffer under the dotted name `target`; raises AttributeError where there is none."""
        owner, name = self._owner_of(target)
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return owner._buffers[name]  # type: ignore[return-value]

    def _owner_of(self, target: str) -> tuple[Module, str]:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
        return owner, name


def _module_attribute(module: Any, name: str) -> Module:
    if not hasattr(module, name):
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    child: Any = getattr(module, name)
    if not isinstance(child, Traversal):
        raise AttributeError(f"`{name}` is not an nn.Module")
    found: Any = child
    return found  # type: ignore[no-any-return] # the one class that inherits from Traversal


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
