"""Differentiation: the tape, gradients of functions, and how operators get their gradient rules."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tenfold.autograd.anomaly import detect_anomaly, set_detect_anomaly
from tenfold.autograd.function import Function, NestedIOFunction
from tenfold.autograd.grad_mode import is_multithreading_enabled, set_multithreading_enabled
from tenfold.autograd.gradcheck import gradcheck, gradgradcheck
from tenfold.autograd.gradients import gradient, gradients
from tenfold.autograd.nodes import Node
from tenfold.autograd.saved import SavedTensor
from tenfold.autograd.tape import backward, grad
from tenfold.autograd.variable import Variable
from tenfold.dispatch.gradmode import enable_grad, inference_mode, no_grad, set_grad_enabled
from tenfold.dispatch.services import SERVICES

__all__ = [
    "Function", "NestedIOFunction", "Node", "SavedTensor", "Variable", "backward", "detect_anomaly", "draw",
    "enable_grad", "grad", "gradcheck", "gradgradcheck", "gradient", "gradients", "inference_mode",
    "is_multithreading_enabled", "no_grad", "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled",
]  # fmt: skip

# A custom Function meets vmap and forward mode above it, which are written in Functions themselves.
SERVICES.provide("tenfold.autograd.function_transforms", "apply_through_transforms")

_MODULES = ("anomaly_mode", "forward_ad", "func", "functional", "grad_mode", "graph", "profiler")

if TYPE_CHECKING:
    from tenfold.autograd.drawing import draw as draw
else:

    def __getattr__(name: str) -> Any:
        """The modules that PyTorch's users reach as attributes, imported when first asked for."""
        if name == "DeviceType":
            return importlib.import_module("tenfold.profiler").DeviceType
        if name == "draw":
            return importlib.import_module("tenfold.autograd.drawing").draw
        if name == "_is_checkpoint_valid":
            return importlib.import_module("tenfold.autograd.engine").is_checkpoint_valid
        if name in _MODULES:
            return importlib.import_module(f"tenfold.autograd.{name}")
        raise AttributeError(f"module 'tenfold.autograd' has no attribute {name!r}")
