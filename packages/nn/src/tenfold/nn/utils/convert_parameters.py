"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

import tenfold
from tenfold import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The values of all parameters after each other. Shape: any -> (total).

    Raises TypeError for parameters on different devices.

    >>> parameters_to_vector([tenfold.ones(2), tenfold.zeros(1)]).tolist()
    [1.0, 1.0, 0.0]
    """
    kept = list(parameters)
    _check_devices(kept)
    return tenfold.cat([parameter.reshape(-1) for parameter in kept])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Makes the parameters views of consecutive parts of `vec` (total).

    Raises TypeError unless `vec` is a tensor and the parameters are on one device.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"vector_to_parameters: expected a Tensor, but got: {type(vec)}")
    kept = list(parameters)
    _check_devices(kept)
    start = 0
    for parameter in kept:
        count = parameter.numel()
        parameter.data = vec[start : start + count].view_as(parameter).data
        start += count


def _check_devices(parameters: list[Tensor]) -> None:
    devices = {str(parameter.device) for parameter in parameters}
    if len(devices) > 1:
        raise TypeError(f"parameters: found on different devices ({', '.join(sorted(devices))}), one is supported")
