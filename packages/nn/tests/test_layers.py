"""Every layer is public; test_layers_keys_oracle.py compares those that are."""

from __future__ import annotations

import importlib
import pkgutil

import tenfold

NOT_PUBLIC = {"NonDynamicallyQuantizableLinear"}  # nor in PyTorch's torch.nn


def layers():
    names = [module.name for module in pkgutil.walk_packages(tenfold.nn.layers.__path__, "tenfold.nn.layers.")]
    found = [item for name in names for item in vars(importlib.import_module(name)).values() if isinstance(item, type)]
    return {item.__name__ for item in found if issubclass(item, tenfold.nn.Module) and item.__name__[0] != "_"} - NOT_PUBLIC


def test_every_layer_is_public():
    assert len(layers()) > 100
    assert layers() - set(tenfold.nn.__all__) == set(), "name it in tenfold/nn/__init__.py"
