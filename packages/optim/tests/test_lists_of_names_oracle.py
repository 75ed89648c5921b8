"""Optimizers' modules say what is theirs, as PyTorch's do."""

from __future__ import annotations

import importlib

import pytest

torch = pytest.importorskip("torch")

MODULES = ("adadelta adagrad adam adamax adamw asgd lbfgs nadam optimizer radam rmsprop rprop sgd sparse_adam swa_utils").split()


@pytest.mark.parametrize("name", MODULES)
def test_modules_have_pytorchs_public_names(name: str) -> None:
    ours, theirs = (importlib.import_module(f"{root}.optim.{name}") for root in ("tenfold", "torch"))
    assert sorted(ours.__all__) == sorted(theirs.__all__)
    assert all(hasattr(ours, public) for public in ours.__all__)
