"""What libraries borrow from PyTorch's inside: modules and names without documentation that they import all the same."""

from __future__ import annotations

import copy
import gc
import importlib.metadata
import subprocess
import sys
import time
from typing import Any

import pytest

import tenfold
from tenfold import nn
from tenfold.as_torch.stand_ins import _internal_names
from tenfold.utils import _pytree
from tenfold.utils._contextlib import _DecoratorContextManager
from tenfold.utils._python_dispatch import is_traceable_wrapper_subclass
from tenfold.utils.weak import WeakIdKeyDictionary, WeakIdRef, WeakTensorKeyDictionary


def test_weak_dictionary_goes_by_identity() -> None:
    one, other = tenfold.ones(2), tenfold.ones(2)
    table = WeakIdKeyDictionary({one: "one"})
    table[other] = "other"
    assert (table[one], table[other]) == ("one", "other")
    assert tenfold.ones(2) not in table
    assert 3 not in table
    with pytest.raises(KeyError):
        table[tenfold.ones(2)]
    assert [key is one or key is other for key in table] == [True, True]
    del table[other]
    assert list(table.values()) == ["one"]


def test_weak_dictionaries_are_copied_and_joined() -> None:
    key, other = tenfold.ones(2), tenfold.ones(2)
    table = WeakIdKeyDictionary({key: [1]})
    made = copy.deepcopy(table)
    assert made[key] == [1]
    assert made[key] is not table[key]
    joined = {other: 2, key: 3} | table
    assert type(joined) is WeakIdKeyDictionary
    assert (joined[key], joined[other]) == ([1], 2)
    with pytest.raises(TypeError):
        [1] | table


def test_weak_dictionary_reads_all_pairs_before_it_keeps_one() -> None:
    class Broken(dict[Any, Any]):
        def items(self) -> Any:
            yield key, 1
            raise OSError("broken")

    key = tenfold.ones(2)
    table = WeakIdKeyDictionary()
    with pytest.raises(OSError, match="broken"):
        table.update(Broken())
    assert len(table) == 0


def test_weak_dictionary_forgets_keys_that_are_gone() -> None:
    key = tenfold.ones(2)
    table = WeakTensorKeyDictionary({key: 1})
    both = table | {tenfold.zeros(1): 2}
    copied = copy.copy(table)
    assert (len(table), len(copied)) == (1, 1)
    del key
    gc.collect()
    assert (len(table), len(copied), len(both), list(both)) == (0, 0, 0, [])


def test_weak_references_of_dead_objects_differ() -> None:
    dead = [WeakIdRef(tenfold.ones(1)) for _ in range(2)]
    gc.collect()
    assert dead[0]() is None
    assert dead[0] != dead[1]
    assert dead[0] == dead[0]


class _Doubling(_DecoratorContextManager):
    entered = 0

    def __enter__(self) -> None:
        type(self).entered += 1

    def __exit__(self, *error: object) -> None:
        type(self).entered -= 1


def test_a_decorator_context_of_a_library() -> None:
    @_Doubling()
    def inside() -> int:
        return _Doubling.entered

    @_Doubling()
    def generated() -> object:
        yield _Doubling.entered

    assert (inside(), list(generated()), _Doubling.entered) == (1, [1], 0)
    assert isinstance(tenfold.no_grad(), _DecoratorContextManager)
    with pytest.raises(NotImplementedError):
        _DecoratorContextManager().__enter__()


def test_results_and_the_interpreters_tuples_are_structseqs() -> None:
    assert _pytree.is_structseq_instance(time.localtime())
    assert _pytree.is_structseq_instance(tenfold.ones(2).max(0))
    assert not _pytree.is_structseq_instance((1, 2))
    assert not _pytree.is_structseq_class(list)


def test_traceable_wrappers_take_themselves_apart() -> None:
    class Wrapper(tenfold.Tensor):
        def __tensor_flatten__(self) -> object:
            return [], None

        @staticmethod
        def __tensor_unflatten__(*parts: object) -> object:
            return parts

    assert is_traceable_wrapper_subclass(tenfold.ones(1).as_subclass(Wrapper))
    assert not is_traceable_wrapper_subclass(nn.Parameter(tenfold.ones(1)))
    assert not is_traceable_wrapper_subclass(3)


def test_checks_with_an_error_of_ones_own() -> None:
    _internal_names._check_with(KeyError, True, lambda: "never")
    with pytest.raises(KeyError, match="told"):
        _internal_names._check_with(KeyError, False, lambda: "told")
    with pytest.raises(TypeError, match="must be a bool"):
        _internal_names._check_with(KeyError, 1, lambda: "told")
    with pytest.raises(ValueError, match="told"):
        _internal_names._check_tensor_all_with(ValueError, tenfold.tensor([True, False]), lambda: "told")
    with pytest.raises(TypeError, match=r"torch\.bool"):
        _internal_names._check_tensor_all_with(ValueError, tenfold.ones(1), lambda: "told")


@pytest.mark.parametrize("rows", [[], [0, 0, 2], [3]])
def test_indices_of_rows_there_and_back(rows: list[int]) -> None:
    numbers = tenfold.tensor(rows, dtype=tenfold.int64)
    begins = _internal_names._convert_indices_from_coo_to_csr(numbers, 4)
    assert begins.tolist() == [sum(r < i for r in rows) for i in range(5)]
    pairs = _internal_names._convert_indices_from_csr_to_coo(begins, tenfold.arange(len(rows)))
    assert pairs.tolist() == [rows, list(range(len(rows)))]
    assert _internal_names._convert_indices_from_coo_to_csr(numbers, 4, out_int32=True).dtype is tenfold.int32


def test_the_gradient_of_softmax_by_its_internal_name() -> None:
    x = tenfold.tensor([[1.0, 2.0, -1.0]], requires_grad=True)
    g = tenfold.tensor([[0.5, -1.0, 2.0]])
    result = x.softmax(1)
    result.backward(g)
    found = _internal_names._softmax_backward_data(g, result.detach(), 1, tenfold.float32)
    assert tenfold.allclose(found, x.grad)


def test_functions_as_safe_globals() -> None:
    program = """
import io, torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.activation = torch.nn.Linear(2, 2), torch.nn.functional.relu
net, file = Net(), io.BytesIO()
torch.save(net, file)
allowed = [Net, torch.nn.functional.relu, torch.nn.modules.linear.Linear]
with torch.serialization.safe_globals(allowed):
    file.seek(0)
    assert torch.load(file).activation is torch.nn.functional.relu
    assert torch.serialization.get_safe_globals() == allowed
file.seek(0)
try:
    torch.load(file)
except Exception as error:
    print("refused" if "not an allowed global" in str(error) else error)
"""
    assert _run(program) == "refused"


def test_functorch_is_there_without_a_distribution_of_its_own() -> None:
    program = """
import importlib.metadata
import functorch, torch
assert functorch.vmap is torch._functorch.deprecated.vmap and functorch.__version__ == torch.__version__
from functorch.experimental import chunk_vmap, hessian
assert hessian is torch.func.hessian and chunk_vmap(torch.sum, chunks=2)(torch.ones(3, 2)).tolist() == [2.0] * 3
assert functorch.experimental.chunk_vmap is torch._functorch.apis.chunk_vmap
from functorch.einops import rearrange
assert rearrange is torch.func.rearrange and rearrange(torch.ones(2, 3), 'a b -> b a').shape == (3, 2)
f, params = functorch.make_functional(torch.nn.Linear(2, 1))
assert isinstance(f, functorch.FunctionalModule) and len(params) == 2
try:
    importlib.metadata.version("functorch")
except importlib.metadata.PackageNotFoundError:
    print("none")
"""
    assert _run(program) == "none"
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("functorch")


def test_names_of_devices_that_are_not_here() -> None:
    program = """
import torch
assert isinstance(torch.cuda.CUDAGraph, type) and issubclass(torch.cuda.StreamContext, object)
assert not isinstance(torch.ones(1), torch.cuda.FloatTensor)
if not torch.cuda.is_available():
    assert torch.cuda.is_initialized() is False and torch.cuda.get_rng_state_all() == []
try:
    torch.cuda.CUDAGraph()
except RuntimeError as error:
    named = "torch.cuda.CUDAGraph" in str(error) or "'cuda' is not available" in str(error)  # by tenfold-backend-cuda
    print("refused" if named else error)
"""
    assert _run(program) == "refused"


def test_what_stands_in_lends_no_names_to_a_module_that_is_there() -> None:
    program = """
import sys, types, torch
there = sys.modules["torch.cuda"] = types.ModuleType("tenfold.cuda")
import tenfold.as_torch.stand_ins.cuda  # as torch.cuda does for a name that the device's package has not
print([name for name in vars(there) if name[:2] != "__"])
"""
    assert _run(program) == "[]"


def test_names_of_compiled_programs_and_quantized_dtypes() -> None:
    program = """
import pickle, torch
assert torch._C._jit_can_fuse_on_cpu() is False and torch._C._jit_override_can_fuse_on_cpu(True) is None
x = torch.ones(3)
assert torch._C._is_alias_of(x, x[1:]) and not torch._C._is_alias_of(x, x.clone())
assert torch._C._get_accelerator().type in ("cpu", "cuda")
assert torch.get_device_module("cpu") is torch.cpu
assert repr(torch.qint8) == "torch.qint8" and {torch.qint8: 1}[torch.qint8] == 1
assert torch.jit._overload(len) is len
assert torch._guards.detect_fake_mode([x]) is None and torch._guards.active_fake_mode() is None
assert isinstance(x.untyped_storage(), torch.StorageBase) and isinstance(x.untyped_storage(), torch.storage._StorageBase)
assert torch.dsmm(torch.eye(2).to_sparse(), torch.ones(2, 1)).tolist() == [[1.0], [1.0]]
torch.ops.aten._pin_memory.default, torch.ops.aten._sparse_addmm.default
try:
    torch.ops.aten._sparse_mm_reduce_impl(x)
except NotImplementedError:
    print("refused")
"""
    assert _run(program) == "refused"


def _run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tenfold.as_torch", "-c", program], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_functions_of_operators_are_listed_where_tools_look_for_them() -> None:
    from tenfold import _VF
    from tenfold.as_torch.stand_ins import _C

    listed = {*dir(_C._VariableFunctions)}
    assert {"add", "relu", "matmul", "svd", "lstm", "where"} <= listed
    assert "_module" not in listed
    assert all(callable(getattr(_C._VariableFunctions, name)) for name in listed if name[0] != "_")
    assert _VF.add is tenfold.add
    assert listed == {*dir(_VF)}


def test_settings_of_a_compiler_can_be_set() -> None:
    program = """
import torch._inductor.config
torch._inductor.config.triton.unique_kernel_names = True
torch._inductor.config.coordinate_descent_tuning = True
print(torch._inductor.config.coordinate_descent_tuning)
"""
    done = subprocess.run([sys.executable, "-m", "tenfold.as_torch", "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr


def test_what_a_report_of_a_fault_says_of_the_machine() -> None:
    program = """
import torch
from torch.utils.collect_env import get_env_info, get_pretty_env_info
assert get_env_info().torch_version == torch.__version__ and get_env_info().is_cuda_available == str(torch.cuda.is_available())
print(get_pretty_env_info().splitlines()[0])
"""
    assert _run(program).startswith("PyTorch version: ")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tenfold.as_torch", "-m", "torch.utils.collect_env"],
        capture_output=True,
        text=True,
    )
    assert "Is CUDA available: " in done.stdout, done.stderr


def test_numbers_of_devices_are_found_as_pytorch_finds_them() -> None:
    program = """
import torch
from torch._utils import _get_all_device_indices, _get_current_device_index, _get_device_index
there = torch.accelerator.is_available()
assert _get_all_device_indices() == (list(range(torch.accelerator.device_count())) if there else None)
current = torch.accelerator.current_device_index() if there else None
assert _get_device_index(None, True) == _get_current_device_index() == current
assert _get_device_index(torch.device("cuda"), True) == _get_current_device_index()
assert _get_device_index("cuda:1") == 1 and _get_device_index(3) == 3 and _get_device_index("cpu", allow_cpu=True) == -1
for given in (None, torch.device("cuda")):
    try:
        _get_device_index(given)
    except ValueError as error:
        print(error)
"""
    told = "Expected a torch.device with a specified index or an integer, but got:"
    assert _run(program) == f"{told}None\n{told}cuda"
