"""`tenfold.storage`: the memory behind tensors, under PyTorch's module name."""

from tenfold.tensor.storage import Storage as UntypedStorage

__all__ = ["UntypedStorage"]
