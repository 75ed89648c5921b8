"""`torch.ops`: operators by PyTorch's internal names, such as `torch.ops.aten.add.Tensor`.

Libraries call operators so, compare with them and use them as keys. Each answers with Tenfold's operator of that name, and
its overloads with the same, since one function takes all forms of arguments.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.as_torch.stand_ins.absent import classes, functions
from tenfold.dispatch.overrides import handle_torch_function, has_torch_function

# The names that PyTorch's schemas give to forms of arguments.
_OVERLOADS = frozenset(
    "default Tensor Scalar out int int_out self dim dim_IntList dimname dim_DimnameList names IntList_out Scalar_out Tensor_out "
    "Tensor_Scalar Tensor_Tensor Scalar_Tensor Tensor_Scalar_out Tensor_Tensor_out Scalar_Tensor_out TensorHalf ScalarSelf "
    "ScalarOther self_Tensor self_Scalar other out_mode Tensor_mode Scalar_mode mode correction correction_out correction_names "
    "dtype dtype_out p float low generator generator_out Scalar_generator start start_step start_out names_out "
    "ScalarOpt_dim ScalarOpt_dtype ScalarOpt_dim_dtype Tensor_indices sections indices SymInt vec vec_out "
    "memory_format padding layout device prim other_layout complex Tensor_dim values values_stable stable descending "
    "dim_int value reduce value_reduce src Int Hacked_twin input_dtype str list using_ints Dimname tensor scalar op any "
    "_RecordFunction".split()
)


def overriding(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
    """A call's arguments, those within lists too, if a class among them or a mode that is entered overrides operators."""
    given = [each for value in (*args, *kwargs.values()) for each in (value if isinstance(value, (list, tuple)) else (value,))]
    return given if has_torch_function(given) else None


class OpOverload:
    """One form of an operator, `aten.add.Tensor`: called, it runs the operator."""

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self.overloadpacket, self._overloadname = packet, overload
        self.namespace, self._opname = packet._namespace, packet.__name__
        self.__name__ = f"{packet.__name__}.{overload}"
        self.__module__, self.__doc__ = packet.__module__, packet.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (given := overriding(args, kwargs)) is not None:
            return handle_torch_function(self, given, *args, **kwargs)
        return self._operator(*args, **kwargs)

    @property
    def _operator(self) -> Any:
        """What a program registered for this form, or what takes all of them."""
        return self.overloadpacket._registered.get(self._overloadname, self.overloadpacket._function)

    @property
    def tags(self) -> list[Any]:
        """None: tags tell compilers of PyTorch what they may do."""
        return []

    @property
    def _schema(self) -> Any:
        """The schema that the operator was declared with; PyTorch's own have none here."""
        found = getattr(self._operator, "_schema", None)
        if found is None:
            raise AttributeError(f"'{self}' was not declared by a schema, which operators of torch.library are")
        return found

    def name(self) -> str:
        """The operator's name in PyTorch's schemas: `aten::add.Tensor`, without an overload for the default."""
        suffix = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"{self.overloadpacket._qualified_op_name}{suffix}"

    def __str__(self) -> str:
        return f"{self.overloadpacket}.{self._overloadname}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"

    def __reduce__(self) -> Any:
        return getattr, (self.overloadpacket, self._overloadname)


class OpOverloadPacket:
    """An operator by name, `aten.add`; its forms are attributes."""

    def __init__(self, namespace: str, name: str, function: Any) -> None:
        self._namespace, self.__name__, self._function = namespace, name, function
        self._qualified_op_name, self.__module__ = f"{namespace}::{name}", f"torch._ops.{namespace}"
        self.__doc__ = function.__doc__
        self._made: dict[str, OpOverload] = {}
        self._registered: dict[str, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (given := overriding(args, kwargs)) is not None:
            return handle_torch_function(self, given, *args, **kwargs)
        if len(self._registered) > 1:
            return self._fitting(args, kwargs)(*args, **kwargs)
        return self._function(*args, **kwargs)

    def _fitting(self, args: Any, kwargs: dict[str, Any]) -> Any:
        """The first form, in the order of their declarations, whose schema takes the arguments."""
        reasons = ["Overloaded torch operator invoked from Python failed to match any schema:"]
        for form in self._registered.values():
            try:
                if form._schema is not None:
                    form._schema.bind(args, kwargs)
            except RuntimeError as error:
                reasons.append(str(error))
            else:
                return form
        raise RuntimeError("\n".join(reasons))

    def _known(self, overload: str) -> bool:
        return overload in self._registered if self._registered else overload in _OVERLOADS

    def _register(self, overload: str, operator: Any) -> None:
        """A form that a program declares."""
        self._registered[overload] = operator
        self._function = next(iter(self._registered.values()))

    def __getattr__(self, name: str) -> OpOverload:
        if "_registered" not in self.__dict__ or not self._known(name):
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")
        return self._made.setdefault(name, OpOverload(self, name))

    def overloads(self) -> list[str]:
        """The forms that were registered or asked for, or the default one."""
        return list(self._registered or self._made) or ["default"]

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    __repr__ = __str__

    def __reduce__(self) -> Any:
        return getattr, (getattr(ops, self._namespace), self.__name__)


class _OpNamespace(types.ModuleType):
    """`torch.ops.aten`, or one that nobody has registered operators in."""

    def __init__(self, name: str) -> None:
        super().__init__(f"torch.ops.{name}")
        self._name = name
        self.__file__ = "torch.ops"

    def __getattr__(self, name: str) -> Any:
        function = None if name.startswith("__") else _function(self._name, name)
        if function is None:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        packet = self.__dict__[name] = OpOverloadPacket(self._name, name, function)
        return packet

    def __reduce__(self) -> Any:
        return getattr, (ops, self._name)


class _Ops(types.ModuleType):
    """`torch.ops`: a namespace for every name, as they come into being when operators are registered."""

    loaded_libraries: frozenset[str] = frozenset()

    def __getattr__(self, name: str) -> _OpNamespace:
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = self.__dict__[name] = _OpNamespace(name)
        return namespace

    def load_library(self, path: str) -> None:
        """Refuses: libraries of compiled operators are made for PyTorch's own binaries."""
        raise OSError(f"torch.ops.load_library: {path} has operators compiled for PyTorch's binaries, which Tenfold has not")

    def __reduce__(self) -> Any:
        return "ops"


def _function(namespace: str, name: str) -> Any:
    """The operator of this name in Tenfold's modules, or the method; None if there is none."""
    if namespace == "profiler":
        return getattr(importlib.import_module("tenfold._library.profiler_ops"), name, None)
    if namespace not in ("aten", "prims"):
        return None
    if name in _OTHERWISE:
        return _OTHERWISE[name]
    for home in _homes():
        found = getattr(home, name, None)
        if callable(found) and not isinstance(found, type):
            return found
    return None


def _homes() -> Iterator[Any]:
    """Where operators are; a package that is not installed has none."""
    yield tenfold
    for room in ("nn.functional", "special", "linalg"):
        try:
            module = importlib.import_module(f"tenfold.{room}")
        except ModuleNotFoundError:
            continue
        yield module
    yield Tensor


def _slice(self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    return self[(slice(None),) * (dim % self.dim()) + (slice(start, end, step),)]


def _pad(mode: str) -> Any:
    return lambda self, padding: tenfold.nn.functional.pad(self, list(padding), mode=mode)


def _layer_norm(input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    return importlib.import_module("tenfold.nn.ops.norm.layer").fused_layer_norm(input, len(normalized_shape), weight, bias, eps)


def _columns(name: str) -> Any:
    """`im2col` or `col2im`, whose kernels take sizes as tuples."""
    return lambda self, *sizes: getattr(tenfold.op, name)(self, *map(tuple, sizes))


def _convolution(input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, *rest: Any) -> Any:
    transposed, output_padding, groups = rest
    made = importlib.import_module("tenfold.nn.ops.conv.convolution").convolution
    sizes = tuple(stride), tuple(padding), tuple(dilation)
    return made(input, weight, bias, *sizes, transposed, tuple(output_padding), groups)


def _convolution_backward(
    grad_output: Any, input: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int, output_mask: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    made = importlib.import_module("tenfold.nn.ops.conv.convolution")
    rest = tuple(stride), tuple(padding), tuple(dilation), transposed, tuple(output_padding), groups
    wanted, weights, bias = output_mask
    return (
        made.convolution_input_grad(grad_output, weight, tuple(input.shape), *rest) if wanted else None,
        made.convolution_weight_grad(grad_output, input, tuple(weight.shape), *rest) if weights else None,
        grad_output.sum([0, *range(2, grad_output.dim())]) if bias else None,
    )


# PyTorch's internal names for what has another one, or another order of arguments, in public.
_OTHERWISE: dict[str, Any] = {
    "_softmax": lambda self, dim, half_to_float: self.softmax(dim, dtype=tenfold.float32 if half_to_float else None),
    "_log_softmax": lambda self, dim, half_to_float: self.log_softmax(dim, dtype=tenfold.float32 if half_to_float else None),
    "_to_copy": lambda self, **options: self.to(**options, copy=True),
    "_unsafe_view": Tensor.reshape,
    "_local_scalar_dense": Tensor.item,
    "_pin_memory": lambda self, device=None: self.pin_memory(),
    "_sparse_addmm": lambda self, mat1, mat2, *, beta=1, alpha=1: tenfold.sparse.addmm(self, mat1, mat2, beta=beta, alpha=alpha),
    **functions("_sparse_mm_reduce_impl", "Tenfold's sparse products sum; use torch.sparse.mm and torch.scatter_reduce"),
    "_softmax_backward_data": lambda grad_output, output, dim, input_dtype: tenfold.softmax_backward(grad_output, output, dim),
    "_log_softmax_backward_data": lambda grad_output, output, dim, input_dtype: tenfold.log_softmax_backward(
        grad_output, output, dim
    ),
    "native_layer_norm": _layer_norm,
    "convolution": _convolution,
    "_convolution": lambda *given: _convolution(*given[:9]),  # what follows chooses among cuDNN's ways
    "convolution_backward": _convolution_backward,
    "im2col": _columns("im2col"),
    "col2im": _columns("col2im"),
    "alias": lambda self: self.view(self.shape),
    "slice": _slice,
    "sym_size": Tensor.size,
    "sym_stride": Tensor.stride,
    "sym_numel": Tensor.numel,
    **{f"reflection_pad{n}d": _pad("reflect") for n in (1, 2, 3)},
    **{f"replication_pad{n}d": _pad("replicate") for n in (1, 2, 3)},
}

ops = _Ops("torch.ops")
_WHY = "operators that take functions run programs as graphs, which the package tenfold-compile is for"
HigherOrderOperator = classes("HigherOrderOperator", _WHY)["HigherOrderOperator"]
