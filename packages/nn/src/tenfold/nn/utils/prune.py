"""Pruning: parts of a parameter set to zero by a mask, so that `weight = weight_orig * weight_mask` before each forward.

The original becomes the parameter `<name>_orig`, the mask the buffer `<name>_mask`, and a forward pre-hook, the pruning method,
computes `<name>` from both. `remove` makes the zeros final.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor
from tenfold.nn.module import Module
from tenfold.nn.utils.pruning_amounts import (
    _compute_nparams_toprune,
    _validate_pruning_amount,
    _validate_pruning_amount_init,
    _validate_pruning_dim,
    _validate_structured_pruning,
)

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


class BasePruningMethod(ABC):
    """A rule that gives a mask: define `compute_mask` and PRUNING_TYPE, "unstructured", "structured" or "global"."""

    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        """The forward pre-hook: computes the pruned tensor anew."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of ones and zeros for the scores `t`, zero wherever `default_mask` is."""

    def apply_mask(self, module: Module) -> Tensor:
        """The original times the mask."""
        original = getattr(module, self._tensor_name + "_orig")
        mask: Tensor = getattr(module, self._tensor_name + "_mask")
        pruned: Tensor = mask.to(dtype=original.dtype) * original
        return pruned

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any) -> Any:
        """Prunes `module.<name>` by `cls(*args, **kwargs)` and returns the hook: a PruningContainer if it was pruned before.

        The module stays as it was where the mask cannot be computed. Raises AssertionError for scores of another shape.
        """
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        tensor = getattr(module, name)
        _check_scores(importance_scores, tensor, f"parameter {name} of {module}")
        key, earlier = _hook_of(module, name)
        if earlier is not None:
            method = PruningContainer(*(earlier if isinstance(earlier, PruningContainer) else (earlier,)), method)
        before = tenfold.ones_like(tensor) if earlier is None else getattr(module, name + "_mask").detach().clone()
        with tenfold.no_grad():
            mask = method.compute_mask(tensor if importance_scores is None else importance_scores, default_mask=before)
        if earlier is None:
            module.register_parameter(name + "_orig", module._parameters.pop(name))
        else:
            del module._forward_pre_hooks[key]
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """`t` times the mask for `importance_scores` (`t` itself if missing), without a module.

        Raises AssertionError for scores of another shape.
        """
        _check_scores(importance_scores, t, "tensor t")
        before = tenfold.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(t if importance_scores is None else importance_scores, default_mask=before)

    def remove(self, module: Module) -> None:
        """Writes the pruned values into the original parameter and gives it its name back; the hook stays."""
        name = self._tensor_name
        pruned = self.apply_mask(module)
        original: Any = module._parameters.pop(name + "_orig")
        del module._buffers[name + "_mask"]
        original.data = pruned.detach()
        if hasattr(module, name):
            delattr(module, name)
        module.register_parameter(name, original)


class PruningContainer(BasePruningMethod):
    """Several methods for one tensor, in order; the last one chooses among what the earlier ones left."""

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: list[BasePruningMethod] = []
        if args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Appends; raises TypeError for something else than a method, ValueError for one of another tensor."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method._tensor_name != self._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}. "
                f"Found '{method._tensor_name}'"
            )
        self._pruning_methods.append(method)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """`default_mask` with the last method's zeros added; raises ValueError for an unknown PRUNING_TYPE."""
        method: Any = self._pruning_methods[-1]
        where = _still_open(method, default_mask)
        mask = default_mask.detach().clone().to(dtype=t.dtype)
        mask[where] = method.compute_mask(t[where], default_mask=default_mask[where]).to(dtype=mask.dtype)
        return mask


def _still_open(method: Any, mask: Tensor) -> Any:
    """The index of what `method` may choose from: unpruned entries, channels with one, or everything."""
    kind = method.PRUNING_TYPE
    if kind == "unstructured":
        return mask == 1
    if kind == "global":
        return (slice(None),) * mask.dim()
    if kind != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
    dim = method.dim % mask.dim()
    alive = (mask != 0).movedim(dim, 0).flatten(1).any(1)
    return (slice(None),) * dim + (alive,)


class Identity(BasePruningMethod):
    """Prunes nothing, but sets the machinery up."""

    PRUNING_TYPE: ClassVar[str] = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _AmountMethod(BasePruningMethod):
    """Prunes `amount`: a fraction (float in [0, 1]) or a number (int) of entries or channels."""

    def __init__(self, amount: float) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _count(self, size: int) -> int:
        """How many of `size` to prune; raises ValueError where there are fewer."""
        count = _compute_nparams_toprune(self.amount, size)
        _validate_pruning_amount(count, size)
        return count


class _Unstructured(_AmountMethod):
    """Prunes the entries of lowest rank."""

    PRUNING_TYPE: ClassVar[str] = "unstructured"

    def _ranks(self, t: Tensor) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = self._count(t.numel())
        mask = default_mask.clone(memory_format=tenfold.contiguous_format)
        if count:
            lowest = tenfold.topk(self._ranks(t).reshape(-1), count, largest=False).indices
            mask.view(-1)[lowest] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes entries drawn at random."""

    def _ranks(self, t: Tensor) -> Tensor:
        return -tenfold.rand_like(t)


class L1Unstructured(_Unstructured):
    """Prunes the entries of smallest magnitude."""

    def _ranks(self, t: Tensor) -> Tensor:
        return t.abs()

    @classmethod
    def apply(cls, module: Module, name: str, amount: float, importance_scores: Tensor | None = None) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(_AmountMethod):
    """Prunes the channels along `dim` of lowest rank."""

    PRUNING_TYPE: ClassVar[str] = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _ranks(self, t: Tensor) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        channels = t.shape[self.dim]
        count = self._count(channels)
        if not count:
            return default_mask
        kept = tenfold.ones(channels, dtype=t.dtype, device=t.device)
        kept[tenfold.topk(self._ranks(t), count, largest=False).indices] = 0
        shape = [1] * t.dim()
        shape[self.dim] = channels
        return default_mask.to(dtype=t.dtype) * kept.view(shape)


class RandomStructured(_Structured):
    """Prunes channels drawn at random."""

    def _ranks(self, t: Tensor) -> Tensor:
        return tenfold.rand(t.shape[self.dim])


class LnStructured(_Structured):
    """Prunes the channels of smallest n-norm; `n` is what `tenfold.norm` takes for p."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _ranks(self, t: Tensor) -> Tensor:
        return _compute_norm(t, self.n, self.dim)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None
    ) -> Any:
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask that is given."""

    PRUNING_TYPE: ClassVar[str] = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Both masks at once; raises AssertionError where their shapes differ."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: Module, name: str) -> Module:
    """Sets pruning up without pruning; returns the module, as all of these functions do."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prunes `amount` entries, drawn at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Tensor | None = None) -> Module:
    """Prunes the `amount` entries of smallest magnitude, in the parameter or in `importance_scores`.

    >>> from tenfold.nn import Linear
    >>> layer = l1_unstructured(Linear(4, 2), "weight", amount=3)
    >>> int(layer.weight_mask.sum())
    5
    """
    L1Unstructured.apply(module, name, amount, importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prunes `amount` channels along `dim`, drawn at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None) -> Module:
    """Prunes the `amount` channels along `dim` whose n-norm, in the parameter or in `importance_scores`, is smallest."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]], pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prunes all (module, name) of `parameters` as if they were one tensor; `kwargs` are the method's arguments.

    `importance_scores` maps (module, name) to scores. Raises TypeError for arguments of another kind.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    if importance_scores is not None and not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    chosen, scores = list(parameters), importance_scores or {}
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
            f"Found method {pruning_method} of type {method.PRUNING_TYPE}"
        )
    tensors = [getattr(module, name) for module, name in chosen]
    before = [getattr(module, name + "_mask", tenfold.ones_like(t)) for (module, name), t in zip(chosen, tensors, strict=True)]
    with tenfold.no_grad():
        ranked = tenfold.cat([scores.get(key, t).reshape(-1) for key, t in zip(chosen, tensors, strict=True)])
        flat = tenfold.cat([mask.reshape(-1) for mask in before])
        masks = PruningContainer(method).compute_mask(ranked, flat).split([t.numel() for t in tensors])
    for (module, name), t, mask in zip(chosen, tensors, masks, strict=True):
        custom_from_mask(module, name, mask=mask.view(t.shape))


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prunes where `mask` is zero."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Module, name: str) -> Module:
    """Makes the pruning of `module.<name>` final: an ordinary parameter again, with the zeros in it.

    Raises ValueError where it is not pruned.
    """
    key, method = _hook_of(module, name)
    if method is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    method.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module: Module) -> bool:
    """Whether the module or one inside it is pruned."""
    return any(isinstance(hook, BasePruningMethod) for part in module.modules() for hook in part._forward_pre_hooks.values())


def _hook_of(module: Module, name: str) -> tuple[Any, BasePruningMethod | None]:
    """Key and method of the hook that prunes `module.<name>`, (None, None) where there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None, None


def _check_scores(scores: Tensor | None, t: Tensor, what: str) -> None:
    if scores is not None and scores.shape != t.shape:
        raise AssertionError(f"importance_scores should have the same shape as {what}, got {scores.shape} vs {t.shape}")


def _compute_norm(t: Tensor, n: Any, dim: int) -> Tensor:
    """The n-norm of each channel along `dim`."""
    return tenfold.norm(t, p=n, dim=[d for d in range(t.dim()) if d != dim % t.dim()])
