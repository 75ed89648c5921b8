"""The dtypes of quantized tensors, which Tenfold has not: they can be named, compared and be keys; no tensor is of one."""

from __future__ import annotations


class QuantizedType:
    """A dtype of PyTorch's quantized tensors."""

    is_floating_point = is_complex = False
    is_signed = True

    def __init__(self, name: str, itemsize: int) -> None:
        self.name, self.itemsize = name, itemsize

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


qint8, quint8, qint32 = QuantizedType("qint8", 1), QuantizedType("quint8", 1), QuantizedType("qint32", 4)
quint4x2, quint2x4 = QuantizedType("quint4x2", 1), QuantizedType("quint2x4", 1)
