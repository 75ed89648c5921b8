"""What one run of a module does, as a graph that TensorBoard draws: its operators, below the modules that call them."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.utils._python_dispatch import TorchDispatchMode
from tenfold.utils._pytree import tree_leaves
from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, StepStats
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.versions_pb2 import VersionDef


class Recorder(TorchDispatchMode):
    """Operators of a module's run, each a node named by the modules within which it was called."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.nodes: list[NodeDef] = []
        self._scope: list[str] = []
        self._made: dict[int, str] = {}  # which node made the tensor of this id
        self._kept: list[Any] = []  # tensors whose ids stand above
        self._counts: Counter[str] = Counter()
        self._paths = _paths(model)
        for name, value in (*model.named_parameters(), *model.named_buffers()):
            place, _, leaf = name.rpartition(".")
            self.add("/".join((*self._paths[id(model.get_submodule(place))], leaf)), "Parameter", [], value)

    def add(self, name: str, op: str, inputs: list[str], value: Any, text: str = "") -> str:
        """A node, which made the tensors of a value; its name."""
        self._counts[name] += 1
        name = name if self._counts[name] == 1 else f"{name}_{self._counts[name] - 1}"
        node = NodeDef(name=name, op=op, input=inputs, attr={"attr": AttrValue(s=text.encode())})
        tensors = [v for v in tree_leaves(value) if isinstance(v, Tensor)]
        if tensors:
            sizes = [TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in t.shape]) for t in tensors]
            node.attr["_output_shapes"].list.CopyFrom(AttrValue.ListValue(shape=sizes))
        self.nodes.append(node)
        self._kept.append(tensors)
        self._made.update({id(t): name for t in tensors})
        return name

    def sources(self, values: Any) -> list[str]:
        """The nodes that made the tensors among values."""
        tensors = [v for v in tree_leaves(values) if isinstance(v, Tensor)]
        return [self._made[id(t)] for t in tensors if id(t) in self._made]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        options = kwargs or {}
        inputs, result = self.sources((args, options)), func(*args, **options)
        _, name, _ = str(func).split(".")
        plain = [repr(v) for v in tree_leaves((args, options)) if not isinstance(v, Tensor)]
        self.add("/".join((*self._scope, name)), f"aten::{name}", inputs, result, "{" + ", ".join(plain) + "}")
        return result

    @contextlib.contextmanager
    def within(self, model: Any) -> Iterator[None]:
        """Within it, operators go below the modules that are running."""

        def enter(module: Any, inputs: Any) -> None:
            before.append(self._scope)
            self._scope = self._paths[id(module)]

        def leave(module: Any, inputs: Any, outputs: Any) -> None:
            self._scope = before.pop()

        before: list[list[str]] = []
        hooks = [m.register_forward_pre_hook(enter) for m in model.modules()]
        hooks += [m.register_forward_hook(leave) for m in model.modules()]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()


def _paths(model: Any) -> dict[int, list[str]]:
    """For each module the names from the whole to it: a class, and in brackets the attribute that holds it."""
    paths: dict[int, list[str]] = {}
    for name, module in model.named_modules():
        place, _, leaf = name.rpartition(".")
        above = paths[id(model.get_submodule(place))] if name else []
        kind = type(module).__name__
        paths[id(module)] = [*above, f"{kind}[{leaf}]" if name else kind]
    return paths


def graph(model: Any, args: Any, verbose: bool = False, use_strict_trace: bool = True) -> tuple[Any, Any]:
    """The graph of one run in evaluation mode, without gradients, and the metadata of that run.

    `args` is the module's input, or a tuple of its inputs. With `use_strict_trace` results are tensors or tuples of tensors.
    Raises RuntimeError for a list or dictionary then.
    """
    inputs = tuple(args) if isinstance(args, (list, tuple)) else (args,)
    recorder = Recorder(model)
    for i, value in enumerate(inputs):
        recorder.add(f"input/{i}", "IO Node", [], value)
    modes = {module: module.training for module in model.modules()}
    try:
        model.eval()
        with tenfold.no_grad(), recorder.within(model), recorder:
            result = model(*inputs)
    finally:
        for module, training in modes.items():
            module.training = training
    if use_strict_trace and isinstance(result, (list, dict)):
        raise RuntimeError(
            f"add_graph: the module returned a {type(result).__name__}, which is refused unless use_strict_trace=False; "
            "return a tuple or a named tuple"
        )
    for i, value in enumerate(tree_leaves(result)):
        recorder.add(f"output/{i}", "IO Node", recorder.sources(value), None)
    if verbose:
        print(*(f"{n.name} = {n.op}({', '.join(n.input)})" for n in recorder.nodes), sep="\n")
    device = DeviceStepStats(device="/device:CPU:0")
    return (
        GraphDef(node=recorder.nodes, versions=VersionDef(producer=22)),
        RunMetadata(step_stats=StepStats(dev_stats=[device])),
    )
