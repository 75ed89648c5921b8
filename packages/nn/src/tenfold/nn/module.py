"""`Module`: an object whose tensors and submodules are found by name, and that is called like a function."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import Any, ClassVar, NoReturn, Self

from tenfold import Tensor
from tenfold.nn.conversion import Conversion
from tenfold.nn.hooks import GLOBAL, HookRegistration, call_with_hooks, registered
from tenfold.nn.parameter import Buffer, Parameter
from tenfold.nn.state_dict import StateDict
from tenfold.nn.traversal import Traversal

__all__ = ["Module"]

_HOOK_REGISTRIES = (
    "_backward_pre_hooks _backward_hooks _forward_hooks _forward_hooks_with_kwargs _forward_hooks_always_called "
    "_forward_pre_hooks _forward_pre_hooks_with_kwargs _state_dict_hooks _state_dict_pre_hooks "
    "_load_state_dict_pre_hooks _load_state_dict_post_hooks"
).split()
_CALL_REGISTRIES = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_compile_told = False  # whether a process was told that modules are not compiled
_MEMBER_REGISTRIES = ("_parameters", "_modules", "_buffers")


def _forward_unimplemented(self: Any, *input: Any) -> NoReturn:
    """Defines what the module computes; every subclass overrides it."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class Module(Traversal, HookRegistration, StateDict, Conversion):
    """Base class of everything with parameters: subclass it, create the parts in `__init__`, compute in `forward`.

    Assigning a `Parameter`, a `Buffer` or a `Module` to an attribute registers it, after which `parameters()`, `to()`,
    `state_dict()` and their kin find it in the whole tree. `training` tells layers such as dropout which mode they are in.

    Raises AttributeError when something is registered before `super().__init__()` was called.

    >>> import tenfold
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = Parameter(tenfold.tensor(2.0))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Scale()(tenfold.tensor(3.0)).item()
    6.0
    """

    dump_patches: ClassVar[bool] = False
    call_super_init: ClassVar[bool] = False
    training: bool
    forward: Callable[..., Any] = _forward_unimplemented

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            got = f"the keyword argument '{next(iter(kwargs))}'" if kwargs else f"{len(args)} positional arguments"
            raise TypeError(f"{type(self).__name__}.__init__() of Module takes no arguments, got an unexpected {got}")
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_non_persistent_buffers_set"] = set()
        own["_is_full_backward_hook"] = None
        for registry in _HOOK_REGISTRIES:
            own[registry] = OrderedDict()
        own["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, value in list(vars(cls).items()):
            if isinstance(value, FunctionType) and hasattr(value, "op"):  # an operator is no method: PyTorch's are not bound
                setattr(cls, name, staticmethod(value))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._hooked:
            return call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    _call_impl = __call__  # by PyTorch's name, under which libraries call it

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Leaves the module as it is, with one warning: its operators run one by one."""
        global _compile_told
        if not _compile_told:
            _compile_told = True
            warnings.warn("Module.compile: Tenfold runs modules operator by operator; this one stays as it is", stacklevel=2)

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for registry in _MEMBER_REGISTRIES:
            members = own.get(registry)
            if members is not None and name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, _REGISTERED):
            if not self._is_registered(name):
                super().__setattr__(name, value)
            elif name in self._parameters:
                self._set_parameter(name, value)
            elif name in self._modules:
                self._set_module(name, value)
            else:
                self._set_buffer(name, value)
        elif isinstance(value, Parameter) or name in self.__dict__.get("_parameters", ()):
            self._set_parameter(name, value)
        elif isinstance(value, Module) or name in self.__dict__.get("_modules", ()):
            self._set_module(name, value)
        elif isinstance(value, Buffer) or name in self.__dict__.get("_buffers", ()):
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def _is_registered(self, name: str) -> bool:
        own = self.__dict__
        return "_modules" in own and (name in own["_parameters"] or name in own["_modules"] or name in own["_buffers"])

    def _set_parameter(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Parameter):
            raise TypeError(_cannot_assign(value, "parameter", name, "nn.Parameter or None"))
        self._need_init("parameters")
        self._forget(name, keep="_parameters")
        self.register_parameter(name, value)

    def _set_module(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Module):
            raise TypeError(_cannot_assign(value, "child module", name, "nn.Module or None"))
        self._need_init("module")
        self._forget(name, keep="_modules")
        self._modules[name] = registered(GLOBAL.module_registration, self, name, value)

    def _set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(_cannot_assign(value, "buffer", name, "nn.Buffer, Tensor or None"))
        self._need_init("buffers")
        if isinstance(value, Buffer):
            self._forget(name, keep="_buffers")
            self.register_buffer(name, value, value.persistent)
        else:
            self._buffers[name] = registered(GLOBAL.buffer_registration, self, name, value)

    def __delattr__(self, name: str) -> None:
        for registry in _MEMBER_REGISTRIES:
            if name in self.__dict__.get(registry, ()):
                del self.__dict__[registry][name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def _need_init(self, what: str) -> None:
        if "_modules" not in self.__dict__:
            raise AttributeError(
                f"{type(self).__name__}: cannot assign {what} before Module.__init__() call; call super().__init__() first"
            )

    def _forget(self, name: str, keep: str) -> None:
        """Takes `name` out of everywhere but the registry `keep`."""
        own = self.__dict__
        own.pop(name, None)
        for registry in _MEMBER_REGISTRIES:
            if registry != keep:
                own[registry].pop(name, None)
        if keep != "_buffers":
            self._non_persistent_buffers_set.discard(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter under `name`; None reserves the name.

        Raises TypeError for a name or value of a wrong type or a value that is computed from others, KeyError for a name that
        is empty, has a dot or is taken.
        """
        self._need_init("parameters")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(_cannot_assign(param, "parameter", name, "nn.Parameter or None", "object to"))
        if param is not None and param.grad_fn is not None:
            raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}': compute it from a leaf in forward() instead.")
        self._parameters[name] = registered(GLOBAL.parameter_registration, self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that is state but not trained; with `persistent=False` it stays out of `state_dict`.

        Raises TypeError for a name or value of a wrong type, KeyError for a name that is empty, has a dot or is taken.
        """
        self._need_init("buffers")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(_cannot_assign(tensor, "buffer", name, "Tensor or None", "object to"))
        self._buffers[name] = registered(GLOBAL.buffer_registration, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a submodule under `name`; None reserves the name.

        Raises TypeError for a name or value of a wrong type, KeyError for a name that is empty, has a dot or is taken.
        """
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._need_init("module")
        self._check_name("module", name, self._modules)
        self._modules[name] = registered(GLOBAL.module_registration, self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """Another name of `add_module`."""
        self.add_module(name, module)

    def _check_name(self, kind: str, name: Any, registry: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in registry and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    def _replicate_for_data_parallel(self) -> Self:
        """A copy that shares buffers and children and has no parameters: what is set under their names stays a plain tensor."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.__dict__.update(_parameters={}, _buffers=self._buffers.copy(), _modules=self._modules.copy(), _is_replica=True)
        return made

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Calls `fn` on every submodule, children first, and on this module; the usual way to initialise a net."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Sets training mode, for the whole tree; raises ValueError unless `mode` is a bool."""
        if not isinstance(mode, bool):
            raise ValueError(f"train: training mode is expected to be boolean, got {type(mode).__name__}")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """Sets evaluation mode, for the whole tree."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Says for every parameter whether it is trained; False freezes the module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of every parameter, or zeroes them in place with `set_to_none=False`."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
                continue
            if parameter.grad.grad_fn is not None:
                parameter.grad.detach_()
            else:
                parameter.grad.requires_grad_(False)
            parameter.grad.zero_()

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Override it to say in `repr` what the module was made with."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(child))}" for name, child in self._modules.items()]
        return _block(self._get_name(), lines, children)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers}
        return sorted(name for name in names if not name[:1].isdigit())

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def _torch_state(self) -> dict[str, Any]:
        """What PyTorch's class keeps besides in its instances; `save` writes it where it writes PyTorch's names."""
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for registry in _HOOK_REGISTRIES:
            self.__dict__.setdefault(registry, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)
        if any(self.__dict__[registry] for registry in _CALL_REGISTRIES):
            self.__dict__["_hooked"] = True  # what PyTorch saved does not say so


def _cannot_assign(value: Any, kind: str, name: str, accepted: str, joint: str = "as") -> str:
    got = value.type() if isinstance(value, Tensor) else type(value).__name__
    need = "expected" if joint == "as" else "required"
    return f"cannot assign '{got}' {joint} {kind} '{name}' (tenfold.{accepted} {need})"


def indented(text: str, spaces: int = 2) -> str:
    """`text` with every line after the first moved right, as it stands inside another module's repr."""
    return text.replace("\n", "\n" + " " * spaces)


def _block(name: str, lines: list[str], children: list[str]) -> str:
    """`Name(one short line)`, or one entry a line when there are children or several lines."""
    if not children and len(lines) <= 1:
        return f"{name}({lines[0] if lines else ''})"
    body = "\n  ".join([*lines, *children])
    return f"{name}(\n  {body}\n)"


_REGISTERED = (Tensor, Module)
