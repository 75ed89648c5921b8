"""In what float32 is computed: `fp32_precision` of all libraries, of CUDA's, and of products, convolutions and recurrences.

What is "none" takes the value of what it is part of. What kernels look at follows each change: the level of
`set_float32_matmul_precision`, and `backends.cudnn.allow_tf32`. PyTorch refuses some questions after a mixture of old and new
switches; here each says what holds.
"""

from __future__ import annotations

from types import ModuleType

from tenfold.inspection import precision

PARENTS = {"matmul": "cuda", "conv": "cuda", "rnn": "cuda", "cuda": "generic"}
ACCEPTED = ("none", "ieee", "tf32", "bf16")


def resolved(name: str) -> str:
    """The value of a part: its own, or that of what it is part of; convolutions and recurrences may use TF32 at first."""
    found = _inherited(name)
    return "tf32" if found == "none" and name in ("conv", "rnn") else found


def _inherited(name: str) -> str:
    own = precision.OWN[name]
    return own if own != "none" or name == "generic" else _inherited(PARENTS[name])


def choose(name: str, value: str) -> None:
    """Set the value of a part.

    Raises: RuntimeError for a value that there is not, or that CUDA's libraries have not.
    """
    if value not in ACCEPTED:
        raise RuntimeError(f"Unknown precision: {value}; choose from {', '.join(ACCEPTED)}")
    if value == "bf16" and name != "generic":
        raise RuntimeError("backend 'cuda' does not support precision 'bf16'; choose from ieee, tf32, none")
    precision.OWN[name] = value
    if name in ("matmul", "cuda", "generic"):
        precision.follow(_inherited("matmul"))


class Precision:
    """A part's switch: `fp32_precision` is "ieee", "tf32" or "none"."""

    def __init__(self, name: str) -> None:
        vars(self)["_name"] = name

    def __getattr__(self, name: str) -> str:
        if name != "fp32_precision":
            raise AttributeError(f"Unknown attribute {name}")
        return resolved(vars(self)["_name"])

    def __setattr__(self, name: str, value: str) -> None:
        if name != "fp32_precision":
            raise AttributeError(f"Unknown attribute {name}")
        choose(vars(self)["_name"], value)


class Generic(ModuleType):
    """The module `backends`, whose `fp32_precision` is that of all libraries."""

    fp32_precision = property(lambda self: resolved("generic"), lambda self, value: choose("generic", value))


class Cudnn(ModuleType):
    """The module `backends.cudnn`, whose `fp32_precision` is that of CUDA's libraries."""

    fp32_precision = property(lambda self: resolved("cuda"), lambda self, value: choose("cuda", value))

    @property
    def allow_tf32(self) -> bool:
        """The older switch: of convolutions and recurrences together."""
        return resolved("conv") == "tf32"

    @allow_tf32.setter
    def allow_tf32(self, value: bool) -> None:
        for name in ("conv", "rnn"):
            precision.OWN[name] = "tf32" if value else "ieee"
