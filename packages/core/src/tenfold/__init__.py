"""Tenfold: PyTorch's API as separately installable Python packages around a small core.

`tenfold` itself is the package tenfold-core: tensors, operators, devices. `tenfold.nn`, `tenfold.autograd` and the
others are distributions of their own, imported when first used.
"""

from __future__ import annotations

import builtins
import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

__path__ = pkgutil.extend_path(__path__, __name__)
__version__ = "0.1.0"

# `x as x` makes a name public to type checkers.
from math import e as e, inf as inf, nan as nan, pi as pi

from tenfold.dispatch import full as _dispatch, late_methods as _late
from tenfold.dispatch.devices import (
    device as device,
    get_default_device as get_default_device,
    set_default_device as set_default_device,
)
from tenfold.dispatch.gradmode import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    is_inference_mode_enabled as is_inference_mode_enabled,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from tenfold.dispatch.late_methods import LATE as _LATE_OPERATORS, SIBLINGS_FUNCTIONS as _FUNCTIONS
from tenfold.dispatch.operators import ALIASES as _ALIASES, OPERATORS as _OPERATORS, op as op
from tenfold.dispatch.services import SERVICES as _SERVICES
from tenfold.settings import environment as _environment, siblings as _siblings
from tenfold.tensor.storage import UntypedStorage as UntypedStorage
from tenfold.tensor.tensor import Tensor as Tensor
from tenfold.types import dtypes as _dtypes
from tenfold.types.dtypes import dtype as dtype, get_default_dtype as get_default_dtype, set_default_dtype as set_default_dtype
from tenfold.types.memory_format import (
    channels_last as channels_last,
    channels_last_3d as channels_last_3d,
    contiguous_format as contiguous_format,
    jagged as jagged,
    layout as layout,
    memory_format as memory_format,
    preserve_format as preserve_format,
    sparse_bsc as sparse_bsc,
    sparse_bsr as sparse_bsr,
    sparse_coo as sparse_coo,
    sparse_csc as sparse_csc,
    sparse_csr as sparse_csr,
    strided as strided,
)
from tenfold.types.promotion import can_cast as can_cast, promote_types as promote_types
from tenfold.types.size import Size as Size

_siblings.install()

# What the lower rooms ask of the higher ones, and which module has it; imported when first asked for.
_SERVICES.provide("tenfold.dispatch.callpath", "specialise source")
_SERVICES.provide("tenfold.plugins.devices", "backend_of device_types plugin_failure")
_SERVICES.provide("tenfold.plugins.loading", "autograd load_kernels load_operators")
_SERVICES.provide("tenfold.tensor.printing", "repr_of")
_SERVICES.provide("tenfold.tensor.copying", "deep_copy reduce copy_storage reduce_storage")
_SERVICES.provide("tenfold.multiprocessing.reductions", "reduce_sent_tensor reduce_sent_storage")
_SERVICES.provide("tenfold.checkpoint.storage_classes", "typed_storage storage_type")
_SERVICES.provide("tenfold.multiprocessing.shared", "Segment mapped_file on_span require_shared_memory shared_copy")
_SERVICES.provide("tenfold.multiprocessing.sharing", "share_memory")
_SERVICES.provide("tenfold.scientific.dlpack", "export dlpack_device from_dlpack")
_SERVICES.provide("tenfold.array_api.info", "array_namespace")
_SERVICES.provide("tenfold.ops.creation._data", "to_array")
_SERVICES.provide("tenfold.ops.creation.factories", "from_numpy empty_strided")
_SERVICES.provide("tenfold.ops.creation.legacy", "legacy_tensor")
_SERVICES.provide("tenfold.sparse", "to_sparse sparse_mask without_elements smm sspaddmm")
_SERVICES.provide("tenfold.as_torch.internal_forms", "in_parts internal_form")
_SERVICES.provide("tenfold.as_torch.asking", "ask_beneath")

globals()["tensor"] = op.tensor.fn  # in place of the room of this name, which is an attribute by now
newaxis = None

_late.install(Tensor)
from tenfold.tensor import layouts as _layouts  # noqa: E402 - gives Tensor more attributes

# The dtypes under PyTorch's names. The public functions, one for each operator, come when they are asked for (`_found`).
globals().update(_dtypes.BY_NAME)
globals().update(_dtypes.ALIASES)

# Names that are imported when first asked for: from core's own rarely used modules, then from the sibling packages.
_LAZY = {
    name: f"tenfold.{module}"
    for module, names in {
        "amp": "autocast GradScaler _amp_foreach_non_finite_check_and_unscale_ _amp_update_scale_",
        "amp.autocast": "is_autocast_available set_autocast_enabled set_autocast_cpu_enabled",
        "amp.settings": "is_autocast_enabled is_autocast_cpu_enabled is_autocast_cache_enabled set_autocast_cache_enabled "
        "get_autocast_dtype get_autocast_gpu_dtype get_autocast_cpu_dtype set_autocast_dtype set_autocast_gpu_dtype "
        "set_autocast_cpu_dtype clear_autocast_cache autocast_increment_nesting autocast_decrement_nesting",
        "autograd.anomaly": "is_anomaly_enabled is_anomaly_check_nan_enabled set_anomaly_enabled",
        "checkpoint.serialization": "save load",
        "dispatch.devices": "AcceleratorError OutOfMemoryError",
        "func": "vmap",
        "multiprocessing.mapped": "from_file",
        "nested": "_nested_tensor_from_mask _nested_tensor_from_mask_left_aligned _nested_from_padded "
        "_nested_from_padded_and_nested_example",
        "nn.functional.recurrent": "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell",
        "nn.layers.attention.fast_path": "_native_multi_head_attention _transform_bias_rescale_qkv "
        "_transformer_encoder_layer_fwd",
        "nn.ops.distance": "cdist",
        "nn.ops.dropout": "alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout feature_alpha_dropout_ "
        "feature_dropout feature_dropout_",
        "nn.ops.norm.batch": "batch_norm_update_stats",
        "nn.ops.norm.renorm": "renorm",
        "nn.top_level": "batch_norm binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss embedding embedding_bag "
        "group_norm hinge_embedding_loss instance_norm kl_div layer_norm margin_ranking_loss poisson_nll_loss rrelu rrelu_ "
        "triplet_margin_loss",
        "nn.ops.units.gates": "gelu gelu_ gelu_backward glu hardswish hardswish_ mish mish_ silu silu_ silu_backward",
        "nn.ops.units.curves": "celu celu_ elu elu_ hardshrink hardsigmoid hardsigmoid_ hardtanh hardtanh_ leaky_relu "
        "leaky_relu_ logsigmoid prelu relu6 relu6_ selu selu_ softplus softshrink softsign tanhshrink threshold threshold_",
        "ops.view.resizing": "resize_as_",
        "autograd.view_copies": "as_strided_copy detach_copy diagonal_copy expand_copy permute_copy select_copy "
        "split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy unsqueeze_copy view_copy "
        "view_as_complex_copy view_as_real_copy alias_copy slice_copy",
        "random.generator": "Generator default_generator manual_seed initial_seed seed get_rng_state set_rng_state",
        "checkpoint.typed_tensors": "set_default_tensor_type _tensor_classes FloatTensor DoubleTensor HalfTensor BFloat16Tensor "
        "LongTensor IntTensor ShortTensor CharTensor ByteTensor BoolTensor",
        "scientific.dlpack": "from_dlpack to_dlpack",
        "inspection.checks": "_check _check_index _check_value _check_type _check_not_implemented _check_tensor_all _assert "
        "_assert_async",
        "settings.determinism": "are_deterministic_algorithms_enabled",
        "inspection.determinism": "use_deterministic_algorithms is_deterministic_algorithms_warn_only_enabled "
        "set_deterministic_debug_mode get_deterministic_debug_mode",
        "inspection.interop": "set_num_interop_threads get_num_interop_threads",
        "inspection.queries": "is_inference is_same_size is_conj is_neg is_signed is_storage is_nonzero typename result_type",
        "inspection.precision": "set_float32_matmul_precision get_float32_matmul_precision set_flush_denormal",
        "inspection.streams": "Stream Event get_device_module",
        "inspection.symbolic": "sym_float sym_int sym_ite sym_max sym_min sym_not sym_sum",
        "settings.warnings": "set_warn_always is_warn_always_enabled",
        "settings.threads": "set_num_threads get_num_threads",
        "sparse": "sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor sparse_bsc_tensor "
        "sparse_compressed_tensor dsmm hsmm hspmm saddmm smm sspaddmm _sparse_broadcast_to _validate_sparse_coo_tensor_args "
        "_validate_sparse_compressed_tensor_args _convert_indices_from_csr_to_coo",
        "storage": "TypedStorage FloatStorage DoubleStorage HalfStorage BFloat16Storage LongStorage IntStorage ShortStorage "
        "CharStorage ByteStorage BoolStorage ComplexFloatStorage ComplexDoubleStorage Storage _storage_classes",
        "tensor.printing": "set_printoptions get_printoptions",
        "tensor.queries": "numel is_floating_point is_complex broadcast_shapes",
        "types.numeric_limits": "finfo iinfo",
    }.items()
    for name in names.split()
}


def _found(name: str) -> Any:
    if name == "__all__":  # for `from tenfold import *`
        return sorted(name for name in {*_own_names(), *_installed_names(_module_names())} if name[0] != "_")
    if name in _LAZY:
        module = _from_packages(_LAZY[name].removeprefix("tenfold."))
        value = getattr(module, name, None) or _OPERATORS[name].fn  # an in-place form has no name in its module
    elif name in _LATE_OPERATORS and name not in ("cpu", "cuda"):  # methods; as names they are modules
        importlib.import_module(_LATE_OPERATORS[name])
        value = _ALIASES[name] if name in _ALIASES else _OPERATORS[name].fn
    elif name.startswith("_foreach_"):
        value = getattr(_from_packages("foreach"), name)
    elif name.startswith("__") and name not in ("__config__", "__future__"):
        raise AttributeError(f"module 'tenfold' has no attribute {name!r}")
    else:
        value = _from_packages(name)
    globals()[name] = value
    return value


if TYPE_CHECKING:  # every name of the generated declarations is public, and is here at run time
    from tenfold.public_names import *  # noqa: F403 - that is what the file is for
else:
    __getattr__ = _found


_HELPERS = {"Any", "TYPE_CHECKING", "annotations", "builtins", "importlib", "pkgutil"}
_INSIDE = {"dispatch", "generic", "ops", "settings"}  # rooms that no user's program names


def _own_names() -> list[str]:
    names = {*globals(), *_LATE_OPERATORS} - {"cpu"}  # a method; as a name it is a module
    names -= {
        name for name, home in _FUNCTIONS.items() if home == _siblings.PACKAGES["nn"]
    }  # no names of `*`, also where somebody asked for one
    return [
        name for name in names if not name.startswith("_") and not name.endswith("_plugin") and name not in _HELPERS | _INSIDE
    ]


def _module_names() -> set[str]:
    """Core's rooms and modules, and the siblings that are installed."""
    found = {module.name for module in pkgutil.iter_modules(__path__)}
    return {name for name in found if name[0] != "_" and not name.endswith("_plugin")}


def _installed_names(modules: set[str]) -> set[str]:
    """Those names that are imported when first asked for and are there; the layers' operators are nn.functional's names."""
    functions = (name for name, home in _FUNCTIONS.items() if home == _siblings.PACKAGES["scientific"])
    return {
        *(functions if "scientific" in modules else ()),
        *(name for name, module in _LAZY.items() if module.split(".")[1] in modules),
    }


def __dir__() -> list[str]:
    """What there is, imported or not: core's names, the siblings that are installed, their operators."""
    modules = _module_names()
    homes = {distribution for name, distribution in _siblings.PACKAGES.items() if name in modules}
    functions = {name for name, home in _FUNCTIONS.items() if home in homes}
    dunders = {name for name in globals() if name.startswith("__")}
    return sorted({*_own_names(), *(modules - _INSIDE), *functions, *_installed_names(modules), *dunders})


def _from_packages(name: str) -> Any:
    """A sibling package or core submodule, or an operator that a sibling declares."""
    try:
        return importlib.import_module(f"tenfold.{name}")
    except ModuleNotFoundError as error:
        if name == "cuda" and error.name == "tenfold.cuda":  # programs ask whether there is a device before anything else
            return importlib.import_module("tenfold.plugins.no_cuda")
        if error.name != f"tenfold.{name}" or name in _siblings.PACKAGES:
            raise
    _SERVICES.load_operators()
    if name in _OPERATORS:
        return _OPERATORS[name].fn
    if name in _ALIASES:
        return _ALIASES[name]
    raise AttributeError(f"module 'tenfold' has no attribute {name!r}{_late.where(name, _FUNCTIONS)}")


def is_tensor(obj: Any) -> builtins.bool:
    """Whether an object is a Tensor."""
    return isinstance(obj, Tensor)


if _environment.DEBUG.read() not in ("", "0", "1"):
    _debug = importlib.import_module("tenfold.inspection.debug")

    if _debug.level() >= 2:
        _debug.DebugLayer(_debug.level()).__enter__()
