"""The modules that programs import under PyTorch's names: what works works, and what does not says so when it is used."""

import pytest


def test_what_programs_import(run):
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


def test_questions_are_answered_truthfully(run):
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
        ("torch.jit.trace(torch.nn.Identity(), torch.ones(1)).save('x')", "tenfold-compile"),
        ("torch.jit.save(torch.nn.Identity(), 'x')", "tenfold-compile"),
        ("torch.onnx.export(torch.nn.Identity(), torch.ones(1), 'x')", "tenfold-compile"),
        ("torch.export.export(torch.nn.Identity(), (torch.ones(1),))", "tenfold-compile"),
        ("torch.distributed.init_process_group('gloo')", "tenfold-distributed"),
        ("torch.nn.parallel.DistributedDataParallel(torch.nn.Identity())", "tenfold-distributed"),
    ],
)
def test_what_is_missing_names_its_package(run, use, package):
    run(f"""
try:
    {use}
except RuntimeError as error:  # NotImplementedError is one
    assert {package!r} in str(error), error
else:
    raise AssertionError("it went through")
""")


def test_compile_and_script_return_what_they_are_given_and_say_so_once(run):
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


def test_grad_scaler_without_cuda_is_off(run):
    run("""
if not torch.cuda.is_available():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        scaler = torch.cuda.amp.GradScaler()
    assert not scaler.is_enabled() and "CUDA is not available" in str(seen[-1].message)
    loss = torch.ones(1)
    assert scaler.scale(loss) is loss
""")


def test_sdpa_kernels_may_be_chosen(run):
    run("""
from torch.nn.attention import SDPBackend, sdpa_kernel
q = torch.ones(1, 2, 3, 4)
with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
    assert torch.nn.functional.scaled_dot_product_attention(q, q, q).shape == q.shape
with torch.backends.cuda.sdp_kernel(enable_flash=False):
    assert not torch.backends.cuda.flash_sdp_enabled()
assert torch.backends.cuda.flash_sdp_enabled()
""")


def test_types_of_tensors(run):
    run("""
assert isinstance(torch.ones(1), torch.FloatTensor) and not isinstance(torch.ones(1), torch.LongTensor)
assert torch.ones(1).type() == "torch.FloatTensor" and torch.ones(1).type(torch.DoubleTensor).dtype is torch.float64
assert torch.ones(1).type("torch.LongTensor").dtype is torch.int64
assert not isinstance(torch.ones(1), torch.cuda.FloatTensor)
from torch.autograd import Variable
assert isinstance(torch.ones(1), Variable) and Variable(torch.ones(1), requires_grad=True).requires_grad
""")


def test_what_libraries_on_top_of_pytorch_import(run):
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


def test_a_group_of_one_process_has_a_store(run):
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


def test_trace_runs_checks_and_replays(run):
    run("""
import copy
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh()).eval()
traced = torch.jit.trace(net, torch.ones(1, 2))
assert isinstance(traced, torch.jit.ScriptModule) and isinstance(traced, torch.nn.Module) and not traced.training
assert traced.original_name == "Sequential" and list(traced.state_dict()) == list(net.state_dict())
assert next(traced.parameters()) is net[0].weight
x = torch.rand(4, 2)
assert torch.equal(traced(x), net(x)) and torch.equal(copy.deepcopy(traced)(x), net(x)) and torch.equal(traced(input=x), net(x))
add = torch.jit.trace(lambda x, y: x + y, (torch.ones(1), torch.ones(1)))
assert add(torch.ones(2), torch.ones(2)).tolist() == [2.0, 2.0] and isinstance(add, torch.jit.ScriptFunction)
assert torch.jit.trace(lambda x: {"a": x}, torch.ones(1), strict=False)(x)["a"] is x
both = torch.jit.trace_module(net, {"forward": x})
assert torch.equal(both(x), net(x))
""")


@pytest.mark.parametrize(
    ("use", "error"),
    [
        ("torch.jit.trace(lambda x: 1, torch.ones(1))", "Only tensors, lists, tuples of tensors"),
        ("torch.jit.trace(lambda x: {'a': x}, torch.ones(1))", "Encountering a dict at the output"),
        ("torch.jit.trace(lambda x, n: x * n, (torch.ones(1), 2))", "Type 'Tuple[Tensor, int]' cannot be traced"),
        ("torch.jit.trace(lambda x: x, torch.ones(1))()", "missing a required argument: 'x'"),
        ("torch.jit.trace(torch.nn.Identity(), torch.ones(1))('a')", "instead found type 'str'"),
        ("torch.jit.trace(lambda x: [x], torch.ones(1))", "Encountering a list at the output"),
        ("torch.jit.trace(lambda x: x * torch.rand(1), torch.ones(1))", "does not match the corresponding output"),
    ],
)
def test_trace_says_what_it_cannot_take(run, use, error):
    run(f"""
try:
    {use}
except (RuntimeError, torch.jit.TracerWarning) as error:
    assert {error!r} in str(error), error
else:
    raise AssertionError("it went through")
""")


def test_paths_that_libraries_import(run):
    run("""
from torch.distributed.tensor import DTensor, Shard
from torch.distributed._composable.fsdp import fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.distributed.fsdp.fully_sharded_data_parallel import FullyShardedDataParallel
from torch.distributed.fsdp import FullyShardedDataParallel as same
from torch.distributed.checkpoint.state_dict import get_model_state_dict
import torch.distributed.nn.functional
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch._subclasses.fake_tensor import FakeTensor, is_fake
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from torch._functorch.vmap import _add_batch_dim, tree_flatten
from torch.jit.annotations import List, Optional
from torch.utils.model_zoo import load_url
from torch.utils.data._utils.collate import collate_tensor_fn, np_str_obj_array_pattern
from torch.nn.attention.flex_attention import BlockMask, flex_attention
from torch._utils import _rebuild_tensor_v2, _rebuild_parameter
from torch._tensor import _rebuild_from_type_v2
assert FullyShardedDataParallel is same and not isinstance(torch.ones(1), (DTensor, FakeTensor)) and not is_fake(torch.ones(1))
assert torch.distributed.nn.functional.all_gather and torch.distributed.group.WORLD is None
assert torch.distributed.ReduceOp.SUM is not torch.distributed.ReduceOp.MAX
assert torch.torch is torch
assert get_proxy_mode() is None and torch.Future is torch.futures.Future
try:
    fully_shard(torch.nn.Identity())
except NotImplementedError as error:
    assert "tenfold-distributed" in str(error)
else:
    raise AssertionError
""")


def test_torch_is_an_attribute_of_torchvision(run):
    pytest.importorskip("tenfold.vision")
    run("import torchvision; assert torchvision.torch is torch")


@pytest.mark.parametrize("kind", ["xpu", "mps", "mtia"])
def test_devices_that_are_not_there(run, kind):
    run(f"""
module = torch.{kind}
assert module.is_available() is False and module.device_count() == 0
module.empty_cache(), module.manual_seed_all(1)
try:
    module.set_device(0)
except NotImplementedError as error:
    assert "is_available() is False" in str(error)
else:
    raise AssertionError
""")


def test_batches_as_libraries_ask_for_them(run):
    run("""
from torch._C._functorch import _add_batch_dim, _remove_batch_dim, get_unwrapped, is_batchedtensor, maybe_get_level
x, seen = torch.arange(6.0).view(2, 3), []

def doubled(row):
    seen.append((is_batchedtensor(row), torch._C._are_functorch_transforms_active(), get_unwrapped(row).shape))
    level = maybe_get_level(row)
    return _add_batch_dim(_remove_batch_dim(row, level, 2, 0) * 2, 0, level)

assert torch.equal(torch.vmap(doubled)(x), x * 2)
assert seen == [(True, True, x.shape)] and not is_batchedtensor(x) and not torch._C._are_functorch_transforms_active()
""")


def test_text_of_tensors_by_internal_names(run):
    run("""
from torch._tensor_str import PRINT_OPTS, _add_suffixes, _tensor_str, printoptions
x = torch.tensor([1.5, 2.0])
assert "tensor(" + _add_suffixes(_tensor_str(x, 7), ["a=1"], 7, False) == "tensor([1.5000, 2.0000], a=1)"
with printoptions(precision=1):
    assert PRINT_OPTS.precision == 1 and _tensor_str(x, 7) == "[1.5, 2.0]"
""")


def test_transforms_have_the_private_name_that_libraries_import(run):
    pytest.importorskip("tenfold.distributions")
    run(
        "import torch\nfrom torch.distributions.transforms import _clipped_sigmoid\n"
        "assert _clipped_sigmoid(torch.tensor(1e9)) < 1\n"
    )


def test_names_that_libraries_ask_for_before_they_do_anything(run):
    run(
        "import torch\n"
        "assert torch.distributed.rpc.is_available() is False\nimport torch.distributed.autograd\n"
        "assert not isinstance(torch.device('cpu'), torch.DeviceObjType)\n"
        "x, w = torch.ones(1, 1, 4), torch.ones(2, 1, 3)\n"
        "out = torch.ops.aten._convolution(x, w, None, [1], [0], [1], False, [0], 1, False, False, True, True)\n"
        "assert out.shape == (1, 2, 2)\n"
    )


def test_loaded_modules_can_be_looked_up(run):
    run("""
import importlib, importlib.util
for name in (
    "torch.nn.modules.module", "torch.utils.data._utils.collate", "torch._dynamo.utils", "torch._dynamo.trace_rules",
    "torch.distributed.elastic.utils.distributed", "torch.distributed.checkpoint.planner", "torch.ao.quantization.observer",
    "torch.quantization", "torch.cuda.streams", "torch.cuda.memory", "torch.utils._triton",
    "torch._jit_internal", "torch._prims_common", "torch.jit._script", "torch._library.infer_schema",
):
    module = importlib.import_module(name)
    assert importlib.util.find_spec(name) is not None, name
""")


def test_modules_are_not_quantized_and_can_be_asked_for_it(run):
    run("""
from torch.ao.quantization import DeQuantStub, FakeQuantizeBase, ObserverBase, QuantStub, QuantWrapper, quantize_dynamic
from torch.quantization import QuantStub as older
from torch.quantization.observer import ObserverBase as older_base
assert older_base is ObserverBase and importlib.util.find_spec("torch.quantization.fake_quantize") is not None
net = QuantWrapper(torch.nn.Linear(2, 2))
assert older is QuantStub and torch.equal(net(torch.ones(1, 2)), net.module(torch.ones(1, 2)))
assert not any(isinstance(m, (ObserverBase, FakeQuantizeBase)) for m in net.modules())
try:
    quantize_dynamic(net)
except NotImplementedError as error:
    assert "quantize_dynamic: Tenfold has no quantized tensors" in str(error)
else:
    raise AssertionError
""")


def test_modules_of_the_compiled_kind_run_as_python(run):
    run("""
class Net(torch.jit.ScriptModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 3)

    @torch.jit.script_method
    def forward(self, x):
        return self.layer(x)

net = Net()
assert isinstance(net, (torch.jit.ScriptModule, torch.nn.Module)) and len(list(net.parameters())) == 2
assert net(torch.ones(1, 2)).shape == (1, 3) and not isinstance(net.layer, torch.jit.ScriptModule)
traced = torch.jit.trace(net.layer.forward, torch.ones(1, 2))
assert isinstance(traced, torch.jit.TopLevelTracedModule) and traced.training and len(list(traced.parameters())) == 2
""")


def test_stand_ins_are_found_from_the_package_that_they_lie_in(run):
    run("""
from torch.utils import collect_env, cpp_extension, weak
from torch.testing import _internal
assert torch.utils.cpp_extension is cpp_extension and not cpp_extension.is_ninja_available()
torch._functorch.config.enable_autograd_cache = False
for owner in (torch.utils, torch.testing, torch._functorch):
    assert not hasattr(owner, "surely") and not hasattr(owner, "__surely__")
""")


def test_layouts_that_libraries_ask_for(run):
    run("""
from torch._prims_common import make_contiguous_strides_for, suggest_memory_format
x = torch.ones(2, 3, 4, 4)
assert suggest_memory_format(x) is torch.contiguous_format
assert suggest_memory_format(x.to(memory_format=torch.channels_last)) is torch.channels_last
assert make_contiguous_strides_for((2, 0, 5)) == torch.empty(2, 0, 5).stride()
""")
