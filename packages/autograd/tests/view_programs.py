"""Programs that write through views: their beginning, their outcome, and the messages that tell what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

# The parts of messages that tell what is wrong; PyTorch's own tests look for them.
PHRASES = (
    "A view was created in no_grad mode and is being modified inplace with grad mode enabled",
    "A view was created in no_grad mode and its base or another view of its base has been modified inplace",
    "is a view of a view which was created in no_grad mode and is being modified inplace with grad mode enabled",
    "A view was created in inference mode and is being modified inplace in normal mode",
    "A view was created in inference mode and its base or another view of its base has been modified inplace",
    "This view is the output of a function that returns multiple views. Such functions do not allow",
    "Inplace update to inference tensor outside InferenceMode is not allowed",
    "Inference tensors cannot be saved for backward",
    "Inference tensors do not track version counter",
    "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",
    "more than one element of the written-to tensor refers to a single memory location",
    "a leaf Variable that requires grad is being used in an in-place operation",
    "a view of a leaf Variable that requires grad is being used in an in-place operation",
    "one of the variables needed for gradient computation has been modified by an inplace operation",
    "can't assign Variable as its own grad",
    "Can't detach views in-place. Use detach() instead",
    "leaf variable has been moved into the graph interior",
)
# Where PyTorch speaks of no_grad mode where there is none.
OWN_WORDS = {
    "constants_unbound": "This view is the output of a function that returns multiple views",
}


def computed(lib: Any) -> tuple[Any, Any]:
    """A leaf, and a tensor computed from it."""
    x = lib.tensor([1.0, 2.0, 3.0], requires_grad=True)
    return x, x * 1


class Refused(Exception):
    """What an exception said, up to the first full stop."""


def outcome(program: Any, lib: Any) -> Any:
    try:
        return plain(program(lib))
    except (RuntimeError, ValueError, TypeError) as error:
        return Refused(type(error).__name__, error)


def plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return np.round(np.array(value.detach().tolist()), 5).tolist()
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def assert_as_pytorch(program: Any, tenfold: Any, torch: Any) -> None:
    """Whether a program has the same outcome in both libraries, or is refused for the same reason."""
    ours, theirs = outcome(program, tenfold), outcome(program, torch)
    if not isinstance(theirs, Refused):
        assert not isinstance(ours, Refused), ours
        assert ours == theirs
        return
    assert isinstance(ours, Refused), f"got {ours}, PyTorch raises {theirs}"
    assert ours.args[0] == theirs.args[0]
    said = OWN_WORDS.get(program.__name__) or next(p for p in PHRASES if p in str(theirs.args[1]))
    assert said in str(ours.args[1]), ours
