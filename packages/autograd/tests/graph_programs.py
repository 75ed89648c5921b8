"""Programs on the graph of gradients, run in both libraries: their outcome, compared."""

from __future__ import annotations

from typing import Any

import numpy as np


def assert_same(ours: Any, theirs: Any) -> None:
    if hasattr(theirs, "tolist"):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-5)
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            assert_same(a, b)
    else:
        assert ours == theirs


def outcome(program: Any, lib: Any) -> Any:
    try:
        return program(lib)
    except (RuntimeError, TypeError, AssertionError) as error:
        return error


def assert_as_pytorch(program: Any, tenfold: Any, torch: Any) -> None:
    """Whether a program has the same outcome in both libraries, or is refused in the same words."""
    ours, theirs = outcome(program, tenfold), outcome(program, torch)
    if not isinstance(theirs, Exception):
        assert_same(ours, theirs)
        return
    said = str(theirs).split(".")[0].split(",")[0].replace("torch", "tenfold").split(": ")[-1][:60]
    assert isinstance(ours, Exception)
    assert said in str(ours)
    assert isinstance(ours, type(theirs)) or isinstance(theirs, RuntimeError)
