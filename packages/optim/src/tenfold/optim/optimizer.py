"""The base of every optimizer: parameter groups, per-parameter state, checkpoints and hooks."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor
from tenfold.utils.hooks import RemovableHandle, add_hook

Group = dict[str, Any]
State = dict[str, Any]
Params = Iterable[Tensor] | Iterable[Group] | Iterable[tuple[str, Tensor]]
ParamsT, StateDict = Params, dict[str, Any]  # PyTorch's names, which libraries' optimizers import
Closure = Callable[[], Any]
Hooks = OrderedDict[int, Callable[..., Any]]


class _Required:
    """The default of an option that every parameter group has to give itself."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()
_global_optimizer_pre_hooks: Hooks = OrderedDict()
_global_optimizer_post_hooks: Hooks = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before the step of every optimizer."""
    return add_hook(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after the step of every optimizer."""
    return add_hook(_global_optimizer_post_hooks, hook)


class Optimizer:
    """Holds the parameters to optimize in groups, and what the algorithm remembers about each.

    Args:
        params: tensors, `(name, tensor)` pairs, or dicts with a key "params" and the group's own options.
        defaults: option values for groups that do not give their own.

    Raises:
        TypeError: `params` is one tensor, a set, or holds something that is not a tensor.
        ValueError: no parameters; a tensor that is not a leaf; a parameter in two groups; names for some parameters only.

    >>> import tenfold
    >>> weight = tenfold.ones(2, requires_grad=True)
    >>> optimizer = tenfold.optim.SGD([weight], lr=0.5)
    >>> weight.sum().backward()
    >>> optimizer.step()
    >>> weight.tolist()
    [0.5, 0.5]
    """

    OptimizerPreHook: ClassVar[Any] = Callable[..., tuple[Any, dict[str, Any]] | None]  # for annotations
    OptimizerPostHook: ClassVar[Any] = Callable[..., None]
    # State entries that are 0-d tensors, in the default dtype's precision whatever the parameter's dtype.
    scalars: ClassVar[tuple[str, ...]] = ()
    _opt_called = False  # whether step() ran, which a learning rate scheduler asks before it warns

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {params.type()}; write [tensor] to optimize one tensor"
            )
        self.state: defaultdict[Any, State] = defaultdict(dict)
        self.param_groups: list[Group] = []
        self._make_hook_tables()
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _make_hook_tables(self) -> None:
        self._optimizer_step_pre_hooks: Hooks = OrderedDict()
        self._optimizer_step_post_hooks: Hooks = OrderedDict()
        self._optimizer_state_dict_pre_hooks: Hooks = OrderedDict()
        self._optimizer_state_dict_post_hooks: Hooks = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks: Hooks = OrderedDict()
        self._optimizer_load_state_dict_post_hooks: Hooks = OrderedDict()
        self._patch_step_function()

    def _patch_step_function(self) -> None:
        """Have the class's `step` run hooks; for a subclass that does not call this class's `__init__`."""
        self._zero_grad_profile_name = f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"
        _run_hooks_around_step(type(self))

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:  # unpickled, where __init__ has not run
            self._make_hook_tables()
        for group in self.param_groups:  # a checkpoint written before an option existed
            for name, default in self.defaults.items():
                group.setdefault(name, default)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += [f"Parameter Group {i}"] if not i else ["", f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])

    @staticmethod
    def profile_hook_step(func: Callable[..., Any]) -> Callable[..., Any]:
        """The function `step` of an optimizer with its hooks run before and after."""

        @functools.wraps(func)
        def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
            self._opt_called = True
            own = self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks
            if own or _global_optimizer_pre_hooks or _global_optimizer_post_hooks:
                return _step_with_hooks(func, self, args, kwargs)
            return func(self, *args, **kwargs)

        return hooked

    def step(self, closure: Closure | None = None) -> Any:
        """Update the parameters once; each optimizer gives its own.

        Args:
            closure: computes the loss and its gradients again, and returns the loss.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define step()")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or fill them with zeros where `set_to_none` is False."""
        kept: list[Tensor] = []
        for group in self.param_groups:
            for param in group["params"]:
                if set_to_none:
                    param.grad = None
                    continue
                grad = param.grad
                if grad is None:
                    continue
                if grad.grad_fn is not None:
                    grad.detach_()
                else:
                    grad.requires_grad_(False)
                kept.append(grad)
        zero_all(kept)

    def add_param_group(self, param_group: Group) -> None:
        """Add a dict with the key "params" and, where they differ from the defaults, options.

        Raises:
            TypeError: `param_group` is no dict, its params are a set or hold something that is not a tensor.
            ValueError: see the class; also an option without default that the group does not give.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        _unpack_params(param_group)
        for param in param_group["params"]:
            self._check_param(param)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        self._check_group(param_group)
        self.param_groups.append(param_group)

    def _check_param(self, param: Any) -> None:
        if not isinstance(param, Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {_type_name(param)}")
        if not self.defaults.get("differentiable") and not (param.is_leaf or param.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")

    def _check_group(self, group: Group) -> None:
        params = group["params"]
        new = {id(param) for param in params}
        if len(new) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; give each tensor once",
                UserWarning,
                stacklevel=4,
            )
        if self.param_groups and ("param_names" in group) != ("param_names" in self.param_groups[0]):
            state = "with" if "param_names" in group else "without"
            raise ValueError(
                f"all optimizer param groups should be with/without names. cannot add param group {state} names to the optimizer"
            )
        if any(id(param) in new for other in self.param_groups for param in other["params"]):
            raise ValueError("some parameters appear in more than one parameter group")

    def state_dict(self) -> dict[str, Any]:
        """Return what a checkpoint needs: {"state": {index: {...}}, "param_groups": [{..., "params": [index, ...]}]}.

        Parameters are numbered in the order of the groups; tensors are references, not copies.
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        index: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for param in group["params"]:
                index.setdefault(id(param), len(index))
            groups.append({**group, "params": [index[id(param)] for param in group["params"]]})
        for group in groups:  # the order in which PyTorch writes them
            group["params"] = group.pop("params")
        state = {index[id(key)] if isinstance(key, Tensor) else key: value for key, value in self.state.items()}
        result: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            if changed is not None:
                result = changed
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over groups and state from `state_dict`; floating state is cast to its parameter's dtype and device.

        Raises:
            ValueError: another number of groups, or of parameters in a group.
        """
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            if changed is not None:
                state_dict = changed
        saved = deepcopy(state_dict["param_groups"])
        param_of = self._match_params(saved)
        group_of = {index: group for group in saved for index in group["params"]}
        state: defaultdict[Any, State] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            param = param_of.get(key)
            state[key if param is None else param] = value if param is None else self._loaded(param, value, group_of[key])
        groups = [_take_over(group, new) for group, new in zip(self.param_groups, saved, strict=True)]
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _match_params(self, saved: list[Group]) -> dict[int, Tensor]:
        if len(saved) != len(self.param_groups):
            raise ValueError(
                "loaded state dict has a different number of parameter groups: "
                f"got {len(saved)}, the optimizer has {len(self.param_groups)}"
            )
        for mine, group in zip(self.param_groups, saved, strict=True):
            if len(mine["params"]) != len(group["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: "
                    f"got {len(group['params'])} parameters, the group has {len(mine['params'])}"
                )
        ids = chain.from_iterable(group["params"] for group in saved)
        params = chain.from_iterable(group["params"] for group in self.param_groups)
        return dict(zip(ids, params, strict=True))

    def _loaded(self, param: Tensor, state: Any, group: Group) -> Any:
        """State from a checkpoint; counters that an old one keeps as numbers become tensors."""
        if not isinstance(state, dict):
            return _cast(param, state)
        return {name: self._loaded_entry(name, param, value, group) for name, value in state.items()}

    def _loaded_entry(self, name: str, param: Tensor, value: Any, group: Group) -> Any:
        if name in self.scalars and not isinstance(value, Tensor):
            value = scalar_state(value)
        if name != "step":
            return _cast(param, value)
        on_device = isinstance(value, Tensor) and (group.get("capturable") or group.get("fused"))
        return value.to(device=param.device, dtype=tenfold.float32) if on_device else value

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step; it may return new `(args, kwargs)`."""
        return add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return add_hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict()`."""
        return add_hook(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` after `state_dict()`; it may return a replacement."""
        return add_hook(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before `load_state_dict()`; it may return a replacement."""
        return add_hook(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` after `load_state_dict()`."""
        return add_hook(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def _run_hooks_around_step(cls: type[Optimizer]) -> None:
    """Wrap the class's `step`, once; a subclass that inherits `step` inherits the wrapped one."""
    step: Any = cls.step
    if getattr(step, "hooked", False):
        return
    cls.step = Optimizer.profile_hook_step(step)  # type: ignore[method-assign]
    cls.step.hooked = True  # type: ignore[attr-defined]


def _step_with_hooks(step: Callable[..., Any], optimizer: Optimizer, args: Any, kwargs: Any) -> Any:
    args = (optimizer, *args)
    for hook in [*_global_optimizer_pre_hooks.values(), *optimizer._optimizer_step_pre_hooks.values()]:
        result = hook(optimizer, args, kwargs)
        if result is None:
            continue
        if not (isinstance(result, tuple) and len(result) == 2):
            raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {result}.")
        args, kwargs = result
    out = step(*args, **kwargs)
    for hook in [*optimizer._optimizer_step_post_hooks.values(), *_global_optimizer_post_hooks.values()]:
        hook(optimizer, args, kwargs)
    return out


def _unpack_params(group: Group) -> None:
    """Make group["params"] a list of what was given, and move names into group["param_names"]."""
    params = group["params"]
    if isinstance(params, Tensor):
        params = [params]
    elif isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, "
            "but the ordering of tensors in sets will change between runs. Please use a list instead."
        )
    params = list(params)
    named = [isinstance(item, tuple) for item in params]
    if any(named):
        if not all(named):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        group["param_names"] = [name for name, _ in params]
        params = [param for _, param in params]
    group["params"] = params


def _take_over(group: Group, new: Group) -> Group:
    """The saved group with this optimizer's own tensors, and names where the saved one has none."""
    new["params"] = group["params"]
    if "param_names" in group:
        new.setdefault("param_names", group["param_names"])
    return new


def _cast(param: Tensor, value: Any) -> Any:
    if isinstance(value, Tensor):
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)
    if isinstance(value, dict):
        return {name: _cast(param, item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(param, item) for item in value)
    return value


def zero_all(tensors: Sequence[Tensor]) -> None:
    """Fill tensors with zeros, at once where their device does that."""
    many = getattr(tensors[0].device.backend, "many", None) if tensors else None
    if many is None or not many.zero(tensors):
        for tensor in tensors:
            tensor.zero_()


def scalar_state(value: float) -> Tensor:
    """A 0-d tensor of a state entry such as "step"."""
    double = tenfold.get_default_dtype() == tenfold.float64
    return tenfold.tensor(float(value), dtype=tenfold.float64 if double else tenfold.float32)


def _type_name(value: Any) -> str:
    return type(value).__name__


def __getattr__(name: str) -> Any:
    """PyTorch's helpers by which optimizers outside of it are written, on first use."""
    private = importlib.import_module("tenfold.optim.private_names")
    if name in private.__all__:
        return getattr(private, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]
