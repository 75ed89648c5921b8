"""Hooks around a module's call: how they are registered, on one module or on all, and how a call runs them."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from tenfold.nn import backward_hooks
from tenfold.utils.hooks import RemovableHandle

__all__ = [
    "RemovableHandle",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

Hook = Callable[..., Any]


class GlobalHooks:
    """The hooks that hold for every module in the process."""

    def __init__(self) -> None:
        self.forward_pre: OrderedDict[int, Hook] = OrderedDict()
        self.forward: OrderedDict[int, Hook] = OrderedDict()
        self.forward_with_kwargs: OrderedDict[int, bool] = OrderedDict()
        self.forward_always_called: OrderedDict[int, bool] = OrderedDict()
        self.backward_pre: OrderedDict[int, Hook] = OrderedDict()
        self.backward: OrderedDict[int, Hook] = OrderedDict()
        self.is_full_backward: bool | None = None
        self.parameter_registration: OrderedDict[int, Hook] = OrderedDict()
        self.buffer_registration: OrderedDict[int, Hook] = OrderedDict()
        self.module_registration: OrderedDict[int, Hook] = OrderedDict()

    def around_calls(self) -> bool:
        """Whether any of them acts when a module is called."""
        return bool(self.forward_pre or self.forward or self.backward_pre or self.backward)


GLOBAL = GlobalHooks()


def _put(hooks: Any, hook: Hook, flags: list[Any] | None = None, prepend: bool = False) -> RemovableHandle:
    """Adds `hook` to `hooks` and its id to every dictionary in `flags`, first instead of last when `prepend`."""
    handle = RemovableHandle(hooks, extra_dict=flags or None)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    for flag in flags or ():
        flag[handle.id] = True
    return handle


class HookRegistration:
    """The hook methods of `Module`.

    `_hooked` is the one attribute that a call tests. It is True in a module's own dictionary once a hook was registered
    there, and on the class while a global hook exists; a call that finds no hook any more resets it.
    """

    _hooked: ClassVar[bool] = False
    _forward_hooks: OrderedDict[int, Hook]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Hook]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _backward_pre_hooks: OrderedDict[int, Hook]
    _backward_hooks: OrderedDict[int, Hook]
    _is_full_backward_hook: bool | None

    def register_forward_pre_hook(self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        """Calls `hook(module, args)` before forward; what it returns replaces the positional arguments.

        With `with_kwargs` it is `hook(module, args, kwargs)` and returns None or `(args, kwargs)`.
        """
        flags = [self._forward_pre_hooks_with_kwargs] if with_kwargs else None
        self.__dict__["_hooked"] = True
        return _put(self._forward_pre_hooks, hook, flags, prepend)

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Calls `hook(module, args, output)` after forward; what it returns replaces the output.

        With `with_kwargs` it is `hook(module, args, kwargs, output)`; with `always_call` it also runs when forward raised.
        """
        flags: list[Any] = [self._forward_hooks_with_kwargs] if with_kwargs else []
        if always_call:
            flags.append(self._forward_hooks_always_called)
        self.__dict__["_hooked"] = True
        return _put(self._forward_hooks, hook, flags, prepend)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Calls `hook(module, grad_output)` when the gradients of the outputs are known; a returned tuple replaces them."""
        self.__dict__["_hooked"] = True
        return _put(self._backward_pre_hooks, hook, None, prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Calls `hook(module, grad_input, grad_output)` when the gradients of the inputs are known; a returned tuple
        replaces grad_input.

        Raises RuntimeError on a module that has a hook of `register_backward_hook`.
        """
        self._backward_kind(full=True)
        return _put(self._backward_hooks, hook, None, prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """Calls `hook(module, grad_input, grad_output)` around the last node of the output's graph; use the full one
        for new code.

        Raises RuntimeError on a module that has a hook of `register_full_backward_hook`.
        """
        self._backward_kind(full=False)
        return _put(self._backward_hooks, hook)

    def _backward_kind(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                f"{type(self).__name__}: it already has a {'regular' if full else 'full'} backward hook. Cannot use "
                "both "
                "regular backward hooks and full backward hooks on a single Module; register only one kind."
            )
        self._is_full_backward_hook = full
        self.__dict__["_hooked"] = True


def _put_global(hooks: Any, hook: Hook, flags: list[Any] | None = None) -> RemovableHandle:
    HookRegistration._hooked = True
    return _put(hooks, hook, flags)


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Calls `hook(module, args)` before the forward of every module, ahead of the module's own hooks."""
    return _put_global(GLOBAL.forward_pre, hook)


def register_module_forward_hook(hook: Hook, *, with_kwargs: bool = False, always_call: bool = False) -> RemovableHandle:
    """Calls `hook(module, args, output)` after the forward of every module, ahead of the module's own hooks."""
    flags: list[Any] = [GLOBAL.forward_with_kwargs] if with_kwargs else []
    if always_call:
        flags.append(GLOBAL.forward_always_called)
    return _put_global(GLOBAL.forward, hook, flags)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Calls `hook(module, grad_output)` in the backward of every module."""
    return _put_global(GLOBAL.backward_pre, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Calls `hook(module, grad_input, grad_output)` in the backward of every module.

    Raises RuntimeError when a hook of `register_module_backward_hook` exists.
    """
    _global_backward_kind(full=True)
    return _put_global(GLOBAL.backward, hook)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """Calls `hook(module, grad_input, grad_output)` around the last node of every module's output; use the full one for
    new code.
    """
    _global_backward_kind(full=False)
    return _put_global(GLOBAL.backward, hook)


def _global_backward_kind(full: bool) -> None:
    if GLOBAL.is_full_backward is (not full):
        raise RuntimeError(
            "register_module backward hooks: Cannot use both regular backward hooks and full backward hooks as global "
            "Module hooks; register only one kind."
        )
    GLOBAL.is_full_backward = full


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Calls `hook(module, name, parameter)` at every registration of a parameter; what it returns is registered instead."""
    return _put(GLOBAL.parameter_registration, hook)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Calls `hook(module, name, buffer)` at every registration of a buffer; what it returns is registered instead."""
    return _put(GLOBAL.buffer_registration, hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Calls `hook(module, name, submodule)` at every registration of a submodule; what it returns is registered instead."""
    return _put(GLOBAL.module_registration, hook)


def registered(hooks: OrderedDict[int, Hook], module: Any, name: str, value: Any) -> Any:
    """`value` after the registration hooks had their say."""
    for hook in hooks.values():
        replacement = hook(module, name, value)
        value = value if replacement is None else replacement
    return value


def call_with_hooks(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `module(...)` does when some hook exists, here or globally."""
    own = module._forward_hooks or module._forward_pre_hooks or module._backward_hooks or module._backward_pre_hooks
    if not own:
        module.__dict__.pop("_hooked", None)
        if not GLOBAL.around_calls():
            HookRegistration._hooked = False
            return module.forward(*args, **kwargs)
    call = _Call(module, args, kwargs)
    try:
        return call.run()
    except Exception:
        call.run_always_called()
        raise


class _Call:
    """One call with hooks, and how far it came: hooks that run after a failure see what there was by then."""

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result: Any = None
        self.called: set[int] = set()

    def run(self) -> Any:
        """Pre-hooks, forward, hooks."""
        module = self.module
        self.args, self.kwargs = _run_pre_hooks(module, self.args, self.kwargs)
        taps = backward_hooks.taps_for(module, GLOBAL)
        if taps is not None:
            self.args = taps.wrap_inputs(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        for hook_id, hook, with_kwargs, _ in _forward_hooks(module):
            self.called.add(hook_id)
            self._run_hook(hook, with_kwargs)
        if taps is not None:
            self.result = taps.wrap_outputs(self.result)
        backward_hooks.attach_regular(module, GLOBAL, self.args, self.result)
        return self.result

    def _run_hook(self, hook: Hook, with_kwargs: bool) -> None:
        given = (self.args, self.kwargs, self.result) if with_kwargs else (self.args, self.result)
        replacement = hook(self.module, *given)
        self.result = self.result if replacement is None else replacement

    def run_always_called(self) -> None:
        """After a failure: the hooks that asked to run anyway, with the result so far; their own failures become warnings."""
        for hook_id, hook, with_kwargs, always in _forward_hooks(self.module):
            if not always or hook_id in self.called:
                continue
            try:
                self._run_hook(hook, with_kwargs)
            except Exception as error:  # noqa: BLE001 - the call's own error must reach the user, whatever this one is
                warnings.warn(
                    f"{type(self.module).__name__}: a forward hook with always_call=True raised {error!r}; it was silenced "
                    "because another error is already being raised.",
                    stacklevel=4,
                )


def _run_pre_hooks(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    for hook in tuple(GLOBAL.forward_pre.values()):
        replacement = hook(module, args)
        args = args if replacement is None else _as_tuple(replacement)
    for hook_id, hook in tuple(module._forward_pre_hooks.items()):
        if hook_id not in module._forward_pre_hooks_with_kwargs:
            replacement = hook(module, args)
            args = args if replacement is None else _as_tuple(replacement)
            continue
        replacement = hook(module, args, kwargs)
        if replacement is None:
            continue
        if not (isinstance(replacement, tuple) and len(replacement) == 2):
            raise RuntimeError(
                f"{type(module).__name__}: a forward pre-hook with kwargs must return None or a tuple of (new_args, "
                "new_kwargs), "
                f"but got {replacement}."
            )
        args, kwargs = replacement
    return args, kwargs


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _forward_hooks(module: Any) -> Iterator[tuple[int, Hook, bool, bool]]:
    """All forward hooks in calling order, as (id, hook, takes kwargs, always called)."""
    for key, hook in tuple(GLOBAL.forward.items()):
        yield key, hook, key in GLOBAL.forward_with_kwargs, key in GLOBAL.forward_always_called
    for key, hook in tuple(module._forward_hooks.items()):
        yield key, hook, key in module._forward_hooks_with_kwargs, key in module._forward_hooks_always_called
