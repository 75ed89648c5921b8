"""`torch.overrides`: which functions ask the classes of their arguments."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import torch
import torch.overrides as overrides
from torch.nn import functional as F

known = [function for found in overrides.get_overridable_functions().values() for function in found]
ignored, testing = overrides.get_ignored_functions(), overrides.get_testing_overrides()
for function in (torch.add, torch.pow, torch.cat, torch.einsum, F.linear, F.cross_entropy, torch.linalg.inv, torch.Tensor.view,
                 torch.Tensor.shape.__get__, torch.is_floating_point):
    assert function in known and function in testing and function not in ignored, function
for function in (torch.zeros, torch.arange, torch.rand, torch.tensor, torch.is_grad_enabled, torch.manual_seed):
    assert function in ignored and function not in known, function
assert testing[torch.add](1, 2) == -1 and overrides.resolve_name(torch.linalg.inv) == "torch.linalg.inv"
assert overrides.is_tensor_method_or_property(torch.Tensor.view) and overrides.resolve_name(len) is None

@overrides.wrap_torch_function(lambda a, b=None: (a, b))
def own(a, b=None):
    return "plain"

class Asked:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__

assert (own(1), own(torch.ones(1)), own(1, Asked())) == ("plain", "plain", "own")

class Mode(overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

class Multiplies(overrides.BaseTorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return super().__torch_function__(torch.mul if func is torch.add else func, types, args, kwargs)

x, y = torch.tensor([3.0]), torch.tensor([5.0])
with Multiplies():
    assert (x + y).item() == 15.0 and (x - y).item() == -2.0
assert (x + y).item() == 8.0
assert not overrides.is_tensor_method_or_property(torch.mean) and overrides.resolve_name(torch.add) == "torch.add"

with Mode() as outer, Mode() as inner:
    assert overrides._get_current_function_mode_stack() == [outer, inner]
assert overrides._get_current_function_mode() is None

plain = torch._tensor_str._str
torch.Tensor.__repr__ = lambda self: "patched"
assert repr(torch.ones(1)) == "patched" and plain(torch.ones(1)) == "tensor([1.])"
assert torch.cuda._initialized is False and torch.cuda.random.manual_seed is torch.cuda.manual_seed


class Asked(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        asked.append(func.__name__)
        return overrides.redispatch_function(func, types, args, kwargs)


asked = []
result = torch.add(torch.ones(2).as_subclass(Asked), 1)
assert asked == ["add"] and type(result) is torch.Tensor and result.tolist() == [2.0, 2.0]
"""


def test_programs_that_ask_by_themselves() -> None:
    done = subprocess.run([sys.executable, "-m", "tenfold.as_torch", "-c", PROGRAM], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
