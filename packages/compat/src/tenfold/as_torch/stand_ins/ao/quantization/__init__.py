"""`torch.ao.quantization`, also `torch.quantization`: models are not quantized here, and the classes can be asked for.

What marks a place of a model, such as `QuantStub`, is the identity that it is in PyTorch until the model is converted; what
would quantize raises NotImplementedError.
"""

from __future__ import annotations

import importlib
from typing import Any

from tenfold.as_torch.stand_ins.absent import classes, functions, show_missing

Module: Any = importlib.import_module("tenfold.nn").Module
_WHY = "Tenfold has no quantized tensors, and so no quantized models"


class QuantStub(Module):  # type: ignore[misc]
    """Where a model's input would be quantized: it passes through.

    >>> import tenfold
    >>> QuantStub()(tenfold.ones(1))
    tensor([1.])
    """

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        return x


class DeQuantStub(QuantStub):
    """Where a model's output would be made floating point again: it passes through."""


class QuantWrapper(Module):  # type: ignore[misc]
    """A module between a QuantStub and a DeQuantStub.

    >>> from tenfold import nn
    >>> [name for name, _ in QuantWrapper(nn.ReLU()).named_children()]
    ['quant', 'dequant', 'module']
    """

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.add_module("quant", QuantStub())
        self.add_module("dequant", DeQuantStub())
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X: Any) -> Any:
        return self.dequant(self.module(self.quant(X)))


def disable_observer(mod: Any) -> None:
    """Let an observer rest, in `model.apply`: no module is one."""


enable_observer = disable_fake_quant = enable_fake_quant = disable_observer
_OBSERVERS = (
    "FixedQParamsObserver HistogramObserver MinMaxObserver MovingAverageMinMaxObserver MovingAveragePerChannelMinMaxObserver "
    "NoopObserver ObserverBase PerChannelMinMaxObserver PlaceholderObserver RecordingObserver ReuseInputObserver "
    "UniformQuantizationObserverBase default_debug_observer default_dynamic_quant_observer default_histogram_observer "
    "default_observer default_per_channel_weight_observer default_placeholder_observer default_weight_observer "
    "get_observer_state_dict load_observer_state_dict"
)
_FAKE_QUANTIZE = (
    "FakeQuantize FakeQuantizeBase FixedQParamsFakeQuantize FusedMovingAvgObsFakeQuantize default_fake_quant "
    "default_per_channel_weight_fake_quant default_weight_fake_quant"
)
_QCONFIG = (
    "QConfig QConfigDynamic default_dynamic_qconfig default_per_channel_qconfig default_qat_qconfig default_qconfig "
    "float16_dynamic_qconfig float_qparams_weight_only_qconfig get_default_qat_qconfig get_default_qconfig qconfig_equals"
)
_MAPPING = "QConfigMapping get_default_qat_qconfig_mapping get_default_qconfig_mapping"
_QUANTIZE = "convert prepare prepare_qat propagate_qconfig_ quantize quantize_dynamic quantize_qat swap_module"
_FX = "convert_fx fuse_fx prepare_fx prepare_qat_fx convert_to_reference_fx"
_FUSE = "fuse_conv_bn fuse_conv_bn_relu fuse_linear_bn fuse_modules fuse_modules_qat"

_ALL = f"{_OBSERVERS} {_FAKE_QUANTIZE} {_QCONFIG} {_MAPPING} {_QUANTIZE} {_FX} {_FUSE} QuantType get_fuser_method".split()
globals().update(classes(" ".join(name for name in _ALL if name[0].isupper()), _WHY))
globals().update(functions(" ".join(name for name in _ALL if not name[0].isupper()), _WHY))
show_missing(
    __name__,
    {
        "observer": _OBSERVERS,
        "fake_quantize": f"{_FAKE_QUANTIZE} disable_fake_quant disable_observer enable_fake_quant enable_observer",
        "qconfig": _QCONFIG,
        "qconfig_mapping": _MAPPING,
        "quantize_fx": _FX,
        "fuse_modules": _FUSE,
        "stubs": "DeQuantStub QuantStub QuantWrapper",
    },
    _WHY,
)
__all__ = [*_ALL,  # noqa: PLE0604 - they are strings
           "DeQuantStub", "QuantStub", "QuantWrapper", "disable_fake_quant", "disable_observer", "enable_fake_quant",
           "enable_observer"]  # fmt: skip
