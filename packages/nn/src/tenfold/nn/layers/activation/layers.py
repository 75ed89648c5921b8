"""Pointwise nonlinearities and softmax as modules; the formulas stand at the functions of `tenfold.nn.functional`."""

from __future__ import annotations

import warnings
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.module import Module


class _Inplace(Module):
    """An activation whose one option is to overwrite its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


def with_inplace(module: Any, text: str) -> str:
    """What a module prints of itself, with the option if it is on."""
    return text + ", inplace=True" if module.inplace else text


class Threshold(Module):
    """x where x > threshold, else value. Shape: any, kept.

    >>> Threshold(1, 0)(tenfold.tensor([0.5, 2.0])).tolist()
    [0.0, 2.0]
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return with_inplace(self, f"threshold={self.threshold}, value={self.value}")


class ReLU(_Inplace):
    """max(x, 0). Shape: any, kept.

    >>> ReLU()(tenfold.tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, inplace=self.inplace)


class Hardtanh(Module):
    """x limited to [min_val, max_val]. Shape: any, kept.

    Raises AssertionError unless max_val is greater than min_val.

    >>> Hardtanh()(tenfold.tensor([-3.0, 0.5])).tolist()
    [-1.0, 0.5]
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        if min_value is not None:
            warnings.warn("Hardtanh: min_value is deprecated, use min_val.", FutureWarning, stacklevel=2)
            min_val = min_value
        if max_value is not None:
            warnings.warn("Hardtanh: max_value is deprecated, use max_val.", FutureWarning, stacklevel=2)
            max_val = max_value
        if not max_val > min_val:
            raise AssertionError(f"{type(self).__name__}: max_val must be larger than min_val, got {max_val} and {min_val}")
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return with_inplace(self, f"min_val={self.min_val}, max_val={self.max_val}")


class ReLU6(Hardtanh):
    """min(max(x, 0), 6). Shape: any, kept.

    >>> ReLU6()(tenfold.tensor([-1.0, 2.0, 9.0])).tolist()
    [0.0, 2.0, 6.0]
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """1 / (1 + exp(-x)). Shape: any, kept.

    >>> Sigmoid()(tenfold.tensor(0.0)).item()
    0.5
    """

    def forward(self, input: Tensor) -> Tensor:
        return tenfold.sigmoid(input)


class Hardsigmoid(_Inplace):
    """min(max(x / 6 + 1/2, 0), 1). Shape: any, kept.

    >>> Hardsigmoid()(tenfold.tensor([-4.0, 0.0, 4.0])).tolist()
    [0.0, 0.5, 1.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Tanh(Module):
    """tanh(x). Shape: any, kept.

    >>> Tanh()(tenfold.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return tenfold.tanh(input)


class SiLU(_Inplace):
    """x sigmoid(x), also called swish. Shape: any, kept.

    >>> SiLU()(tenfold.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2689,  0.0000,  0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, inplace=self.inplace)


class Mish(_Inplace):
    """x tanh(softplus(x)). Shape: any, kept. Source: Misra 2019.

    >>> Mish()(tenfold.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.3034,  0.0000,  0.8651])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, inplace=self.inplace)


class Hardswish(_Inplace):
    """x min(max(x + 3, 0), 6) / 6. Shape: any, kept. Source: Howard et al. 2019 (MobileNetV3).

    >>> Hardswish()(tenfold.tensor([-4.0, 1.5, 4.0])).tolist()
    [-0.0, 1.125, 4.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class _Alpha(Module):
    """An activation with a scale `alpha` of its negative part."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def extra_repr(self) -> str:
        return with_inplace(self, f"alpha={self.alpha}")


class ELU(_Alpha):
    """x where x > 0, else alpha (exp(x) - 1). Shape: any, kept. Source: Clevert et al. 2015.

    >>> ELU()(tenfold.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class CELU(_Alpha):
    """max(0, x) + min(0, alpha (exp(x / alpha) - 1)). Shape: any, kept. Source: Barron 2017.

    >>> CELU(2.0)(tenfold.tensor([-1.0, 2.0]))
    tensor([-0.7869,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class SELU(_Inplace):
    """scale (max(0, x) + min(0, alpha (exp(x) - 1))) with the fixed constants that keep mean 0 and variance 1. Shape:
    any, kept.

    Source: Klambauer et al. 2017.

    >>> SELU()(tenfold.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class GLU(Module):
    """a sigmoid(b), a and b the halves of the input along `dim`. Shape: (..., 2N, ...) -> (..., N, ...).

    Source: Dauphin et al. 2016.

    >>> GLU()(tenfold.tensor([2.0, 4.0, 0.0, 0.0])).tolist()
    [1.0, 2.0]
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class GELU(Module):
    """x Phi(x), Phi the normal distribution function, or its "tanh" approximation. Shape: any, kept.

    Source: Hendrycks and Gimpel 2016.

    >>> GELU()(tenfold.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class _Lambda(Module):
    """An activation that shrinks values within `lambd` of zero."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Lambda):
    """x where |x| > lambd, else 0. Shape: any, kept.

    >>> Hardshrink()(tenfold.tensor([-1.0, 0.25, 1.0])).tolist()
    [-1.0, 0.0, 1.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class Softshrink(_Lambda):
    """sign(x) max(|x| - lambd, 0). Shape: any, kept.

    >>> Softshrink()(tenfold.tensor([-1.0, 0.25, 1.0])).tolist()
    [-0.5, 0.0, 0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


class LogSigmoid(Module):
    """log(sigmoid(x)), computed without overflow. Shape: any, kept.

    >>> LogSigmoid()(tenfold.tensor([0.0, 2.0]))
    tensor([-0.6931, -0.1269])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softplus(Module):
    """log(1 + exp(beta x)) / beta, and x itself where beta x > threshold. Shape: any, kept.

    >>> Softplus()(tenfold.tensor([0.0, 2.0]))
    tensor([0.6931, 2.1269])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Softsign(Module):
    """x / (1 + |x|). Shape: any, kept.

    >>> Softsign()(tenfold.tensor([-1.0, 3.0])).tolist()
    [-0.5, 0.75]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x). Shape: any, kept.

    >>> Tanhshrink()(tenfold.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)
