"""PyTorch's paths of the layers, such as `nn.modules.batchnorm`, each showing what our files of that family define."""

from __future__ import annotations

import importlib
import re
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from tenfold import Tensor
from tenfold.nn import _reduction, common_types, functional, init, parameter
from tenfold.nn.hooks import GLOBAL
from tenfold.nn.layers.attention.sublayers import causal_mask, chosen_activation, clones
from tenfold.nn.module import Module as _Module, indented
from tenfold.nn.modules import utils as utils
from tenfold.nn.state_dict import EXTRA_STATE_KEY
from tenfold.nn.utils.rnn import PackedSequence

_FILES = {
    "activation": (
        "layers.activation.layers",
        "layers.activation.leaky",
        "layers.activation.softmax",
        "layers.attention.multihead",
    ),
    "adaptive": ("layers.adaptive_softmax",),
    "batchnorm": ("layers.norm.layers", "layers.norm.lazy"),
    "channelshuffle": ("layers.shape",),
    "container": ("container", "parameter_container"),
    "conv": ("layers.conv.layers", "layers.conv.lazy"),
    "distance": ("layers.distance",),
    "dropout": ("layers.dropout",),
    "flatten": ("layers.shape",),
    "fold": ("layers.shape",),
    "instancenorm": ("layers.norm.layers", "layers.norm.lazy"),
    "lazy": ("lazy",),
    "linear": ("layers.linear",),
    "linear_cross_entropy_options": ("functional.linear_loss",),
    "loss": ("layers.loss.layers", "layers.loss.linear", "layers.loss.margin"),
    "module": ("module", "hooks", "state_dict"),
    "normalization": ("layers.norm.layers", "layers.norm.local_response"),
    "padding": ("layers.padding",),
    "pixelshuffle": ("layers.shape",),
    "pooling": ("layers.pool.windows", "layers.pool.adaptive"),
    "rnn": ("layers.rnn.layers", "layers.rnn.cells", "layers.rnn.checks"),
    "sparse": ("layers.embedding",),
    "transformer": ("layers.attention.transformer", "layers.attention.encoder", "layers.attention.decoder"),
    "upsampling": ("layers.shape",),
}
# Where one file of ours has what PyTorch has in several: the public names of each.
_NAMES = {
    "batchnorm": r"\w*BatchNorm(\dd)?",
    "channelshuffle": "ChannelShuffle",
    "flatten": "(Unf|F)latten",
    "fold": "(Unf|F)old",
    "instancenorm": r"\w*InstanceNorm\dd",
    "normalization": "(Layer|Group|RMS|LocalResponse)Norm|CrossMapLRN2d",
    "pixelshuffle": "Pixel(Uns|S)huffle",
    "upsampling": r"Upsampl\w+",
}
# What `__all__` lists, where it is not every class.
_LISTED = {
    "linear": "Bilinear|Identity|(Lazy)?Linear",
    "module": "Module|register_module_.*",
    "rnn": "(RNN|LSTM|GRU)((Cell)?(Base)?)",
}

# What PyTorch's files import, which programs import from them again.
_BORROWED: dict[str, object] = {
    **{name: getattr(common_types, name) for name in vars(common_types) if name.endswith("_t")},
    **{name: getattr(utils, name) for name in ("_ntuple", "_single", "_pair", "_triple", "_quadruple", "_reverse_repeat_tuple")},
    **{name: getattr(parameter, name) for name in ("Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter")},
    "F": functional, "Module": _Module, "Tensor": Tensor, "init": init,
}  # fmt: skip


def _show(path: str, files: tuple[str, ...]) -> None:
    """Makes `tenfold.nn.modules.<path>` importable, with the classes and functions that `files` define."""
    shown = ModuleType(f"{__name__}.{path}", f"PyTorch's path of {', '.join(files)}.")
    shown.__dict__.update(_BORROWED)
    public: list[str] = []
    for file in files:
        source = importlib.import_module(f"tenfold.nn.{file}")
        own = {
            name: value
            for name, value in vars(source).items()
            if getattr(value, "__module__", None) == source.__name__
            and (name[0] == "_" or re.fullmatch(_NAMES.get(path, r"\w+"), name))
        }
        shown.__dict__.update(own)
        listed = _LISTED.get(path, "[A-Z].*")
        public += [name for name in own if re.fullmatch(listed, name)]
    shown.__dict__["__all__"] = sorted(public)
    shown.__spec__ = ModuleSpec(shown.__name__, None)  # for importlib.util.find_spec, which refuses a loaded module without one
    sys.modules[shown.__name__] = shown
    globals()[path] = shown


for _path, _files in _FILES.items():
    _show(_path, _files)

# PyTorch's names of the tables of hooks for all modules, which libraries run where they register parameters themselves, and
# which programs replace to forget all hooks.
_TABLES = {
    f"_global_{ours}_hooks{more}": attribute
    for ours, more, attribute in (
        ("parameter_registration", "", "parameter_registration"),
        ("buffer_registration", "", "buffer_registration"),
        ("module_registration", "", "module_registration"),
        ("forward_pre", "", "forward_pre"),
        ("forward", "", "forward"),
        ("forward", "_with_kwargs", "forward_with_kwargs"),
        ("forward", "_always_called", "forward_always_called"),
        ("backward_pre", "", "backward_pre"),
        ("backward", "", "backward"),
    )
} | {"_global_is_full_backward_hook": "is_full_backward"}


class _WithTables(ModuleType):
    """`nn.modules.module`, whose tables of hooks are those in force, whoever replaces them."""

    def __getattr__(self, name: str) -> object:
        if name in _TABLES:
            return getattr(GLOBAL, _TABLES[name])
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        if name in _TABLES:
            setattr(GLOBAL, _TABLES[name], value)
        else:
            super().__setattr__(name, value)


globals()["module"].__class__ = _WithTables
globals()["module"]._grad_t = tuple[Tensor, ...] | Tensor
_RENAMED = {
    "container": {"_addindent": indented},
    "loss": {"_Reduction": _reduction},
    "module": {"_addindent": indented},
    "rnn": {"PackedSequence": PackedSequence},
    "transformer": {
        "_generate_square_subsequent_mask": causal_mask, "_get_activation_fn": chosen_activation, "_get_clones": clones,
    },
}  # fmt: skip
for _path, _renamed in _RENAMED.items():
    vars(globals()[_path]).update(_renamed)
globals()["module"]._EXTRA_STATE_KEY_SUFFIX = EXTRA_STATE_KEY

_layers = {
    name: value
    for path in _FILES
    for name, value in vars(globals()[path]).items()
    if isinstance(value, type) and issubclass(value, _Module)
}
globals().update(_layers)
__all__ = [name for name in _layers if not name.startswith("_")]
