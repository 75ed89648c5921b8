"""`torch.onnx`: models are exported by tenfold-compile; the questions are answered."""

from __future__ import annotations

import enum

from tenfold.as_torch.stand_ins.absent import classes, functions, show

_WHY = "exporting models to ONNX needs graphs of programs, which are in the package tenfold-compile, which is not installed"


class OnnxExporterError(RuntimeError):
    """An error of the exporter."""


class TrainingMode(enum.Enum):
    """How a model is exported; none is."""

    EVAL, PRESERVE, TRAINING = range(3)


class OperatorExportTypes(enum.Enum):
    """What becomes of operators that ONNX has not; no model is exported."""

    ONNX, ONNX_ATEN, ONNX_ATEN_FALLBACK, ONNX_FALLTHROUGH = range(4)


def is_in_onnx_export() -> bool:
    """False: no model is being exported.

    >>> is_in_onnx_export()
    False
    """
    return False


def is_onnxrt_backend_supported() -> bool:
    """False: ONNX Runtime runs nothing here."""
    return False


globals().update(functions("dynamo_export export register_custom_op_symbolic unregister_custom_op_symbolic", _WHY))
globals().update(classes("ExportOptions ONNXProgram", _WHY))
errors = show(f"{__name__}.errors", {"OnnxExporterError": OnnxExporterError})
__all__ = ["ONNXProgram", "OnnxExporterError", "errors", "export", "is_in_onnx_export"]
