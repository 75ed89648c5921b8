"""PyTorch's packages, and what each of them is in Tenfold."""

from __future__ import annotations

import importlib.util
from typing import NamedTuple


class Root(NamedTuple):
    """One of PyTorch's packages: Tenfold's module for it and its distribution, and the version that libraries are told."""

    target: str
    distribution: str
    version: str


ROOTS = {
    "torch": Root("tenfold", "tenfold-core", "2.13.0+tenfold"),
    "torchvision": Root("tenfold.vision", "tenfold-vision", "0.28.0+tenfold"),
    "torchtext": Root("tenfold.text", "tenfold-text", "0.18.0+tenfold"),
    "functorch": Root("tenfold.as_torch.stand_ins.functorch", "tenfold-autograd", "2.13.0+tenfold"),
}


def is_ours(name: str) -> bool:
    """Whether a module's name is one of PyTorch's.

    >>> is_ours("torch.nn.functional"), is_ours("torchmetrics.functional")
    (True, False)
    """
    return name.partition(".")[0] in ROOTS


def is_installed(root: str) -> bool:
    """Whether Tenfold's package for one of PyTorch's is there.

    >>> is_installed("torch")
    True
    """
    return importlib.util.find_spec(ROOTS[root].target) is not None
