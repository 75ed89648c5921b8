"""Events for TensorBoard: `torch.utils.tensorboard`. Needs the package tensorboard (the extra of that name)."""

from __future__ import annotations

try:
    import tensorboard
except ImportError as error:
    raise ImportError("torch.utils.tensorboard needs the package tensorboard: pip install tenfold-compat[tensorboard]") from error

from tenfold.utils.tensorboard.writer import FileWriter as FileWriter, SummaryWriter as SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]
