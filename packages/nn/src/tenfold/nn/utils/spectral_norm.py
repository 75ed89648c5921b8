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

__all__ = [
    "SpectralNorm", "SpectralNormLoadStateDictPreHook", "SpectralNormStateDictHook", "remove_spectral_norm", "spectral_norm",
]  # fmt: skip


class SpectralNorm:
    """The hook: weight = W / sigma, sigma = u . W v, with u and v from power iterations in training."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight with `dim` first and all others in one."""
        return weight.movedim(self.dim, 0).reshape(weight.size(self.dim), -1)

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

    def _solve_v(self, matrix: Tensor, u: Tensor, sigma: Tensor) -> Tensor:
        """The v with u . W v = sigma that is nearest to a right singular vector: the least squares solution, scaled."""
        v: Tensor = tenfold.linalg.pinv(matrix.t() @ matrix) @ matrix.t() @ u
        return v * (sigma / u.dot(matrix @ v))

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
        module._register_state_dict_hook(SpectralNormStateDictHook(self))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(self))


class SpectralNormStateDictHook:
    """Writes into the state_dict's metadata which version of the hook its entries are of."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Module, state_dict: Any, prefix: str, local_metadata: dict[str, Any]) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


class SpectralNormLoadStateDictPreHook:
    """Makes v from the weights where a state_dict is from before it was kept."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self, state_dict: Any, prefix: str, local_metadata: dict[str, Any], strict: bool,
        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        version = local_metadata.get("spectral_norm", {}).get(self.fn.name + ".version")
        if version is not None and version >= 1:
            return
        key = prefix + self.fn.name
        had = key + "_orig" in state_dict and key + "_u" in state_dict and key + "_v" not in state_dict
        if version is None and not (had and key in state_dict):  # of this version, without its metadata
            return
        with tenfold.no_grad():
            original, weight = state_dict[key + "_orig"], state_dict.pop(key)
            sigma = (original / weight).mean()
            matrix, u = self.fn.reshape_weight_to_matrix(original), state_dict[key + "_u"]
            state_dict[key + "_v"] = self.fn._solve_v(matrix, u, sigma)


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
            for table in (module._state_dict_hooks, module._load_state_dict_pre_hooks):
                for number, other in list(table.items()):
                    if getattr(getattr(other, "hook", other), "fn", None) is hook:
                        del table[number]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
