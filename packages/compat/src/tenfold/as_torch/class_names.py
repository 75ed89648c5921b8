"""Classes and functions under PyTorch's names: what a program sees of a class is `torch.optim.lr_scheduler.StepLR`.

Libraries ask a class for its module to tell PyTorch's things from a user's, print it, look functions up by it, and write it
into pickles and files of settings. Each of Tenfold's files whose names differ has a line in the tables below; the rename
happens as the file is imported, so that nothing is imported for it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.as_torch.layer_constants import give_constants

_STAND_INS = "as_torch.stand_ins."
_OF_TORCH = ("Size", "Generator", "device", "dtype", "layout", "memory_format")

# Files and folders of Tenfold's, and the module in which PyTorch has what they define; `FILE:NAME` is about one name. What is
# below a folder keeps the rest of its path where both sides end in ".*".
_FILES: dict[str, str | None] = {
    "tenfold": "torch",
    "tenfold:Tensor": None,
    "linalg": "torch.linalg",
    "return_types": "torch.return_types",
    "dispatch.overrides": "torch.overrides",
    "tensor.tensor:Tensor": "tenfold",  # whose tensors these are: what asks `type(x).__module__` asks which engine runs
    "tensor.storage:UntypedStorage": "torch.storage",
    "types.numeric_limits": "torch",
    "random.generator": "torch.random",
    "dispatch.gradmode": "torch.autograd.grad_mode",
    "dispatch.gradmode:is_grad_enabled": "torch",
    "dispatch.gradmode:is_inference_mode_enabled": "torch",
    "amp.autocast:autocast": "torch.amp.autocast_mode",
    "amp.autocast:is_autocast_available": "torch.amp.autocast_mode",
    "amp.cpu:GradScaler": "torch.cpu.amp.grad_scaler",
    "amp.cpu:autocast": "torch.cpu.amp.autocast_mode",
    "amp.cuda:GradScaler": "torch.cuda.amp.grad_scaler",
    "amp.cuda:autocast": "torch.cuda.amp.autocast_mode",
    "amp.custom": "torch.amp.autocast_mode",
    "amp.grad_scaler": "torch.amp.grad_scaler",
    "autograd.anomaly:detect_anomaly": "torch.autograd.anomaly_mode",
    "autograd.anomaly:set_detect_anomaly": "torch.autograd.anomaly_mode",
    "autograd.derivatives": "torch.func",
    "autograd.forward_ad": "torch.autograd.forward_ad",
    "autograd.function": "torch.autograd.function",
    "autograd.function_ctx": "torch.autograd.function",
    "autograd.functional": "torch.autograd.functional",
    "autograd.grad_mode": "torch.autograd.grad_mode",
    "autograd.gradcheck": "torch.autograd.gradcheck",
    "autograd.graph": "torch.autograd.graph",
    "autograd.jacobians": "torch.func",
    "autograd.mutation": "torch.autograd.graph",
    "autograd.nodes:Node": "torch.autograd.graph",
    "autograd.profiler": "torch.autograd.profiler",
    "autograd.stateless": "torch.func",
    "autograd.tape:GradientEdge": "torch.autograd.graph",
    "autograd.tape:get_gradient_edge": "torch.autograd.graph",
    "autograd.tape:backward": "torch.autograd",
    "autograd.tape:grad": "torch.autograd",
    "autograd.variable:Variable": "torch.autograd.variable",
    "autograd.vmap:vmap": "torch.func",
    "checkpoint.options": "torch.serialization",
    "checkpoint.serialization": "torch.serialization",
    "checkpoint.storage_classes": "torch",
    "checkpoint.typed_storage:TypedStorage": "torch.storage",
    "checkpoint.typed_tensors:set_default_tensor_type": "torch",
    "cuda.*": "torch.cuda.*",
    "cuda.devices:device": "torch.cuda",
    "cuda.state:device_of": "torch.cuda",
    "cuda.streams:StreamContext": "torch.cuda",
    "data.collation:default_collate": "torch.utils.data._utils.collate",
    "data.collation:default_convert": "torch.utils.data._utils.collate",
    "data.dataset": "torch.utils.data.dataset",
    "data.distributed": "torch.utils.data.distributed",
    "data.loader": "torch.utils.data.dataloader",
    "data.sampler": "torch.utils.data.sampler",
    "data.split": "torch.utils.data.dataset",
    "data.worker_info": "torch.utils.data._utils.worker",
    "distributions.*": "torch.distributions.*",
    "distributions.kl.registry": "torch.distributions.kl",
    "distributions.transforms.base": "torch.distributions.transforms",
    "distributions.transforms.elementwise": "torch.distributions.transforms",
    "distributions.transforms.joined": "torch.distributions.transforms",
    "distributions.transforms.matrices": "torch.distributions.transforms",
    "distributions.transforms.simplexes": "torch.distributions.transforms",
    "futures": "torch.futures",
    "fx.*": "torch.fx.*",
    "fx.code": "torch.fx.graph",
    "fx.tracer": "torch.fx._symbolic_trace",
    "hub": "torch.hub",
    "masked.maskedtensor.*": "torch.masked.maskedtensor.*",
    "nn.attention": "torch.nn.attention",
    "nn.init": "torch.nn.init",
    "nn.parallel.*": "torch.nn.parallel.*",
    "nn.parameter": "torch.nn.parameter",
    "nn.utils.*": "torch.nn.utils.*",
    "optim.*": "torch.optim.*",
    "optim.adafactor:Adafactor": "torch.optim",
    "optim.adam:AdamW": "torch.optim.adamw",
    "optim.muon:Muon": "torch.optim",
    "optim.lr_scheduler.*": "torch.optim.lr_scheduler",
    "profiler.profile": "torch.profiler.profiler",
    "profiler.profile:record_function": "torch.autograd.profiler",
    "profiler.schedule": "torch.profiler.profiler",
    "scientific.sobol:SobolEngine": "torch.quasirandom",
    "utils.*": "torch.utils.*",
    "as_torch.stand_ins.*": "torch.*",
    "as_torch.stand_ins._internal_names": "torch",
    "as_torch.stand_ins.absent": None,
    "as_torch.stand_ins.distributed.errors": "torch.distributed",
    "scientific.dlpack": "torch.utils.dlpack",
    "vision.models.*": "torchvision.models.*",
    "vision.ops.*": "torchvision.ops.*",
}


def rename_core() -> None:
    """Classes of `torch` itself, and of the modules that are loaded."""
    for name in _OF_TORCH:
        move(getattr(tenfold, name), "torch")
    for module in [module for name, module in sys.modules.items() if name.startswith("tenfold.")]:
        rename(module)
    # Its slots, by names that only type checkers import; `typing.get_type_hints` of a subclass would ask for them.
    tenfold.Tensor.__annotations__ = {}


def move(value: Any, module: str) -> None:
    """Let a class or function say that it is another module's; Python 3.13 then forgets the line that `inspect` looks for."""
    line = vars(value).get("__firstlineno__") if isinstance(value, type) else None
    value.__module__ = module
    if line is not None:
        value.__firstlineno__ = line


def rename(module: types.ModuleType) -> None:
    """Give what a module of Tenfold's defines the names that PyTorch has for it."""
    for value in _defined(module):
        ours = str(value.__module__)  # another module's where this one imports it; some say where users find them
        name = value.__qualname__.partition(".")[0]
        theirs = torch_module(ours, name) if ours.startswith("tenfold") else None
        if theirs is None and isinstance(value, types.FunctionType):
            theirs = _module_of_operator(ours, name)
        if theirs is not None and (isinstance(value, type) or theirs.rpartition(".")[2] != "lr_scheduler"):
            move(value, theirs)
            _show_annotations(value, module, theirs)


def _module_of_operator(ours: str, name: str) -> str | None:
    """Where pickles of PyTorch's look an operator's function up: in `torch.nn.functional` if it is there, else in `torch`."""
    if ours.startswith(("tenfold.nn.ops.", "tenfold.nn.functional.")):
        return "torch" if name.startswith("native_") else "torch.nn.functional"
    if ours.startswith("tenfold.ops."):
        return "torch.nn.functional" if name in ("relu", "sigmoid", "tanh") else "torch"
    return None


def _defined(module: types.ModuleType) -> Iterator[Any]:
    """Classes and public functions of a module, those in its tables, too."""
    for name, value in list(vars(module).items()):
        if name[0] != "_" or isinstance(value, type):
            for each in value.values() if type(value) is dict else (value,):
                if isinstance(each, (type, types.FunctionType)):
                    yield each


@functools.cache
def torch_module(ours: str, name: str) -> str | None:
    """The module in which PyTorch has what a module of Tenfold's defines under a name, or None where that is not known.

    >>> torch_module("tenfold.optim.adam", "Adam"), torch_module("tenfold.optim.adam", "AdamW")
    ('torch.optim.adam', 'torch.optim.adamw')
    >>> torch_module("tenfold.optim.lr_scheduler.factor", "StepLR")
    'torch.optim.lr_scheduler'
    """
    path = ours.removeprefix("tenfold.")
    for key in (f"{path}:{name}", path):
        if key in _FILES:
            return _FILES[key]
    folder, rest = path, ""
    while folder:
        theirs = _FILES.get(f"{folder}.*")
        if theirs is not None:
            return f"{theirs[:-2]}.{rest}".rstrip(".") if theirs.endswith(".*") else theirs
        folder, _, leaf = folder.rpartition(".")
        rest = f"{leaf}.{rest}".rstrip(".")
    return None


def renaming(spec: importlib.machinery.ModuleSpec | None) -> importlib.machinery.ModuleSpec | None:
    """The same specification of one of Tenfold's modules, renaming what the module defines once it has run."""
    loader: Any = None if spec is None else spec.loader
    if loader is not None and hasattr(loader, "exec_module"):
        run = loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            run(module)
            rename(module)

        loader.exec_module = exec_module
    return spec


def is_renamed(ours: str) -> bool:
    """Whether a module of Tenfold's defines anything that has another name under PyTorch's."""
    return ours.removeprefix("tenfold.") in _PLACES or (torch_module(ours, "") or _module_of_operator(ours, "")) is not None


_PLACES = {key.partition(":")[0] for key in _FILES}


def rename_layers() -> None:
    """The layers' classes, each where PyTorch has it."""
    parameter: Any = importlib.import_module("tenfold.nn.parameter")
    for function in (parameter._rebuild_parameter, parameter._rebuild_parameter_with_state):
        function.__module__ = "torch._utils"
    modules = importlib.import_module("tenfold.nn.modules")
    for path, shown in sorted(vars(modules).items(), key=lambda item: item[0] != "module"):  # whose Module all others show, too
        if isinstance(shown, types.ModuleType) and shown.__name__ == f"tenfold.nn.modules.{path}":
            sys.modules[f"torch.nn.modules.{path}"] = shown  # where `typing.get_type_hints` looks annotations up
            sources = []
            for value in list(vars(shown).values()):
                if isinstance(value, type) and value.__module__.startswith("tenfold.nn."):
                    sources.append(sys.modules[value.__module__])
                    give_constants(value)
                    if "_torch_state" in vars(value) and path != "module":
                        setattr(value, "__reduce_ex__", _reduce_with_torch_state)  # noqa: B010 - mypy refuses the other form
                    _show_names_of(sources[-1], shown)
                    move(value, f"torch.nn.modules.{path}")
            if sources:
                likeliest = max(sources, key=lambda source: (source.__name__.endswith(f".{path}"), sources.count(source)))
                shown.__file__ = likeliest.__file__  # where `inspect` looks for the text of classes


def _reduce_with_torch_state(self: Any, protocol: Any) -> Any:
    """For pickle: a layer with the attributes that PyTorch's class has besides."""
    reduced = object.__reduce_ex__(self, protocol)
    if len(reduced) < 3 or not isinstance(reduced[2], dict):  # a subclass's own way
        return reduced
    return (*reduced[:2], {**reduced[2], **self._torch_state()}, *reduced[3:])


def _show_annotations(value: Any, source: types.ModuleType, shown: str) -> None:
    """Let `typing.get_type_hints` find what a class's annotations name, in the module that the class now says it is of."""
    there = sys.modules.get(shown)
    if there is not None and _STAND_INS in source.__name__ and _STAND_INS not in there.__name__:
        return  # what stands in for a module lends its names only where that module is not there itself
    if isinstance(value, type) and "__annotations__" in vars(value) and shown not in sys.modules:
        if source.__name__.rpartition(".")[2] == shown.rpartition(".")[2]:
            sys.modules[shown] = source
    elif isinstance(value, type) and "__annotations__" in vars(value) and sys.modules[shown] is not source:
        _show_names_of(source, sys.modules[shown])


def _show_names_of(source: types.ModuleType, shown: types.ModuleType) -> None:
    """What a class's file imports, in the module that it names, for its annotations."""
    for name, value in vars(source).items():
        if not name.startswith("__"):
            shown.__dict__.setdefault(name, value)
