"""Loss scaling: gradients of float16 that would round to zero are multiplied by a scale that grows while nothing overflows.

Source: P. Micikevicius et al., "Mixed Precision Training", ICLR 2018, section 3.2.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable
from enum import Enum
from typing import Any

import tenfold
from tenfold.tensor.tensor import Tensor


def unscale_all_(grads: Iterable[Tensor], found_inf: Tensor, inv_scale: Tensor) -> None:
    """Multiply gradients by `inv_scale` in place, and set `found_inf` to 1 if one of them is not finite."""
    grads = list(grads)
    many = getattr(found_inf.device.backend, "many", None)  # of a device that takes all at once
    with tenfold.no_grad():
        if many is not None and many.unscale(grads, found_inf, inv_scale):
            return
        for g in grads:
            if g.is_sparse:  # elements at one place may overflow together; each is scaled where it lies
                _note(found_inf, g.coalesce()._values())
                g = g._values()
            _note(found_inf, g)
            g.copy_(g.float() * inv_scale if g.dtype.itemsize == 2 else g * inv_scale.to(g.dtype))


def _note(found_inf: Tensor, values: Tensor) -> None:
    """Set `found_inf` to 1 if a value is not finite, without waiting for a device to say so."""
    fine = values.isfinite().all()
    if found_inf.device.type != "cpu":
        found_inf.copy_(tenfold.maximum(found_inf, fine.logical_not().to(found_inf.dtype)))
    elif not bool(fine):
        found_inf.fill_(1.0)


def update_scale_(
    scale: Tensor, growth_tracker: Tensor, found_inf: Tensor, growth_factor: float, backoff_factor: float, growth_interval: int
) -> Tensor:  # fmt: skip
    """Shrink the scale after an overflow; let it grow after `growth_interval` steps without one, unless it would overflow."""
    many = getattr(scale.device.backend, "many", None)  # of a device that need not be waited for
    if many is not None and many.update_scale(scale, growth_tracker, found_inf, growth_factor, backoff_factor, growth_interval):
        return scale
    if float(found_inf):
        scale.mul_(backoff_factor)
        growth_tracker.zero_()
    elif int(growth_tracker) + 1 == growth_interval:
        grown = scale * growth_factor
        if bool(grown.isfinite()):
            scale.copy_(grown)
        growth_tracker.zero_()
    else:
        growth_tracker.add_(1)
    return scale


def _together(flags: Iterable[Tensor], device: Any) -> Tensor:
    """The sum of what several optimizers or devices found."""
    placed = [flag.to(device).reshape(()) for flag in flags]
    return placed[0] if len(placed) == 1 else tenfold.stack(placed).sum()


class OptState(Enum):
    """What happened to an optimizer's gradients since the last `update()`."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """Scales losses, and steps optimizers whose gradients are finite.

    >>> import tenfold
    >>> w = tenfold.ones(2, requires_grad=True)
    >>> scaler = GradScaler("cpu", init_scale=4.0)
    >>> scaler.scale(w.sum()).backward()
    >>> w.grad
    tensor([4., 4.])
    """

    def __init__(
        self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5,
        growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        if enabled and device == "cuda" and not tenfold.cuda.is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
            enabled = False
        self._device, self._enabled = device, enabled
        if enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._growth_factor, self._backoff_factor = init_scale, growth_factor, backoff_factor
        self._growth_interval, self._init_growth_tracker = growth_interval, 0
        self._scale: Tensor | None = None
        self._growth_tracker: Tensor | None = None
        self._found: dict[int, dict[Any, Tensor]] = {}  # by optimizer: what unscaling found on each device
        self._stage: dict[int, OptState] = {}  # by optimizer; READY is not noted

    def _lazy_init_scale_growth_tracker(self, device: Any) -> None:
        self._scale = tenfold.full((), self._init_scale, dtype=tenfold.float32, device=device)
        self._growth_tracker = tenfold.full((), self._init_growth_tracker, dtype=tenfold.int32, device=device)

    def scale(self, outputs: Any) -> Any:
        """Losses, a tensor or a nested sequence of them, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            assert self._scale is not None
            return outputs * self._scale.to(outputs.device)
        if isinstance(outputs, (list, tuple)):
            return type(outputs)([self.scale(o) for o in outputs])
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _unscale_grads_(self, optimizer: Any, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool) -> dict[Any, Tensor]:
        found: dict[Any, Tensor] = {}
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        together: dict[Any, list[Tensor]] = {}
        for g in grads:
            if not allow_fp16 and g.dtype is tenfold.float16:
                raise ValueError("Attempting to unscale FP16 gradients.")
            together.setdefault((g.device, g.dtype, g.is_sparse), []).append(g)
        for (device, *_), members in together.items():
            if device not in found:
                found[device] = found_inf.to(device)
            unscale_all_(members, found[device], inv_scale.to(device))
        return found

    def unscale_(self, optimizer: Any) -> None:
        """Divide an optimizer's gradients by the scale, for clipping before its step."""
        if not self._enabled:
            return
        stage = self._stage.get(id(optimizer))
        if stage == OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if stage == OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        scale = self._known_scale("unscale_")
        none = tenfold.zeros((), dtype=tenfold.float32, device=scale.device)
        self._found[id(optimizer)] = self._unscale_grads_(optimizer, scale.reciprocal(), none, False)
        self._stage[id(optimizer)] = OptState.UNSCALED

    def _known_scale(self, name: str) -> Tensor:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use "  # two spaces, as in PyTorch
                "scaler.scale(loss or outputs) earlier in the iteration."
            )
        return self._scale

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's step, left out where a gradient is not finite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._known_scale("step")
        if self._stage.get(id(optimizer)) == OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            return self._step_that_scales(optimizer, args, kwargs)
        if self._stage.get(id(optimizer)) is None:
            self.unscale_(optimizer)
        found = self._found[id(optimizer)]
        if not found:
            raise AssertionError("No inf checks were recorded for this optimizer. None of its parameters has a gradient")
        self._stage[id(optimizer)] = OptState.STEPPED
        return None if sum(float(flag) for flag in found.values()) else optimizer.step(*args, **kwargs)

    def _step_that_scales(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The step of an optimizer that unscales by itself: it gets the scale (None: divided by already) and what was found."""
        scale = self._known_scale("step")
        unscaled = self._stage.get(id(optimizer)) == OptState.UNSCALED
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn(
                "GradScaler is going to stop passing itself as a keyword argument to the passed optimizer. In the near future "
                "GradScaler registers `grad_scale: Tensor` and `found_inf: Tensor` to the passed optimizer and let the optimizer "
                "use them directly.",
                FutureWarning,
                stacklevel=3,
            )
            result = optimizer.step(*args, **kwargs, grad_scaler=self)
            self._stage[id(optimizer)] = OptState.STEPPED
            return result
        if not unscaled:
            none = tenfold.zeros((), dtype=tenfold.float32, device=scale.device)
            self._found[id(optimizer)] = self._unscale_grads_(optimizer, tenfold.ones_like(scale), none, True)
        own = getattr(optimizer, "grad_scale", None)
        optimizer.grad_scale = None if unscaled else scale if own is None else scale * own
        found = self._found[id(optimizer)].values()
        optimizer.found_inf = _together(found, scale.device) if found else tenfold.zeros((), device=scale.device)
        result = optimizer.step(*args, **kwargs)
        self._stage[id(optimizer)] = OptState.STEPPED
        del optimizer.grad_scale, optimizer.found_inf
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """After the steps of an iteration: the next scale, or a given one."""
        if not self._enabled:
            return
        scale = self._known_scale("update")
        assert self._growth_tracker is not None
        if new_scale is not None:
            self._set_scale(scale, new_scale)
        else:
            flags = [flag for found in self._found.values() for flag in found.values()]
            if not flags:
                raise AssertionError("No inf checks were recorded prior to update.")
            total = _together(flags, scale.device)
            update_scale_(scale, self._growth_tracker, total, self._growth_factor, self._backoff_factor, self._growth_interval)
        self._found, self._stage = {}, {}

    def _set_scale(self, scale: Tensor, new: float | Tensor) -> None:
        if isinstance(new, Tensor) and (new.device.type != self._device or new.numel() != 1 or new.requires_grad):
            raise AssertionError(
                f"new_scale should be a float or a 1-element tensor on {self._device!r} with requires_grad=False, got "
                f"{tuple(new.shape)} on {new.device.type!r} with requires_grad={new.requires_grad}"
            )
        with tenfold.no_grad():
            scale.copy_(new) if isinstance(new, Tensor) else scale.fill_(new)

    # Settings

    def get_scale(self) -> float:
        """The scale, 1 when it is switched off."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale)

    def get_growth_factor(self) -> float:
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker)

    def is_enabled(self) -> bool:
        return self._enabled

    # Checkpoints

    def state_dict(self) -> dict[str, Any]:
        """What a later run needs to go on; empty when it is switched off."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._get_growth_tracker(),
        }  # fmt: skip

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale, self._init_growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        if self._scale is not None and self._growth_tracker is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)

    def __getstate__(self) -> dict[str, Any]:
        if self._enabled and self._found:
            raise AssertionError("A GradScaler instance may only be pickled at the beginning of an iteration, or after update().")
        state = self.__dict__.copy()
        if self._enabled:
            state["_init_scale"], state["_init_growth_tracker"] = self.get_scale(), self._get_growth_tracker()
            state["_scale"] = state["_growth_tracker"] = None
        return state
