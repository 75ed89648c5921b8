"""`torch.overrides` beside PyTorch's: which functions ask, what a class is asked for, and what its tests are made of."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch")

PROGRAM = """
import warnings
import torch
import torch.overrides as overrides
from torch.nn import functional as F

known = [function for found in overrides.get_overridable_functions().values() for function in found]
ignored, testing = overrides.get_ignored_functions(), overrides.get_testing_overrides()
named = dict(
    add=torch.add, pow=torch.pow, softmax=torch.softmax, cat=torch.cat, stack=torch.stack, where=torch.where, einsum=torch.einsum,
    linear=F.linear, dropout=F.dropout, loss=F.cross_entropy, norm=F.layer_norm, inv=torch.linalg.inv, fft=torch.fft.fft,
    add_=torch.Tensor.add_, shape=torch.Tensor.shape.__get__,
    grad=torch.Tensor.grad.__get__, is_floating_point=torch.is_floating_point, numel=torch.numel, meshgrid=torch.meshgrid,
    zeros=torch.zeros, arange=torch.arange, rand=torch.rand, tensor=torch.tensor, no_grad=torch.is_grad_enabled,
    seed=torch.manual_seed, eye=torch.eye,
)
for name, function in named.items():
    print(name, function in known, function in ignored, function in testing)
    if name in ("shape", "grad", "add_"):
        print(overrides.resolve_name(function), overrides.is_tensor_method_or_property(function))
print(testing[torch.add](1, 2), testing[F.linear](1, 2), overrides.resolve_name(torch.linalg.inv), overrides.resolve_name(len))


class Seen(torch.Tensor):
    names = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        item = func is torch.Tensor.__getitem__, func is torch.Tensor.add, func is F.gelu
        cls.names.append((func.__name__, *item))
        return super().__torch_function__(func, types, args, kwargs)


x = torch.ones(2).as_subclass(Seen)
for call in (
    lambda: x**2, lambda: torch.pow(x, 2.0), lambda: x.mean(), lambda: x.fill_(2.0), lambda: torch.where(x > 0, x, x),
    lambda: x[0], lambda: x[None], lambda: x + 1, lambda: F.gelu(x), lambda: x[x > 1], lambda: x.clamp(0, 1),
    lambda: x.std(), lambda: x.view(1, 2),
):
    Seen.names.clear()
    print(type(call()).__name__, Seen.names)


class Plain(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl


print(type(torch.nn.Parameter.__torch_function__(torch.add, (), (torch.ones(1), 1))).__name__)
print(Plain.__torch_function__(torch.add, (), (torch.ones(1), 1), {"alpha": 2}))


@overrides.wrap_torch_function(lambda a, b=None: (a, b))
def own(a, b=None):
    return "plain"


class Asked:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, args == () and kwargs is None


print(own(1), own(torch.ones(1)), own(1, Asked())[0], own(Asked())[0])


class Mode(overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


with Mode() as outer, Mode() as inner:
    print(overrides._get_current_function_mode() is inner, overrides._get_current_function_mode_stack() == [outer, inner])
print(overrides._get_current_function_mode())
"""


def test_programs_that_ask_by_themselves_find_the_same() -> None:
    printed = []
    for start in (["-c"], ["-m", "tenfold.as_torch", "-c"]):
        done = subprocess.run([sys.executable, *start, PROGRAM], capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout.splitlines())
    assert printed[1] == printed[0]
