"""Making MaskedTensors: leaves of their own, or part of the graph of their data."""

from __future__ import annotations

from typing import Any

from tenfold.masked.maskedtensor.core import MaskedTensor, check


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
    """A MaskedTensor of copies of data and mask, always a leaf.

    Raises:
        TypeError: what is no Tensor, layouts that differ or are not supported, a mask that is not bool.
        ValueError: shapes that differ; sparse data with elements elsewhere than the mask's.

    >>> import tenfold
    >>> tenfold.masked.masked_tensor(tenfold.tensor([1, 2]), tenfold.tensor([True, False]))
    MaskedTensor(
      [1,       --]
    )
    """
    return MaskedTensor(data, mask, requires_grad)  # type: ignore[no-any-return]


def as_masked_tensor(data: Any, mask: Any) -> MaskedTensor:
    """A MaskedTensor whose gradients go on to the data.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0, 2.0], requires_grad=True)
    >>> tenfold.masked.as_masked_tensor(x, tenfold.tensor([True, False])).sum().backward()
    >>> x.grad
    tensor([1., 0.])
    """
    check(data, mask)
    return MaskedTensor.of(data.view_as(data) if data.requires_grad else data, mask)
