"""Operators under PyTorch's internal names, and those that a program defines itself: `torch.ops`, `torch.library`."""


def test_operators_by_pytorchs_internal_names(run):
    run("""
import pickle, sys
aten, x = torch.ops.aten, torch.tensor([[1.0, -2.0]])
assert aten.add.Tensor(x, x, alpha=2).tolist() == aten.add(x, x, alpha=2).tolist() == [[3.0, -6.0]]
assert aten.relu.default(x).tolist() == [[1.0, 0.0]] and aten.sum.dim_IntList(x, [1]).tolist() == [-1.0]
assert aten._softmax(x, 1, False).tolist() == x.softmax(1).tolist() and aten.slice.Tensor(x, 1, 1, 2).tolist() == [[-2.0]]
assert aten.reflection_pad1d(x, [1, 1]).tolist() == [[-2.0, 1.0, -2.0, 1.0]]
y = x.clone()
assert aten.mul_.Tensor(y, y) is y and y.tolist() == [[1.0, 4.0]]
assert (str(aten.add.Tensor), repr(aten.add.Tensor)) == ("aten.add.Tensor", "<OpOverload(op='aten.add', overload='Tensor')>")
assert aten.add.Tensor.name() == "aten::add.Tensor" and aten.mm.default.name() == "aten::mm"
assert {aten.add.Tensor: 1}[torch.ops.aten.add.Tensor] == 1 and pickle.loads(pickle.dumps(aten.add.Tensor)) is aten.add.Tensor
assert isinstance(aten.add, torch._ops.OpOverloadPacket) and isinstance(aten.add.Tensor, torch._ops.OpOverload)
for missing in ("aten.no_such", "aten.add.NoSuch", "mylib.anything"):
    try:
        eval("torch.ops." + missing)
    except AttributeError as error:
        assert missing.rpartition(".")[2] in str(error)
    else:
        raise AssertionError(missing)
assert not hasattr(torch.ops.torchvision, "nms")
""")


def test_operators_of_a_programs_own(run):
    run("""
from torch import library as L

@L.custom_op("mine::scaled", mutates_args=())
def scaled(x: torch.Tensor, factor: float = 2.0) -> torch.Tensor:
    return torch.from_numpy(x.detach().numpy() * factor)

x = torch.ones(3, requires_grad=True)
try:
    scaled(x).sum().backward()
except RuntimeError as error:
    assert "no autograd formula was registered" in str(error)
else:
    raise AssertionError

def setup(ctx, inputs, output):
    ctx.factor = inputs[1]

L.register_autograd("mine::scaled", lambda ctx, g: (g * ctx.factor, None), setup_context=setup)
torch.ops.mine.scaled(x, 3.0).sum().backward()
torch.ops.mine.scaled.default(x).sum().backward()
assert x.grad.tolist() == [5.0] * 3
L.register_fake("mine::scaled", lambda x, factor=2.0: torch.empty_like(x))
assert scaled(torch.ones(2, device="meta")).is_meta

@L.custom_op("mine::pair", mutates_args=())
def pair(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x * 2, x * 3

pair.register_autograd(lambda ctx, a, b: 2 * a + 3 * b)
z = torch.ones(2, requires_grad=True)
a, b = pair(z)
(a + b).sum().backward()
assert z.grad.tolist() == [5.0] * 2
""")


def test_libraries_of_operators_by_schema(run):
    run("""
from torch import library
lib = library.Library("other", "DEF")
assert lib.define("add_one(Tensor x) -> Tensor") == "add_one"
lib.impl("add_one", lambda x: x + 1, "CompositeImplicitAutograd")
x = torch.ones(3, requires_grad=True)
torch.ops.other.add_one(x).sum().backward()
assert x.grad.tolist() == [1.0] * 3
lib.define("on_cpu(Tensor x) -> Tensor")
lib.impl("on_cpu", lambda x: x.clone(), "CPU")
assert torch.ops.other.on_cpu(torch.ones(1)).item() == 1
try:
    torch.ops.other.on_cpu(torch.ones(1, device="meta"))
except NotImplementedError as error:
    assert "other::on_cpu" in str(error)
else:
    raise AssertionError
""")
