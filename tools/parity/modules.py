"""PyTorch's table of modules on both libraries: outputs, gradients, buffers and checkpoints, from the same weights.

    python tools/parity/modules.py [--match RE] [-v]

Each entry of `torch.testing._internal.common_modules.module_db` brings inputs. Both libraries build the module, Tenfold's loads
PyTorch's `state_dict` by key, and they are compared in float64, in training and in evaluation.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.testing._internal.common_modules import ModuleInput, module_db

import tenfold
import tenfold.nn

sys.path.insert(0, str(Path(__file__).parent))
from crossing import CONSTANTS, compare, crossed, from_file, tensors, through_file

TOLERANCE = 1e-5


def build(given: ModuleInput, kind: Any, dtype: Any) -> tuple[Any, Any]:
    """The module in PyTorch, and in Tenfold with its weights."""
    args, kwargs = given.constructor_input.args, given.constructor_input.kwargs
    theirs = kind(*args, **kwargs)
    mine = _tenfold(kind.__name__, *crossed((args, kwargs)))
    return theirs.to(dtype), mine.to(CONSTANTS[dtype])


def _tenfold(name: str, args: Any, kwargs: Any) -> Any:
    return getattr(tenfold.nn, name)(*args, **kwargs)


def run(module: Any, args: Any, kwargs: Any, lib: Any) -> tuple[Any, list[Any]]:
    """The outputs, and the gradients of their weighted sum by the parameters' and inputs' order."""
    lib.manual_seed(1)  # both draw the same numbers, such as where a fractional pool's regions begin
    out = module(*args, **kwargs)
    floating = [x for x in tensors(out) if x.requires_grad]
    wanted = [x for x in [*module.parameters(), *tensors([args, kwargs])] if x.requires_grad]
    if not floating or not wanted:
        return out, []
    total = sum((x * lib.linspace(0.5, 1.5, x.numel(), dtype=x.dtype).reshape(x.shape)).sum() for x in floating)
    total = total.real if total.is_complex() else total
    grads = lib.autograd.grad(total, wanted, allow_unused=True)
    return out, [x for x in grads if x is not None]


def check_one(info: Any, given: ModuleInput, dtype: Any, training: bool) -> None:
    """Outputs, gradients, buffers and the way of the weights through files, for one input."""
    theirs, mine = build(given, info.module_cls, dtype)
    theirs.train(training)
    mine.train(training)
    args, kwargs = given.forward_input.args, given.forward_input.kwargs
    my_args, my_kwargs = crossed((args, kwargs))
    if info.is_lazy:  # the first call gives the parameters their shapes
        with torch.no_grad():
            theirs(*args, **kwargs)
    keys = list(theirs.state_dict())
    mine.load_state_dict(from_file(theirs.state_dict()))
    assert list(mine.state_dict()) == keys, f"keys {list(mine.state_dict())}, PyTorch has {keys}"
    expected = run(theirs, args, kwargs, torch)
    got = run(mine, my_args, my_kwargs, tenfold)
    compare("output", got[0], expected[0], TOLERANCE)
    compare("gradients", got[1], expected[1], TOLERANCE)
    compare("state", mine.state_dict(), theirs.state_dict(), TOLERANCE)
    own, others = through_file(mine.state_dict())
    again = build(given, info.module_cls, dtype)
    for module, state in zip(again, (others, own), strict=True):
        module.train(training)
        module.load_state_dict(state)
    expected, got = run(again[0], args, kwargs, torch), run(again[1], my_args, my_kwargs, tenfold)
    compare("output after a load", got[0], expected[0], TOLERANCE)


def check(info: Any) -> None:
    """All inputs of an entry."""
    dtype = torch.float64 if torch.float64 in info.dtypes else info.dtypes[0]
    count = 0
    for training in (True, False):
        torch.manual_seed(0)
        given = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training)
        for i, one in enumerate(given):
            if one.forward_input is None:
                continue
            count += 1
            try:
                check_one(info, one, dtype, training)
            except Exception as error:
                where = f"input {i}{' ' + one.desc if one.desc else ''}, {'training' if training else 'evaluation'}"
                raise type(error)(f"{where}: {error}") from error
    assert count, "no input"


def rows(match: str = "") -> dict[str, Callable[[], None]]:
    """A check for each entry by name."""
    chosen = {info.name: info for info in module_db if re.search(match, info.name)}
    return {name: lambda info=info: check(info) for name, info in chosen.items()}


if __name__ == "__main__":
    from crossing import score

    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--match", default="", help="only modules whose name this regular expression finds")
    arguments.add_argument("-v", action="store_true", help="whole messages")
    options = arguments.parse_args()
    warnings.simplefilter("ignore")
    sys.exit(score("modules", rows(options.match), options.v))
