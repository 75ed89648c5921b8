"""The older spectral normalization: a forward pre-hook that computes `<name>` from `<name>_orig` and power iterations.

`parametrizations.spectral_norm` computes the same and is what new code takes; checkpoints of many generative models have
this one's keys.
"""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.layers.conv.layers import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from tenfold.nn.module import Module
from tenfold.nn.parameter import Parameter, is_lazy

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook: weight = W / sigma, sigma = u . W v, with u and v from power iterations in training."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight with `dim` first and all others in one."""
        return weight.movedim(self.dim, 0).flatten(1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight divided by its largest singular value as known so far."""
        weight: Any = getattr(module, self.name + "_orig")
        u: Any = getattr(module, self.name + "_u")
        v: Any = getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with tenfold.no_grad():
                for _ in range(self.n_power_iterations):
                    # In place, so that copies of the module on several devices share the vectors.
                    v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))
            u, v = u.clone(), v.clone()  # the next iteration does not change what this one's gradient needs
        sigma: Tensor = u.dot(matrix.mv(v))
        result: Tensor = weight / sigma
        return result

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def remove(self, module: Module) -> None:
        """Makes the weight of now a parameter; the hook stays."""
        with tenfold.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for name in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + name)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def attach(self, module: Module) -> None:
        """Splits the module's parameter and registers the hook."""
        weight: Any = module._parameters[self.name]
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. "
                "Make sure to run the dummy forward before applying spectral normalization"
            )
        vectors = [
            F.normalize(weight.detach().new_empty(size).normal_(0, 1), dim=0, eps=self.eps)
            for size in self.reshape_weight_to_matrix(weight.detach()).shape
        ]
        del module._parameters[self.name]
        module.register_parameter(self.name + "_orig", weight)
        setattr(module, self.name, weight.data)  # a plain attribute, which the hook replaces
        for suffix, vector in zip(("_u", "_v"), vectors, strict=True):
            module.register_buffer(self.name + suffix, vector)
        module.register_forward_pre_hook(self)


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divides `module.<name>` by its largest singular value before every forward.

    `dim` is the dimension of the outputs: 1 in transposed convolutions, else 0. Source: Miyato et al., 2018.

    Raises RuntimeError where it is normalized already, ValueError where the module is lazy.

    >>> import tenfold
    >>> from tenfold import nn
    >>> sorted(nn.utils.spectral_norm(nn.Linear(2, 3)).state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    SpectralNorm(name, n_power_iterations, dim, eps).attach(module)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Makes `module.<name>` one parameter again; raises ValueError where `spectral_norm` has not split it."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
