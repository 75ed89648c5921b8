"""The modules that programs import under PyTorch's names: what works works, and what does not says so when it is used."""

import subprocess
import sys

import pytest

PRELUDE = "from tenfold import as_torch; as_torch.install(); import warnings, torch, tenfold\n"


def run(code):
    done = subprocess.run([sys.executable, "-W", "error", "-c", PRELUDE + code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_programs_import():
    run("""
from torch.distributed import init_process_group, destroy_process_group, ReduceOp
from torch.nn.parallel import DistributedDataParallel as DDP, DataParallel
from torch.cuda.amp import autocast, GradScaler
from torch.fx import GraphModule, wrap, symbolic_trace
from torch.fx.node import Node
from torch.jit import Final, ScriptModule
from torch.onnx import export
from torch.utils.data._utils.collate import default_collate
from torch.utils.data.dataloader import DataLoader, _BaseDataLoaderIter
from torch.utils._pytree import tree_map, tree_flatten, tree_unflatten
from torch.utils.checkpoint import checkpoint
from torch.nn.modules.utils import _pair
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.futures import Future
from torch.types import Number, Device
from torch._C import _LinAlgError, _TensorMeta
from torch.profiler import ProfilerAction, schedule, tensorboard_trace_handler
from torch.autograd.function import FunctionCtx, InplaceFunction
from torch.distributed.fsdp import FullyShardedDataParallel
from torch import Tensor, FloatTensor, nn, optim, jit, fx
import torch.hub
""")


def test_questions_are_answered_truthfully():
    run("""
assert torch.distributed.is_available() is False and torch.distributed.is_initialized() is False
assert torch.jit.is_scripting() is False and torch.jit.is_tracing() is False
assert torch.compiler.is_compiling() is False and torch.onnx.is_in_onnx_export() is False
assert torch.backends.mps.is_available() is False
assert not isinstance(torch.nn.Linear(1, 1), (torch.jit.ScriptModule, torch.fx.GraphModule))
assert torch._C._get_tracing_state() is None and torch._C._TensorBase is torch.Tensor
assert torch._C._VariableFunctions.add is torch.add
assert issubclass(torch.cuda.OutOfMemoryError, RuntimeError) and torch.cuda.OutOfMemoryError is torch.OutOfMemoryError
""")


@pytest.mark.parametrize(
    ("use", "package"),
    [
        ("torch.jit.trace(torch.nn.Identity(), torch.ones(1))", "tenfold-compile"),
        ("torch.fx.symbolic_trace(torch.nn.Identity())", "tenfold-compile"),
        ("torch.onnx.export(torch.nn.Identity(), torch.ones(1), 'x')", "tenfold-compile"),
        ("torch.export.export(torch.nn.Identity(), (torch.ones(1),))", "tenfold-compile"),
        ("torch.distributed.init_process_group('gloo')", "tenfold-distributed"),
        ("torch.nn.parallel.DistributedDataParallel(torch.nn.Identity())", "tenfold-distributed"),
    ],
)
def test_what_is_missing_names_its_package(use, package):
    run(f"""
try:
    {use}
except RuntimeError as error:  # NotImplementedError is one
    assert {package!r} in str(error), error
else:
    raise AssertionError("it went through")
""")


def test_compile_and_script_return_what_they_are_given_and_say_so_once():
    run("""
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    module = torch.nn.Linear(1, 1)
    assert torch.compile(module) is module and torch.jit.script(module) is module

    @torch.compile
    def double(x):
        return 2 * x

    @torch.compile(mode="max-autotune")
    def triple(x):
        return 3 * x

    @torch.jit.script
    def half(x):
        return x / 2
assert (double(2), triple(2), half(2)) == (4, 6, 1)
assert [str(w.message).split(":")[0] for w in seen] == ["torch.compile", "torch.jit.script"], seen

@torch.jit.ignore
def first(x):
    return x

@torch.jit.ignore(drop=True)
def second(x):
    return x

class Module(torch.nn.Module):
    @torch.jit.export
    def method(self):
        return 1

    @torch.jit.unused
    def other(self):
        return 2
assert first(1) == second(1) == Module().method() == 1 and torch.jit.annotate(list[int], []) == []
""")


def test_grad_scaler_without_cuda_is_off():
    run("""
if not torch.cuda.is_available():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        scaler = torch.cuda.amp.GradScaler()
    assert not scaler.is_enabled() and "CUDA is not available" in str(seen[-1].message)
    loss = torch.ones(1)
    assert scaler.scale(loss) is loss
""")


def test_sdpa_kernels_may_be_chosen():
    run("""
from torch.nn.attention import SDPBackend, sdpa_kernel
q = torch.ones(1, 2, 3, 4)
with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
    assert torch.nn.functional.scaled_dot_product_attention(q, q, q).shape == q.shape
with torch.backends.cuda.sdp_kernel(enable_flash=False):
    assert not torch.backends.cuda.flash_sdp_enabled()
assert torch.backends.cuda.flash_sdp_enabled()
""")


def test_types_of_tensors():
    run("""
assert isinstance(torch.ones(1), torch.FloatTensor) and not isinstance(torch.ones(1), torch.LongTensor)
assert torch.ones(1).type() == "torch.FloatTensor" and torch.ones(1).type(torch.DoubleTensor).dtype is torch.float64
assert torch.ones(1).type("torch.LongTensor").dtype is torch.int64
assert not isinstance(torch.ones(1), torch.cuda.FloatTensor)
from torch.autograd import Variable
assert isinstance(torch.ones(1), Variable) and Variable(torch.ones(1), requires_grad=True).requires_grad
""")


def test_what_libraries_on_top_of_pytorch_import():
    run("""
from torch.utils._foreach_utils import _group_tensors_by_device_and_dtype
from torch.autograd.profiler import EventList, emit_nvtx, record_function
from torch.distributed import nn as dist_nn
from torch.futures import Future
import torch.utils.flop_counter
Future[int]
assert not isinstance(3, torch.SymInt) and not isinstance("x", torch.PyTorchFileReader)
groups = _group_tensors_by_device_and_dtype([[torch.ones(1), torch.ones(1).int()], [torch.zeros(1), torch.zeros(2).int()]])
assert len(groups) == 2 and groups[torch.device("cpu"), torch.int32][0][1][0].shape == (2,)
with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
    torch.nn.Linear(3, 4)(torch.ones(2, 3)) @ torch.ones(4, 5)
assert counter.get_total_flops() == 2 * 2 * 3 * 4 + 2 * 2 * 4 * 5
with emit_nvtx(enabled=False):
    pass
""")


def test_a_group_of_one_process_has_a_store():
    run("""
import datetime
from torch.distributed import DistStoreError, HashStore, PrefixStore, TCPStore
store = TCPStore("localhost", 1234, world_size=1)
store.set("a", "x")
assert store.get("a") == b"x" and store.add("n", 2) == 2 and store.check(["a", "n"]) and store.num_keys() == 2
assert store.compare_set("a", "x", "y") == b"y" and store.delete_key("a") and not store.check(["a"])
below = PrefixStore("p", store)
below.set("b", "z")
assert store.get("p/b") == b"z" and below.get("b") == b"z" and below.num_keys() == 1
try:
    HashStore().wait(["missing"], datetime.timedelta(milliseconds=1))
except DistStoreError as error:
    assert "missing" in str(error)
else:
    raise AssertionError
try:
    TCPStore("localhost", 1234, world_size=2)
except NotImplementedError as error:
    assert "tenfold-distributed" in str(error)
else:
    raise AssertionError
""")
