"""What is found under PyTorch's names, and what is said of the rest."""

import importlib.metadata
import importlib.util
import subprocess
import sys

import pytest

PRELUDE = (
    "from tenfold import as_torch; as_torch.install(); import importlib, importlib.metadata, importlib.util, torch, tenfold\n"
)


def test_modules_are_tenfolds_own(run):
    run("""
for name in "nn nn.functional nn.modules nn.init optim optim.lr_scheduler autograd utils backends.cudnn".split():
    assert importlib.import_module(f"torch.{name}") is importlib.import_module(f"tenfold.{name}"), name
assert torch.Tensor is tenfold.Tensor and torch.float32 is tenfold.float32
assert torch.nn.Module.__call__ is tenfold.nn.Module.__call__
""")


def test_functions_stay_where_modules_of_their_names_are_imported(run):
    run("""
import sys
hidden = ["autograd.gradcheck", "multiprocessing.spawn", "nn.parallel.data_parallel", "nn.parallel.parallel_apply",
          "nn.parallel.replicate", "nn.utils.spectral_norm", "nn.utils.weight_norm"]
for name in hidden:
    module = importlib.import_module(f"torch.{name}")
    package, _, leaf = name.rpartition(".")
    function = getattr(importlib.import_module(f"torch.{package}"), leaf)
    assert module is sys.modules[f"tenfold.{name}"] and function is getattr(module, leaf) and callable(function), name
""")


def test_versions(run):
    run("""
assert torch.__version__ == torch.version.__version__ == importlib.metadata.version("torch") != tenfold.__version__
assert "tenfold" in torch.__version__  # which says who it is
assert torch.__version__ >= "2.13" and torch.__version__ > (2, 9) and not torch.__version__ < "2.2.1"
assert torch.version.cuda == tenfold.version.cuda and torch.backends.cuda.is_built() == (torch.version.cuda is not None)
assert importlib.metadata.distribution("torch").metadata["Name"] == "torch"
""")


def test_older_names_for_what_is_built_in(run):
    run("""
import warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    flags = [getattr(torch, f"has_{part}") for part in ("cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp")]
assert flags[0] == torch.backends.cuda.is_built() and {type(flag) for flag in flags} == {bool}
assert len(told) == 4 and "'has_cuda' is deprecated, please use 'torch.backends.cuda.is_built()'" in str(told[0].message)
""")


def test_what_is_printed(run):
    said = run(
        "print(torch.zeros(1).double(), torch.int64, torch.Size([2]), torch.strided, torch.channels_last, repr(torch.long))"
    )
    assert (
        said.strip()
        == "tensor([0.], dtype=torch.float64) torch.int64 torch.Size([2]) torch.strided torch.channels_last torch.int64"
    )


@pytest.mark.parametrize("name", ["torch.surely", "torch.nn.surely", "torch.utils.data.surely", "torch.jit.surely"])
def test_a_missing_module(run, name):
    run(f"""
assert importlib.util.find_spec({name!r}) is None
try:
    importlib.import_module({name!r})
except ModuleNotFoundError as error:
    assert error.name == {name!r} and "Tenfold" in str(error) and "--check" in str(error)
else:
    raise AssertionError("imported")
""")


def test_a_missing_name(run):
    run("""
for owner in (torch, torch.nn, torch.nn.functional, torch.utils, torch.optim):
    assert not hasattr(owner, "surely")
    try:
        owner.surely
    except AttributeError as error:
        assert "tenfold" in str(error).lower(), str(error)
""")


def test_star_brings_public_names(run):
    run("""
names = {}
exec("from torch import *", names)
assert names["ones"] is torch.ones and "os" not in names
""")


def test_nothing_here_is_torch():
    """This process has not asked for PyTorch's names."""
    from tenfold import as_torch

    assert not as_torch.is_installed()
    found = importlib.util.find_spec("torch")
    assert found is None or "tenfold" not in str(found.loader)
    assert "tenfold" not in {d.version.rpartition("+")[2] for d in importlib.metadata.distributions(name="torch")}


def test_classes_are_called_as_pytorchs(run):
    run("""
import copy, io, pickle
assert str(torch.Tensor) == "<class 'tenfold.Tensor'>" and str(torch.Size) == "<class 'torch.Size'>"
assert torch.nn.Linear.__module__ == "torch.nn.modules.linear"
assert torch.nn.LayerNorm.__module__ == "torch.nn.modules.normalization"
module = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.BatchNorm1d(1), torch.nn.ReLU())
again = pickle.loads(pickle.dumps((module, torch.Size([1]), torch.float32, torch.device("cpu"), torch.ones(1))))
assert type(again[0][0]) is torch.nn.Linear and again[1] == torch.Size([1]) and again[2] is torch.float32
assert type(copy.deepcopy(module)[1]) is torch.nn.BatchNorm1d
file = io.BytesIO()
torch.save(module, file)
assert b"torch.nn.modules.linear" in file.getvalue() and b"tenfold" not in file.getvalue()
file.seek(0)
assert type(torch.load(file, weights_only=False)[1]) is torch.nn.BatchNorm1d
class Own(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.LSTM(1, 1)

file = io.BytesIO()
torch.save([Own(), Own], file)
file.seek(0)
own, kind = torch.load(file, weights_only=False)
assert type(own) is kind is Own and own.inner(torch.ones(1, 1, 1))[0].shape == (1, 1, 1)

file = io.BytesIO()
torch.save(module.state_dict(), file)
file.seek(0)
assert list(torch.load(file)) == list(module.state_dict())
assert torch.typename(torch.ones(1)) == "torch.FloatTensor"
""")


def test_annotations_of_renamed_layers_can_be_looked_up(run):
    run("""
import typing, torch
class Own(torch.nn.Linear):
    config: int
assert typing.get_type_hints(Own)["config"] is int and typing.get_type_hints(torch.nn.Module)
""")


# Public classes and functions of each kind, and the module in which PyTorch says that they are.
HOMES = {
    "tenfold": "Tensor",  # whose tensors these are is not hidden from who asks
    "torch": "Size FloatTensor FloatStorage OutOfMemoryError finfo",
    "torch.amp.autocast_mode": "autocast",
    "torch.autograd.function": "Function InplaceFunction",
    "torch.autograd.grad_mode": "no_grad enable_grad inference_mode set_grad_enabled",
    "torch.autograd.graph": "Node GradientEdge saved_tensors_hooks",
    "torch.cpu.amp.grad_scaler": "GradScaler",
    "torch.cuda.amp.grad_scaler": "GradScaler",
    "torch.distributions.normal": "Normal",
    "torch.distributions.transforms": "AffineTransform StackTransform ComposeTransform",
    "torch.nn.init": "xavier_uniform_",
    "torch.nn.parameter": "Parameter Buffer UninitializedParameter",
    "torch.nn.parallel.data_parallel": "DataParallel",
    "torch.nn.utils.rnn": "PackedSequence pad_sequence",
    "torch.nn.utils.parametrize": "ParametrizationList",
    "torch.optim": "Adafactor",
    "torch.optim.adam": "Adam",
    "torch.optim.adamw": "AdamW",
    "torch.optim.lr_scheduler": "LRScheduler StepLR OneCycleLR ReduceLROnPlateau",
    "torch.optim.optimizer": "Optimizer",
    "torch.return_types": "max sort",
    "torch.serialization": "save load",
    "torch.storage": "UntypedStorage TypedStorage",
    "torch.utils.data._utils.collate": "default_collate",
    "torch.utils.data.dataloader": "DataLoader",
    "torch.utils.data.dataset": "Dataset TensorDataset random_split Subset",
    "torch.utils.data.sampler": "RandomSampler",
    "torch.utils.hooks": "RemovableHandle",
}


def test_public_names_say_where_pytorch_has_them(run):
    run(f"""
import pickle
for home, names in {HOMES!r}.items():
    module = importlib.import_module(home)
    for name in names.split():
        value = getattr(module, name)
        assert value.__module__ == home, (home, name, value.__module__)
        assert pickle.loads(pickle.dumps(value)) is value, name
""")


def test_the_tensors_class_is_written_as_pytorchs(run):
    run("""
import io
file = io.BytesIO()
torch.save([torch.Tensor, torch.nn.Parameter], file)
assert b"ctorch\\nTensor" in file.getvalue() and b"tenfold" not in file.getvalue()
assert torch.load(io.BytesIO(file.getvalue()), weights_only=False) == [torch.Tensor, torch.nn.Parameter]
""")


@pytest.mark.parametrize("when", ["before", "after"])
def test_tables_of_engines_by_a_classs_module_find_pytorchs_row(run, tmp_path, when):
    """Written as autoray and opt_einsum keep them."""
    for folder, file, text in (
        ("autoray", "autoray", "kinds = {}\ndef register_backend(cls, name): kinds[cls] = name\n"),
        ("eagerpy", "astensor", "def _get_module_name(x): return type(x).__module__\n"),
        ("opt_einsum/backends", "dispatch", "_aliases = {'torch': 'opt_einsum.backends.torch'}\n"),
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"{file}.py").write_text(text)
    code = "import opt_einsum.backends.dispatch as tables, autoray.autoray as rows, eagerpy.astensor as kinds\n"
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + (code + PRELUDE if when == "before" else PRELUDE + code)
    script += "assert kinds._get_module_name(torch.ones(1)) == 'torch' and kinds._get_module_name(1) == 'builtins'\n"
    script += "assert rows.kinds == {tenfold.Tensor: 'torch'} and tables._aliases['tenfold'] == 'opt_einsum.backends.torch'\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_torchaudio_takes_its_python(run, tmp_path):
    """Written as torchaudio looks for its compiled part, and as it chooses its loops."""
    for folder, file, text in (
        ("torchaudio/_extension", "utils", "def _load_lib(lib): raise OSError(lib)\n"),
        ("torchaudio/functional", "filtering", "_lfilter_core_loop = _overdrive_core_loop_cpu = None\n"),
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"{file}.py").write_text(text)
    run(f"""
import sys; sys.path.insert(0, {str(tmp_path)!r})
from torchaudio._extension.utils import _load_lib
from torchaudio.functional import filtering
y = torch.tensor([[[4.0, 0.0, 0.0]]])
filtering._lfilter_core_loop(torch.ones(1, 1, 2), torch.tensor([[0.5, 1.0]]), y)
assert _load_lib("_torchaudio") is False and y.tolist() == [[[4.0, -1.0, 1.5]]]
assert callable(filtering._overdrive_core_loop_cpu)
""")


def test_objects_pickled_by_name_come_back(run):
    run("""
import copy, pickle
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.AdamW(model.parameters())
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
things = (model.weight, optimizer, torch.distributions.Normal(0.0, 1.0), torch.utils.data.TensorDataset(torch.ones(2)))
again = pickle.loads(pickle.dumps(things))
assert [type(one) for one in again] == [type(one) for one in things]
assert type(copy.deepcopy(schedule)) is type(schedule)
assert repr(torch.ones(2).max(0)).startswith("torch.return_types.max(")
import typing
for kind in (torch.Tensor, torch.optim.Adam, torch.utils.data.DataLoader, torch.nn.Parameter, torch.optim.lr_scheduler.StepLR):
    assert isinstance(typing.get_type_hints(kind), dict)
""")


def test_exceptions_of_other_threads_are_raised_again(run):
    run("""
from torch._utils import ExceptionWrapper, KeyErrorMessage
class Demanding(Exception):
    def __init__(self, one, two): super().__init__(one)
for error, kind in ((KeyError("k"), KeyError), (ValueError("v"), ValueError), (Demanding(1, 2), RuntimeError)):
    try:
        raise error
    except Exception:
        caught = ExceptionWrapper(where="in thread 3")
    try:
        caught.reraise()
    except kind as again:
        assert str(again).startswith(f"Caught {type(error).__name__} in thread 3.\\nOriginal Traceback"), str(again)
""")
