"""What programs do to PyTorch besides using it: patch its functions, look into its modules, add some."""

from __future__ import annotations

import subprocess
import sys

import pytest


def test_functions_that_programs_replace_are_what_layers_call(run):
    run("""
from unittest import mock
from torch import nn
import torch.nn.functional as F
x = torch.ones(1, 1, 4, 4)
for name, layer in dict(
    conv2d=nn.Conv2d(1, 1, 1), conv_transpose2d=nn.ConvTranspose2d(1, 1, 1), max_pool2d=nn.MaxPool2d(2),
    avg_pool2d=nn.AvgPool2d(2),
    adaptive_avg_pool2d=nn.AdaptiveAvgPool2d(1), lp_pool2d=nn.LPPool2d(2, 2), relu=nn.ReLU(), linear=nn.Linear(4, 1),
).items():
    with mock.patch.object(F, name, wraps=getattr(F, name)) as called:
        layer(x)
    assert called.call_count == 1, name
""")


def test_methods_of_tensors_can_be_replaced_before_their_first_call(run):
    run("""
plain = torch.Tensor.__add__
torch.Tensor.__add__ = lambda self, other: plain(self, other) * 2
assert (torch.ones(1) + 1).item() == 4
torch.Tensor.__add__ = plain
assert (torch.ones(1) + 1).item() == 2
plain = torch.Tensor.relu
torch.Tensor.relu = lambda self: "replaced"
assert torch.ones(1).relu() == "replaced"
torch.Tensor.relu = plain
assert torch.ones(1).relu().item() == 1
""")


def test_modules_of_a_program_s_own_lie_below_torch(run):
    run("""
import sys, types
own = sys.modules["torch.my_extension"] = types.ModuleType("torch.my_extension")
import torch.my_extension as found
assert found is own and torch.my_extension is own
""")


def test_classes_say_where_they_are_and_what_they_are_made_of(run):
    run("""
import inspect, os, pickle
from torch import nn
import torch.nn.functional as F
assert nn.Module.__module__ == "torch.nn.modules.module" and nn.ReLU.__module__ == "torch.nn.modules.activation"
assert "def forward" in inspect.getsource(nn.Linear) and "class Module" in inspect.getsource(nn.Module)
assert os.path.isdir(torch.__path__[0]) and os.path.isdir(os.path.dirname(torch.__file__))
assert F.relu.__module__ == F.dropout.__module__ == F.conv2d.__module__ == "torch.nn.functional"
assert torch.add.__module__ == "torch"
assert {"jit", "_C", "nn", "add"} <= set(dir(torch))
assert nn.Linear.__constants__ == ["in_features", "out_features"] and "groups" in nn.Conv2d.__constants__
parameter = nn.Parameter(torch.ones(1))
parameter.note = 3
assert pickle.loads(pickle.dumps(parameter)).note == 3
""")


def test_functions_are_listed_by_the_module_that_programs_have(run):
    run("""
from torch.overrides import get_overridable_functions, resolve_name, TorchFunctionMode
assert torch.add in get_overridable_functions()[torch]
assert [resolve_name(f) for f in (torch.ones, torch.tensor, torch.add)] == ["torch.ones", "torch.tensor", "torch.add"]
from torch.utils._device import DeviceContext, _device_constructors
assert torch.ones in _device_constructors()
with DeviceContext(torch.device("meta")):
    assert torch.ones(2).device.type == "meta" and torch.ones(2, device="cpu").device.type == "cpu"
""")


def test_what_is_compiled_elsewhere_can_be_asked_for(run):
    run("""
import importlib.util
from torch.optim.optimizer import ParamsT, StateDict
from torch.utils.cpp_extension import BuildExtension, CUDA_HOME, is_ninja_available, load
from torch.onnx import OperatorExportTypes, TrainingMode
assert (TrainingMode.EVAL.value, OperatorExportTypes.ONNX_ATEN_FALLBACK.value) == (0, 2) and not is_ninja_available()
assert repr(torch.per_tensor_affine) == "torch.per_tensor_affine" and isinstance(torch.per_tensor_affine, torch.qscheme)
assert torch.backends.mha.get_fastpath_enabled()
refused = [(lambda: load("n", ["a.cpp"]), NotImplementedError)]
if importlib.util.find_spec("cupy") is None:  # which has marks
    refused.append((lambda: torch.cuda.nvtx.range_push("a"), RuntimeError))
for use, kind in refused:
    try:
        use()
    except kind:
        continue
    raise AssertionError
""")


def test_settings_of_the_compiler_are_changed_for_a_while(run):
    run("""
import torch._dynamo
with torch._dynamo.config.patch(suppress_errors=True):
    assert torch._dynamo.config.suppress_errors
@torch._dynamo.config.patch("verbose", True)
def inside():
    return torch._dynamo.config.verbose
assert inside() and not torch._dynamo.config.verbose and not torch._dynamo.config.suppress_errors
try:
    torch._dynamo.config.patch(surely_missing=True)
except AttributeError:
    pass
else:
    raise AssertionError
""")


def test_hub_lends_its_progress_bar(run):
    pytest.importorskip("tqdm")
    run("""assert torch.hub.tqdm is __import__("tqdm").tqdm""")


def test_names_that_libraries_borrow(run):
    run("""
from torch import TensorType
import torch.cuda.amp
from torch.utils.checkpoint import check_backward_validity
assert torch.cuda.amp.common.amp_definitely_not_available() is not torch.cuda.is_available()
assert not isinstance(torch.ones(1), TensorType)
check_backward_validity([torch.ones(1, requires_grad=True)])
try:
    check_backward_validity([torch.ones(1)])
except UserWarning as warning:
    assert "None of the inputs" in str(warning)
else:
    raise AssertionError
""")


def test_every_dtype_is_pickled_under_either_name(run):
    check = "import pickle; from tenfold.types import dtypes; assert all(pickle.loads(pickle.dumps(d)) is d for d in dtypes.ALL)"
    run(check)
    subprocess.run([sys.executable, "-c", check], check=True, timeout=100)
