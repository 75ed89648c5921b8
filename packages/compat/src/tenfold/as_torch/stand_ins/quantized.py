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


class qscheme:  # noqa: N801 - PyTorch's name
    """How numbers of a quantized tensor stand for real ones."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


per_tensor_affine, per_tensor_symmetric = qscheme("per_tensor_affine"), qscheme("per_tensor_symmetric")
per_channel_affine, per_channel_symmetric = qscheme("per_channel_affine"), qscheme("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")
