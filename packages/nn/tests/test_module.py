"""Module: registration and its errors, walking the tree, modes, conversion, repr, copies."""

from __future__ import annotations

import copy
import pickle

import pytest

import tenfold
from tenfold import nn
from tenfold.nn.parameter import is_lazy


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.block = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.scale = nn.Parameter(tenfold.ones(3))
        self.register_buffer("count", tenfold.zeros(1))
        self.register_buffer("scratch", tenfold.zeros(1), persistent=False)
        self.again = self.first

    def forward(self, x):
        return self.block(self.first(x)) * self.scale


def test_parameter_is_a_leaf_tensor_that_requires_grad():
    p = nn.Parameter(tenfold.ones(2))
    assert isinstance(p, tenfold.Tensor)
    assert isinstance(p, nn.Parameter)
    assert p.requires_grad
    assert p.is_leaf
    assert type(p + 1) is tenfold.Tensor
    assert type(p.detach()) is tenfold.Tensor
    assert type(p.data) is tenfold.Tensor
    assert not isinstance(tenfold.ones(1), nn.Parameter)
    assert nn.Parameter().numel() == 0
    assert not nn.Parameter(tenfold.ones(1), requires_grad=False).requires_grad
    assert repr(p).startswith("Parameter containing:\ntensor([1., 1.]")


def test_parameter_needs_a_floating_dtype():
    with pytest.raises(RuntimeError):
        nn.Parameter(tenfold.ones(1, dtype=tenfold.int32))


def test_parameter_deepcopy_keeps_sharing_and_pickle_keeps_values():
    p = nn.Parameter(tenfold.tensor([1.0, 2.0]), requires_grad=False)
    a, b = copy.deepcopy([p, p])
    assert a is b
    assert a is not p
    assert isinstance(a, nn.Parameter)
    assert not a.requires_grad
    loaded = pickle.loads(pickle.dumps(p))
    assert isinstance(loaded, nn.Parameter)
    assert loaded.tolist() == [1.0, 2.0]
    assert not loaded.requires_grad


def test_buffer_is_registered_by_assignment():
    module = nn.Module()
    module.state = nn.Buffer(tenfold.ones(2))
    module.temporary = nn.Buffer(tenfold.ones(2), persistent=False)
    assert [name for name, _ in module.named_buffers()] == ["state", "temporary"]
    assert list(module.state_dict()) == ["state"]
    assert isinstance(module.state, nn.Buffer)
    assert not isinstance(tenfold.ones(1), nn.Buffer)
    module.state = None
    assert list(module.state_dict()) == []
    assert module.state is None


@pytest.mark.parametrize("value", [nn.Parameter(tenfold.ones(1)), nn.ReLU(), nn.Buffer(tenfold.ones(1))])
def test_assigning_before_init_is_an_error(value):
    class Early(nn.Module):
        def __init__(self):
            self.member = value

    with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call"):
        Early()


def test_constructor_takes_no_arguments():
    with pytest.raises(TypeError):
        nn.Module(1)
    with pytest.raises(TypeError, match="'a'"):
        nn.Module(a=1)


@pytest.mark.parametrize(
    ("register", "value"),
    [
        ("register_parameter", nn.Parameter(tenfold.ones(1))),
        ("register_buffer", tenfold.ones(1)),
        ("add_module", nn.ReLU()),
        ("register_module", nn.ReLU()),
    ],
)
def test_names_are_checked(register, value):
    net = Net()
    net.plain = 1
    with pytest.raises(KeyError, match="already exists"):
        getattr(net, register)("plain", value)
    with pytest.raises(KeyError, match="contain"):
        getattr(net, register)("a.b", value)
    with pytest.raises(KeyError, match="empty string"):
        getattr(net, register)("", value)
    with pytest.raises(TypeError, match="should be a string"):
        getattr(net, register)(3, value)


def test_wrong_types_are_errors():
    net = Net()
    with pytest.raises(TypeError, match="as parameter 'scale'"):
        net.scale = tenfold.ones(3)
    with pytest.raises(TypeError, match="as child module 'first'"):
        net.first = 3
    with pytest.raises(TypeError, match="as buffer 'count'"):
        net.count = 3
    with pytest.raises(TypeError, match="to parameter 'q'"):
        net.register_parameter("q", tenfold.ones(1))
    with pytest.raises(TypeError, match="to buffer 'q'"):
        net.register_buffer("q", 3)
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        net.add_module("q", 3)
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'nope'"):
        net.nope


def test_assignment_moves_a_name_between_kinds():
    net = Net()
    net.thing = 1
    net.thing = nn.ReLU()
    assert "thing" not in net.__dict__
    assert "thing" in net._modules
    net.thing = nn.Parameter(tenfold.ones(1))
    assert "thing" not in net._modules
    assert "thing" in dict(net.named_parameters())
    net.thing = None
    assert net.thing is None
    assert "thing" in net._parameters
    net.count = tenfold.ones(1)
    assert net.count.item() == 1
    assert "count" in net._buffers


def test_delattr_takes_members_out():
    net = Net()
    for name in ("scale", "count", "block"):
        delattr(net, name)
        assert not hasattr(net, name)
    with pytest.raises(AttributeError):
        del net.nope


def test_walking_the_tree():
    net = Net()
    names = ["scale", "first.weight", "first.bias", "block.0.weight", "block.0.bias"]
    assert [name for name, _ in net.named_parameters()] == names
    assert [name for name, _ in net.named_parameters("net")] == [f"net.{name}" for name in names]
    assert [name for name, _ in net.named_parameters(recurse=False)] == ["scale"]
    doubled = [name for name, _ in net.named_parameters(remove_duplicate=False)]
    assert doubled == [*names, "again.weight", "again.bias"]
    assert [name for name, _ in net.named_modules()] == ["", "first", "block", "block.0", "block.1"]
    assert [name for name, _ in net.named_modules(prefix="n", remove_duplicate=False)][-1] == "n.again"
    assert [name for name, _ in net.named_children()] == ["first", "block"]
    assert [name for name, _ in net.named_buffers()] == ["count", "scratch"]
    assert len(list(net.parameters())) == 5
    assert len(list(net.modules())) == 5
    assert len(list(net.buffers())) == 2
    assert list(net.children()) == [net.first, net.block]
    memo = {net.block}
    assert [name for name, _ in net.named_modules(memo)] == ["", "first"]


def test_lookup_by_dotted_name():
    net = Net()
    assert net.get_submodule("") is net
    assert net.get_submodule("block.1") is net.block[1]
    assert net.get_parameter("block.0.bias") is net.block[0].bias
    assert net.get_buffer("count") is net.count
    for wrong in (
        lambda: net.get_submodule("x.y"),
        lambda: net.get_submodule("scale"),
        lambda: net.get_parameter("block.0"),
        lambda: net.get_parameter("block.0.x"),
        lambda: net.get_buffer("scale"),
        lambda: net.get_buffer("x"),
    ):
        with pytest.raises(AttributeError):
            wrong()


def test_set_submodule():
    net = Net()
    tanh = nn.Tanh()
    net.set_submodule("block.1", tanh)
    assert net.block[1] is tanh
    net.set_submodule("extra", tanh)
    assert net.extra is tanh
    with pytest.raises(AttributeError):
        net.set_submodule("missing", tanh, strict=True)
    with pytest.raises(AttributeError):
        net.set_submodule("scale", tanh)
    with pytest.raises(ValueError, match="without a target name"):
        net.set_submodule("", tanh)
    with pytest.raises(ValueError, match=r"not an nn\.Module"):
        net.set_submodule("block.1", 3)


def test_forward_is_needed_and_called():
    with pytest.raises(NotImplementedError, match='missing the required "forward"'):
        nn.Module()(1)
    net = Net()
    assert net(tenfold.ones(4, 2)).shape == (4, 3)
    net.forward = lambda x, *, y: (x, y)
    assert net(1, y=2) == (1, 2)


def test_modes_and_freezing():
    net = Net()
    assert net.eval() is net
    assert not any(module.training for module in net.modules())
    assert net.train().block.training
    with pytest.raises(ValueError, match="boolean"):
        net.train(1)
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())


def test_zero_grad():
    net = Net()
    net(tenfold.ones(1, 2)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net.scale.grad is not None
    assert net.scale.grad.abs().sum().item() == 0
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


def test_apply_goes_children_first():
    net, seen = Net(), []
    assert net.apply(lambda module: seen.append(type(module).__name__)) is net
    assert seen == ["Linear", "Linear", "ReLU", "Sequential", "Net"]


def test_conversion_keeps_the_parameter_objects():
    net = Net()
    net.register_buffer("steps", tenfold.zeros(1, dtype=tenfold.int64))
    net(tenfold.ones(1, 2)).sum().backward()
    before, grad = list(net.parameters()), net.scale.grad
    assert net.double() is net
    assert all(a is b for a, b in zip(before, net.parameters(), strict=True))
    assert net.scale.dtype == net.scale.grad.dtype == net.count.dtype == tenfold.float64
    assert net.scale.grad is grad
    assert net.steps.dtype == tenfold.int64
    for method, dtype in (("half", tenfold.float16), ("bfloat16", tenfold.bfloat16), ("float", tenfold.float32)):
        assert getattr(net, method)().scale.dtype == dtype
    assert net.again.weight is net.first.weight


def test_to_accepts_dtype_device_tensor_and_format():
    net = Net()
    assert net.to(tenfold.float64).scale.dtype == tenfold.float64
    assert net.to("cpu", tenfold.float32).scale.dtype == tenfold.float32
    assert net.to(tenfold.ones(1, dtype=tenfold.float64)).scale.dtype == tenfold.float64
    assert net.to(device=tenfold.device("cpu"), dtype=tenfold.float32, non_blocking=True).scale.dtype == tenfold.float32
    conv = nn.Conv2d(3, 4, 2).to(memory_format=tenfold.channels_last)
    assert conv.weight.is_contiguous(memory_format=tenfold.channels_last)
    for wrong in (lambda: net.to(tenfold.int32), lambda: net.to(3.5), lambda: net.to(nope=1)):
        with pytest.raises(TypeError):
            wrong()


def test_meta_and_to_empty():
    meta = nn.Linear(2, 3).to("meta")
    assert meta.weight.is_meta
    assert isinstance(meta.weight, nn.Parameter)
    real = nn.Linear(2, 3, device="meta").to_empty(device="cpu")
    assert real.weight.device.type == "cpu"
    assert real.weight.shape == (3, 2)
    assert nn.utils.skip_init(nn.Linear, 2, 3).weight.shape == (3, 2)


def test_type_converts_everything():
    module = nn.Module()
    module.register_buffer("steps", tenfold.zeros(1, dtype=tenfold.int64))
    assert module.type(tenfold.float64).steps.dtype == tenfold.float64


def test_repr():
    assert repr(nn.Linear(1, 2)) == "Linear(in_features=1, out_features=2, bias=True)"
    assert repr(nn.Sequential(nn.Sequential(nn.ReLU()), nn.ModuleList())) == (
        "Sequential(\n  (0): Sequential(\n    (0): ReLU()\n  )\n  (1): ModuleList()\n)"
    )

    class Two(nn.Module):
        def extra_repr(self):
            return "a\nb"

    two = Two()
    assert repr(two) == "Two(\n  a\n  b\n)"
    two.absent = None
    two.register_module("empty", None)
    assert repr(two) == "Two(\n  a\n  b\n  (empty): None\n)"


def test_dir_lists_members():
    names = dir(Net())
    assert {"first", "scale", "count", "forward", "training"} <= set(names)
    assert names == sorted(names)
    assert "0" not in dir(nn.Sequential(nn.ReLU()))


def test_deepcopy_and_pickle():
    net = Net()
    for clone in (copy.deepcopy(net), pickle.loads(pickle.dumps(net.block))):
        original = net if isinstance(clone, Net) else net.block
        for (name, a), (other, b) in zip(original.named_parameters(), clone.named_parameters(), strict=True):
            assert name == other
            assert a is not b
            assert a.tolist() == b.tolist()
    assert copy.deepcopy(net).again.weight is not net.first.weight
    clone = copy.deepcopy(net)
    assert clone.again is clone.first


def test_a_property_that_fails_names_itself():
    class Broken(nn.Module):
        @property
        def value(self):
            return self.missing

    with pytest.raises(AttributeError):
        Broken().value


def test_uninitialized_parameters():
    p = nn.UninitializedParameter(dtype=tenfold.float64)
    assert repr(p) == "<UninitializedParameter>"
    assert isinstance(p, nn.Parameter)
    assert is_lazy(p)
    with pytest.raises(RuntimeError, match="shape"):
        p.shape
    with pytest.raises(ValueError, match="UninitializedParameter"):
        p + 1
    assert is_lazy(copy.deepcopy(p))
    assert is_lazy(pickle.loads(pickle.dumps(p)))
    p.materialize((2, 3))
    assert type(p) is nn.Parameter
    assert p.shape == (2, 3)
    assert p.dtype == tenfold.float64
    assert p.requires_grad


def test_lazy_layers():
    lazy = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d())
    assert lazy[0].has_uninitialized_params()
    assert repr(lazy[0]) == "LazyLinear(in_features=0, out_features=3, bias=True)"
    twin = copy.deepcopy(lazy).double()
    assert lazy(tenfold.ones(4, 2)).shape == (4, 3)
    assert type(lazy[0]) is nn.Linear
    assert lazy[0].in_features == 2
    assert type(lazy[1]) is nn.BatchNorm1d
    twin.load_state_dict(lazy.state_dict())
    assert twin[0].weight.shape == (3, 2)
    assert twin[0].weight.dtype == tenfold.float64
    with pytest.raises(RuntimeError):
        nn.Linear(2, 3).load_state_dict(nn.LazyLinear(3).state_dict())
    assert is_lazy(nn.LazyLinear(3).state_dict()["weight"])


def test_share_memory_of_lazy_is_an_error():
    with pytest.raises(RuntimeError):
        nn.LazyLinear(3).share_memory()


def test_pytorchs_paths_lead_to_the_same_classes():
    from tenfold.nn.modules.batchnorm import _BatchNorm
    from tenfold.nn.modules.module import register_module_forward_hook

    assert isinstance(nn.BatchNorm2d(1), _BatchNorm)
    assert callable(register_module_forward_hook)
    assert nn.modules.conv.Conv2d is nn.modules.Conv2d is nn.Conv2d
    assert nn.modules.activation.MultiheadAttention is nn.MultiheadAttention
    with pytest.raises(AttributeError):
        nn.nope
