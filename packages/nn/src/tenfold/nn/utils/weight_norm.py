"""The older weight normalization: a forward pre-hook that computes `<name>` from the parameters `<name>_g` and `<name>_v`.

`parametrizations.weight_norm` computes the same and is what new code takes; it also reads this one's state_dict.
"""

from __future__ import annotations

import warnings
from typing import Any

from tenfold import Tensor
from tenfold.nn.module import Module
from tenfold.nn.parameter import Parameter, is_lazy
from tenfold.nn.utils.parametrizations import norm_except

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook: weight = g v / |v|, the norm taken over all dimensions but `dim` (None: over all)."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The weight of the module's g and v."""
        g: Any = getattr(module, self.name + "_g")
        v: Any = getattr(module, self.name + "_v")
        weight: Tensor = v * (g / norm_except(v, self.dim))
        return weight

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))

    def remove(self, module: Module) -> None:
        """Makes the weight of now a parameter; the hook stays."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        module.register_parameter(self.name, Parameter(weight.detach()))


def _hook_of(module: Module, name: str) -> tuple[Any, WeightNorm | None]:
    """Key and hook of `name`'s normalization, (None, None) where there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            return key, hook
    return None, None


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Splits `module.<name>` into its length `<name>_g` and direction `<name>_v`; deprecated.

    Raises RuntimeError where it is split already, ValueError where the module is lazy. Source: Salimans and Kingma 2016.
    """
    warnings.warn(
        "`tenfold.nn.utils.weight_norm` is deprecated in favor of `tenfold.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if _hook_of(module, name)[1] is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    weight: Any = getattr(module, name)
    if is_lazy(weight):
        raise ValueError(
            "The module passed to `WeightNorm` can't have uninitialized parameters. Run a forward with a sample batch first."
        )
    hook = WeightNorm(name, dim)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(norm_except(weight, hook.dim).detach()))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    hook(module, ())
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Makes `module.<name>` one parameter again; raises ValueError where `weight_norm` has not split it."""
    key, hook = _hook_of(module, name)
    if hook is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module
