"""A model's inner results: those of named submodules, in place of its output.

Built on forward hooks, not on a traced graph. The names are those of submodules, with ``_1``, ``_2`` for those called again, as
torchvision has them; results of operators between submodules (its ``add``, ``flatten``) have no name here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from tenfold import Tensor, nn

Nodes = Sequence[str] | Mapping[str, str]


class IntermediateLayerGetter(nn.ModuleDict):
    """The first children of a model, up to the last of those whose results are wanted, called one after the other.

    ``return_layers`` maps children's names to names of the results. The model must use its children in the order in which they
    were registered, each once.

    >>> body = IntermediateLayerGetter(nn.Sequential(nn.ReLU(), nn.Flatten(0), nn.Identity()), {"0": "positive"})
    >>> import tenfold
    >>> body(tenfold.tensor([-1.0, 2.0]))["positive"]
    tensor([0., 2.])

    Raises:
        ValueError: a name is not a child's.
    """

    def __init__(self, model: nn.Module, return_layers: Mapping[str, str]) -> None:
        children = dict(model.named_children())
        wanted = {str(name): str(out) for name, out in return_layers.items()}
        if not set(wanted) <= set(children):
            raise ValueError(
                f"return_layers are not present in model: {sorted(set(wanted) - set(children))}; it has {list(children)}"
            )
        last = max(list(children).index(name) for name in wanted)
        super().__init__(dict(list(children.items())[: last + 1]))
        self.return_layers = wanted

    def forward(self, x: Tensor) -> OrderedDict[str, Tensor]:
        found = OrderedDict()
        for name, child in self.items():
            x = child(x)
            if name in self.return_layers:
                found[self.return_layers[name]] = x
        return found


class _Found(Exception):
    pass


class _Calls:
    """Names every call of a submodule: its path, and ``_1``, ``_2`` for further calls."""

    def __init__(self, names: dict[nn.Module, str]) -> None:
        self.names = names
        self.counts: dict[str, int] = {}

    def name(self, module: nn.Module) -> str:
        path = self.names[module]
        count = self.counts.get(path, 0)
        self.counts[path] = count + 1
        return f"{path}_{count}" if count else path


class FeatureExtractor(nn.Module):
    """What `create_feature_extractor` makes: shares its model's submodules and parameters, under the same names."""

    def __init__(self, model: nn.Module, train_nodes: dict[str, str], eval_nodes: dict[str, str]) -> None:
        super().__init__()
        self._model = [model]  # in a list, so that it is not itself a submodule and adds nothing to the parameters' names
        self._modules, self._parameters, self._buffers = model._modules, model._parameters, model._buffers
        self._nodes = {True: train_nodes, False: eval_nodes}
        self.training = model.training

    def train(self, mode: bool = True) -> FeatureExtractor:
        super().train(mode)
        self._model[0].training = mode
        return self

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        nodes = self._nodes[self.training]
        found: dict[str, Any] = {}
        model = self._model[0]
        calls = _Calls({module: path for path, module in model.named_modules() if path})

        def keep(module: nn.Module, _: Any, output: Any) -> None:
            name = calls.name(module)
            if name in nodes:
                found[name] = output
                if len(found) == len(nodes):
                    raise _Found

        with _hooked(calls.names, keep), suppress(_Found):
            model(*args, **kwargs)
        missing = [name for name in nodes if name not in found]
        if missing:
            raise ValueError(
                f"create_feature_extractor: {missing} took no part in this forward pass, in which {list(calls.counts)} did"
            )
        return {label: found[name] for name, label in nodes.items()}


@contextmanager
def _hooked(modules: dict[nn.Module, str], hook: Any) -> Iterator[None]:
    handles = [module.register_forward_hook(hook) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def create_feature_extractor(
    model: nn.Module,
    return_nodes: Nodes | None = None,
    train_return_nodes: Nodes | None = None,
    eval_return_nodes: Nodes | None = None,
    tracer_kwargs: dict[str, Any] | None = None,
    suppress_diff_warning: bool = False,
    concrete_args: dict[str, Any] | None = None,
) -> FeatureExtractor:
    """A module that gives the results of named submodules of ``model`` as a dictionary.

    ``return_nodes`` lists the submodules' paths, or maps them to keys of the dictionary; a path means the result of the submodule
    as a whole. ``train_return_nodes`` and ``eval_return_nodes``, given together, tell the two modes apart. A second call of the
    same submodule
    is named with ``_1``. The forward pass ends as soon as the last of the results is there.

    >>> from tenfold.vision.models import resnet18
    >>> import tenfold
    >>> features = create_feature_extractor(resnet18(), {"layer1": "fine", "layer3.1": "coarse"})
    >>> {name: tuple(value.shape) for name, value in features(tenfold.zeros(1, 3, 64, 64)).items()}
    {'fine': (1, 64, 16, 16), 'coarse': (1, 256, 4, 4)}

    Differs from torchvision: nothing is traced, so operators that are no submodules (``add``, ``flatten``) cannot be named,
    control flow is free,
    and ``tracer_kwargs``, ``suppress_diff_warning`` and ``concrete_args`` have no effect; later submodules stay in the
    extractor, unused.

    Raises:
        ValueError: no nodes are given, or nodes of one mode alone, or one that is no submodule's path.
    """
    if (train_return_nodes is None) != (eval_return_nodes is None):
        raise ValueError("create_feature_extractor: give train_return_nodes and eval_return_nodes both, or neither")
    if (return_nodes is None) == (train_return_nodes is None):
        raise ValueError("create_feature_extractor: give either return_nodes, or train_return_nodes and eval_return_nodes")
    train = _as_mapping(return_nodes if return_nodes is not None else train_return_nodes)
    evaluated = _as_mapping(return_nodes if return_nodes is not None else eval_return_nodes)
    for name in {**train, **evaluated}:
        _require_submodule(model, name)
    return FeatureExtractor(model, train, evaluated)


def _as_mapping(nodes: Any) -> dict[str, str]:
    return (
        {str(name): str(label) for name, label in nodes.items()}
        if isinstance(nodes, Mapping)
        else {str(name): str(name) for name in nodes}
    )


def _require_submodule(model: nn.Module, name: str) -> None:
    paths = [path for path, _ in model.named_modules() if path]
    path, _, count = name.rpartition("_")
    if name not in paths and not (count.isdigit() and path in paths):
        raise ValueError(
            f"node: '{name}' is not present in model; its submodules begin with {', '.join(paths[:20])}. "
            "Results of operators that are no submodules have no name"
        )


def get_graph_node_names(
    model: nn.Module,
    tracer_kwargs: dict[str, Any] | None = None,
    suppress_diff_warning: bool = False,
    concrete_args: dict[str, Any] | None = None,
) -> tuple[list[str], list[str]]:
    """The paths of the submodules that `create_feature_extractor` can name, in the order of registration: twice, for training
    and evaluation.

    Nothing is traced, so names of operators and of repeated calls (``relu_1``) are not among them, and both lists are the same.
    """
    paths = [path for path, _ in model.named_modules() if path]
    return paths, list(paths)
