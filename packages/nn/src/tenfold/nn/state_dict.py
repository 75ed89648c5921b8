"""A module's state as a flat dictionary of tensors, and back."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import tenfold
from tenfold import Tensor
from tenfold.__future__ import get_swap_module_params_on_conversion
from tenfold.nn.hooks import Hook, RemovableHandle, _put
from tenfold.nn.parameter import Parameter, is_lazy
from tenfold.nn.swapping import swap_tensors

__all__: list[str] = []

EXTRA_STATE_KEY = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """The fields of what `load_state_dict` returns."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class _IncompatibleKeys(IncompatibleKeys):
    """What `load_state_dict` returns: the keys that were missing and those that were not expected."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class StateDict:
    """The methods of `Module` that write and read its state."""

    _version: ClassVar[int] = 1
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Hook]
    _state_dict_pre_hooks: OrderedDict[int, Hook]
    _load_state_dict_pre_hooks: OrderedDict[int, Hook]
    _load_state_dict_post_hooks: OrderedDict[int, Hook]

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """The parameters, persistent buffers and extra states of the tree as an OrderedDict of dotted names.

        The tensors share memory with the module and are detached unless `keep_vars`. The dictionary's `_metadata` holds each
        module's `_version`. `destination` collects into an existing dictionary, under `prefix`.
        """
        if args:
            warnings.warn("state_dict: positional arguments are deprecated, name them.", FutureWarning, stacklevel=2)
            given: tuple[Any, ...] = (*args, *(destination, prefix, keep_vars)[len(args) :])
            destination, prefix, keep_vars = given
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for pre_hook in self._state_dict_pre_hooks.values():
            pre_hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return self._run_state_dict_hooks(destination, prefix, local_metadata)

    def _run_state_dict_hooks(self, destination: Any, prefix: str, local_metadata: dict[str, Any]) -> Any:
        for hook in self._state_dict_hooks.values():
            answer = hook(self, destination, prefix, local_metadata)
            if answer is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError(f"{type(self).__name__}: state_dict post-hook must return None, got {type(answer).__name__}")
            destination = answer
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Writes this module's own state (not its children's) into `destination`."""
        for name, parameter in self._parameters.items():
            if parameter is not None:
                destination[prefix + name] = parameter if keep_vars else parameter.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()
        if _overrides(self, "get_extra_state"):
            destination[prefix + EXTRA_STATE_KEY] = self.get_extra_state()

    def _own_state(self) -> dict[str, Tensor]:
        """The parameters and persistent buffers that are set, by name."""
        temporary = self._non_persistent_buffers_set
        own: dict[str, Any] = {name: p for name, p in self._parameters.items() if p is not None}
        own.update((name, b) for name, b in self._buffers.items() if b is not None and name not in temporary)
        return own

    def get_extra_state(self) -> Any:
        """Override it, with `set_extra_state`, to put a value of any kind into the state_dict."""
        raise RuntimeError(f"{type(self).__name__}.get_extra_state: only a class that overrides it has an extra state.")

    def set_extra_state(self, state: Any) -> None:
        """Override it, with `get_extra_state`, to take that value back."""
        raise RuntimeError(f"{type(self).__name__}.set_extra_state: only a class that overrides it takes an extra state.")

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> _IncompatibleKeys:
        """Copies the tensors of `state_dict` into the parameters and buffers of the same names.

        With `assign` the module takes the given tensors themselves, with their dtype and device. Returns the missing and the
        unexpected keys. Raises RuntimeError, listing everything that is wrong, for shapes that differ and (when `strict`) for
        keys that do not match; TypeError for something that is no mapping.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        loading = _Loading(state_dict, assign)
        loading.load(self, "", loading.state)
        if strict:
            loading.errors[:0] = _key_errors("Missing", loading.missing) + _key_errors("Unexpected", loading.unexpected)
        if loading.errors:
            listed = "\n\t".join(loading.errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return _IncompatibleKeys(loading.missing, loading.unexpected)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Reads this module's own state (not its children's), appending to the three lists what does not fit."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = self._own_state()
        for name, current in own.items():
            key = prefix + name
            if key in state_dict:
                _load_tensor(self, name, current, key, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra_key = prefix + EXTRA_STATE_KEY
        takes_extra = _overrides(self, "set_extra_state")
        if takes_extra and extra_key in state_dict:
            self.set_extra_state(state_dict[extra_key])
        elif strict and takes_extra:
            missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            unexpected_keys += [k for k in state_dict if k != extra_key and self._is_foreign(k, prefix, own)]

    def _is_foreign(self, key: str, prefix: str, own: Mapping[str, Any]) -> bool:
        """Whether `key` lies under `prefix` but belongs neither to this module nor to a child."""
        if not key.startswith(prefix):
            return False
        name, dot, _ = key[len(prefix) :].partition(".")
        return name not in (self._modules if dot else own)

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Calls `hook(module, prefix, keep_vars)` before `state_dict` collects this module."""
        return _put(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Calls `hook(module, state_dict, prefix, local_metadata)` after this module's tree was collected; it may
        change the dictionary in place.
        """
        hook._from_public_api = True  # type: ignore[attr-defined]
        return _put(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Hook) -> RemovableHandle:
        """As `register_state_dict_post_hook`, but what the hook returns replaces the dictionary."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                f"{type(self).__name__}._register_state_dict_hook: this function was already registered with "
                "register_state_dict_post_hook; pass a new one."
            )
        return _put(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Calls `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`
        before loading.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Hook, with_module: bool = False) -> RemovableHandle:
        return _put(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Calls `hook(module, incompatible_keys)` after this module and its children were loaded; it may change the
        lists in place.
        """
        return _put(self._load_state_dict_post_hooks, hook)


class _WrappedHook:
    """A hook with its module in front; deepcopy and pickle keep the two together, which a closure could not.

    The module has the hook, so the hook has it weakly: a circle would keep both until garbage is collected.
    """

    def __init__(self, hook: Hook, module: Any) -> None:
        self.hook, self._module = hook, None if module is None else weakref.ref(module)

    def __call__(self, *args: Any) -> Any:
        return self.hook(*args) if self._module is None else self.hook(self._module(), *args)

    def __getstate__(self) -> dict[str, Any]:
        """As PyTorch's class of this name writes it, so that whole modules go over."""
        if self._module is None:
            return {"hook": self.hook, "with_module": False}
        return {"hook": self.hook, "with_module": True, "module": self._module()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["hook"], state.get("module"))  # type: ignore[misc] # the same two


class _Loading:
    """One `load_state_dict` under way: the dictionary, and what was found wrong with it so far."""

    def __init__(self, state_dict: Mapping[str, Any], assign: bool) -> None:
        self.state: dict[str, Any] = OrderedDict(state_dict)
        self.metadata = getattr(state_dict, "_metadata", None)
        if self.metadata is not None:
            self.state._metadata = self.metadata  # type: ignore[attr-defined]
        self.assign = assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []

    def load(self, module: Any, prefix: str, state: dict[str, Any]) -> None:
        """Loads `module` and then its children, each of which sees only the keys below its own prefix."""
        local_metadata = {} if self.metadata is None else self.metadata.get(prefix[:-1], {})
        if self.assign:
            local_metadata["assign_to_params_buffers"] = True
        module._load_from_state_dict(state, prefix, local_metadata, True, self.missing, self.unexpected, self.errors)
        groups: dict[str, dict[str, Any]] = {}  # by child, in one pass
        for key, value in state.items() if module._modules else ():
            groups.setdefault(key[len(prefix) :].partition(".")[0], {})[key] = value
        for name, child in module._modules.items():
            if child is not None:
                self.load(child, f"{prefix}{name}.", groups.get(name, {}))
        keys = _IncompatibleKeys(self.missing, self.unexpected)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, keys) is not None:
                raise AssertionError(
                    f"{type(module).__name__}: a hook of register_load_state_dict_post_hook returned a value; it has "
                    "to "
                    "return None and change the lists of incompatible_keys in place."
                )


def _key_errors(kind: str, keys: list[str]) -> list[str]:
    if not keys:
        return []
    quoted = ", ".join(f'"{key}"' for key in keys)
    return [f"{kind} key(s) in state_dict: {quoted}. "]


def _load_tensor(module: Any, name: str, current: Tensor, key: str, value: Any, assign: bool, error_msgs: list[str]) -> None:
    """Puts `value` into the module's tensor `name`, or appends to `error_msgs` why it cannot."""
    if not isinstance(value, Tensor):
        error_msgs.append(
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint '
            f"but received {type(value)}"
        )
        return
    lazy = is_lazy(current)
    if not lazy and current.dim() == 0 and value.dim() == 1 and value.numel() == 1:
        value = value[0]  # scalars were once written as one-element vectors
    if not lazy and value.shape != current.shape:
        error_msgs.append(
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {current.shape}."
        )
        return
    if not assign and current.is_meta and not value.is_meta:
        warnings.warn(
            f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, which has "
            "no data to copy into; use to_empty() first, or assign=True.",
            stacklevel=4,
        )
    swap, action = (True, "swapping") if get_swap_module_params_on_conversion() else (False, "copying")
    try:
        if swap:
            _swap(current, value, assign)
        elif assign:
            _assign(module, name, current, value)
        else:
            _copy(current, value)
    except Exception as error:  # noqa: BLE001 - every tensor that fails is listed in one error
        error_msgs.append(
            f'While {action} the parameter named "{key}", whose dimensions in the model are {current.size()} and whose '
            f"dimensions in the checkpoint are {value.size()}, an exception occurred: {error.args}."
        )


@tenfold.no_grad()
def _copy(current: Tensor, value: Tensor) -> None:
    current.copy_(value)


@tenfold.no_grad()
def _swap(current: Tensor, value: Tensor, assign: bool) -> None:
    loaded = current.module_load(value, assign=assign)
    if loaded is current or loaded is value:
        raise RuntimeError("module_load returned one of self or other, return its detach() if one of them is what you want")
    if isinstance(current, Parameter):
        loaded = _as_parameter(loaded, current.requires_grad)
    swap_tensors(current, loaded)


@tenfold.no_grad()
def _assign(module: Any, name: str, current: Tensor, value: Tensor) -> None:
    if isinstance(current, Parameter):
        value = _as_parameter(value, current.requires_grad)
    setattr(module, name, value)


def _as_parameter(value: Tensor, requires_grad: bool) -> Parameter:
    if isinstance(value, Parameter):
        value.requires_grad_(requires_grad)
        return value
    made: Parameter = Parameter(value, requires_grad=requires_grad)
    return made


def _overrides(module: Any, method: str) -> bool:
    return getattr(type(module), method) is not getattr(StateDict, method)
