"""Graphs of programs: recorded, changed, run, copied and saved."""

import copy
import math
import operator
import pickle

import pytest

import tenfold
from tenfold import fx, nn
from tenfold.fx.passes.shape_prop import ShapeProp
from tenfold.fx.proxy import TraceError
from tenfold.nn import functional as F


class Net(nn.Module):
    """A bit of everything: layers, functions, parameters, buffers, constants, sizes, parts."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.norm = nn.BatchNorm2d(2)
        self.head = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
        self.weight = nn.Parameter(tenfold.ones(2))
        self.register_buffer("shift", tenfold.ones(2))

    def forward(self, x, scale=2.0):
        h = tenfold.flatten(F.relu(self.norm(self.conv(x))), 1)
        y = self.head(h).view(x.shape[0], -1) * scale + self.weight - self.shift
        a, b = y.chunk(2, dim=1)
        z = tenfold.cat([a, b], dim=-1)[:, :1] + tenfold.tensor([3.0])
        return {"product": tenfold.einsum("ij,kj->ik", z, z), "parts": (y, -a, 1 / b)}


@pytest.fixture
def net():
    tenfold.manual_seed(0)
    return Net().eval()


def same(traced, net, x):
    one, two = traced(x), net(x)
    return tenfold.equal(one["product"], two["product"]) and all(map(tenfold.equal, one["parts"], two["parts"]))


def test_a_module_is_recorded(net):
    traced, x = fx.symbolic_trace(net), tenfold.randn(3, 1, 4, 4)
    assert same(traced, net, x)
    assert [node.name for node in traced.graph.nodes][:6] == ["x", "scale", "conv", "norm", "relu", "flatten"]
    assert {node.op for node in traced.graph.nodes} == {
        "placeholder", "get_attr", "call_function", "call_method", "call_module", "output"
    }  # fmt: skip
    assert sorted(dict(traced.named_parameters())) == sorted(dict(net.named_parameters()))
    assert "h = " not in traced.code
    assert "relu = tenfold.relu(norm);  norm = None" in traced.code


def test_copies_and_pickles_run(net):
    traced, x = fx.symbolic_trace(net), tenfold.randn(3, 1, 4, 4)
    copied = copy.deepcopy(traced)
    assert same(copied, net, x)
    assert same(pickle.loads(pickle.dumps(traced)), net, x)
    assert copied.head is not traced.head
    with tenfold.no_grad():
        copied.weight.zero_()
    assert not same(copied, net, x)
    assert same(traced, net, x)


def test_a_graph_is_changed():
    traced = fx.symbolic_trace(lambda x: tenfold.relu(x) + 1)
    for node in traced.graph.nodes:
        if node.target is tenfold.relu:
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(tenfold.tanh, node.args)
            node.replace_all_uses_with(new)
            with pytest.raises(RuntimeError, match="still had 1 users"):
                traced.graph.erase_node(new)
            traced.graph.erase_node(node)
    traced.graph.lint()
    traced.recompile()
    x = tenfold.tensor([-1.0])
    assert tenfold.equal(traced(x), tenfold.tanh(x) + 1)


def test_lint_finds_what_comes_too_early():
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_method("neg", (x,))
    graph.output(y)
    x.prepend(y)
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        graph.lint()


def test_what_nobody_uses_goes():
    def program(x):
        x.cos()
        y = x.clone()
        y.add_(1)
        return y

    traced = fx.symbolic_trace(program)
    assert traced.graph.eliminate_dead_code()
    assert [node.name for node in traced.graph.nodes] == ["x", "clone", "add_", "output"]


def test_interpreter_and_transformer():
    traced = fx.symbolic_trace(lambda x, y=2: tenfold.relu(x) * y)
    x = tenfold.tensor([-1.0, 3.0])
    assert tenfold.equal(fx.Interpreter(traced).run(x), traced(x))
    assert tenfold.equal(fx.Transformer(traced).transform()(x, 5), traced(x, 5))
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter x"):
        fx.Interpreter(traced).run()


def test_patterns_are_replaced():
    def program(x, y):
        return tenfold.sigmoid(x) * x + tenfold.sigmoid(y) * y + tenfold.sigmoid(x)

    traced = fx.symbolic_trace(program)
    x, y = tenfold.randn(3), tenfold.randn(3)
    matches = fx.replace_pattern(traced, lambda a: tenfold.sigmoid(a) * a, lambda a: F.silu(a))
    assert len(matches) == 2
    assert [node.target for node in traced.graph.nodes].count(F.silu) == 2
    assert tenfold.allclose(traced(x, y), program(x, y))


def test_a_pattern_whose_inside_is_used_elsewhere_stays():
    def program(x):
        s = tenfold.sigmoid(x)
        return s * x + s

    assert fx.replace_pattern(fx.symbolic_trace(program), lambda a: tenfold.sigmoid(a) * a, lambda a: F.silu(a)) == []


@pytest.mark.parametrize(
    "program", [lambda x: x if x.sum() > 0 else -x, lambda x: list(x), lambda x: tenfold.ones(2)[int(x)], lambda x: 1 in x]
)
def test_what_a_graph_cannot_hold(program):
    with pytest.raises(TraceError):
        fx.symbolic_trace(program)


def test_stars_and_names_and_concrete_arguments():
    def program(x, n: int, *args, k=None, **names):
        return x.sum(n) * args[0] + names["m"] if k is None else x

    traced = fx.symbolic_trace(program, concrete_args={"k": None})
    x = tenfold.ones(2, 3)
    assert [node.target for node in traced.graph.nodes if node.op == "placeholder"] == ["x", "n", "k_1", "*args", "**names"]
    assert tenfold.equal(traced(x, 1, None, 4.0, m=1), tenfold.full((2,), 13.0))


def test_leaves_and_wrapped_functions():
    class Leafy(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return module_qualified_name == "0"

    module = nn.Sequential(nn.Sequential(nn.Linear(1, 1)), nn.Tanh())
    assert [node.target for node in Leafy().trace(module).nodes] == ["input", "0", tenfold.tanh, "output"]
    traced = fx.symbolic_trace(lambda x: x * math.sqrt(4) + math.floor(x.size(0)))
    assert math.floor in [node.target for node in traced.graph.nodes]
    assert traced(tenfold.ones(1)).item() == 3.0
    assert not fx.is_fx_tracing()


def test_proxies_without_a_tracer_of_modules():
    graph = fx.Graph()
    x = fx.Proxy(graph.placeholder("x"), fx.proxy.GraphAppendingTracer(graph))
    first, second = tenfold.broadcast_tensors(x, x)[0], tenfold.einsum("i,i->", x, x)
    tenfold._assert(x.shape[0] == 3, "three of them")
    graph.output((first.sum() + second + tenfold.tensordot(x, x, dims=1)).node)
    module = fx.GraphModule({}, graph)
    assert module(tenfold.ones(3)).item() == 9.0
    with pytest.raises(AssertionError, match="three of them"):
        module(tenfold.ones(2))
    assert next(node for node in graph.nodes if node.target is tenfold.tensordot).kwargs["dims"] == 1


def test_shapes_are_noted(net):
    traced = fx.symbolic_trace(net)
    ShapeProp(traced).propagate(tenfold.ones(3, 1, 4, 4))
    shapes = {node.name: tuple(node.meta["tensor_meta"].shape) for node in traced.graph.nodes if node.op == "call_module"}
    assert shapes == {"conv": (3, 2, 2, 2), "norm": (3, 2, 2, 2), "head_0": (3, 4), "head_1": (3, 4), "head_2": (3, 2)}


def test_written_code_means_what_was_recorded():
    def program(x):
        y = (x.T @ x).abs() ** 2 // 3 % 4 + ~(x > 0).all() + x.to(tenfold.float64).to(device=tenfold.device("cpu"))
        return tenfold.where(y > 1, float("inf"), y), slice(1, None), operator.neg(x)[..., None, :1]

    x = tenfold.tensor([[1.0, 2.0], [0.5, -3.0]])
    traced = fx.symbolic_trace(program)
    one, two = traced(x), program(x)
    assert tenfold.equal(one[0], two[0])
    assert one[1] == two[1]
    assert tenfold.equal(one[2], two[2])


def test_arguments_of_nodes_are_not_changed_in_place():
    node = fx.symbolic_trace(lambda x: tenfold.stack([x, x])).graph.find_nodes(op="call_function")[0]
    with pytest.raises(TypeError, match="does not support mutation"):
        node.args[0].append(1)
