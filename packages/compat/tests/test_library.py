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


def test_schemas_say_what_a_call_may_be(run):
    run("""
from torch import library as L
lib = L.Library("declared", "DEF")
lib.define("foo(Tensor x, int k=2, *, float s=1.0, int[] sizes=[1, 2]) -> Tensor")

@L.impl(lib, "foo", "CPU")
def foo(x, k, s, sizes):
    return x * k * s + sum(sizes)

x = torch.ones(1, requires_grad=True)
assert torch.ops.declared.foo(torch.ones(1)).item() == 5 and torch.ops.declared.foo(torch.ones(1), 3, s=2.0).item() == 9
said = "declared::foo(Tensor x, int k=2, *, float s=1., int[] sizes=[1, 2]) -> Tensor"
assert str(torch.ops.declared.foo.default._schema) == said
for args, kwargs, said in (((), {}, "missing value for argument 'x'"), ((3,), {}, "Expected a value of type 'Tensor'"),
                           ((x,), {"zz": 1}, "Unknown keyword argument 'zz'"), ((x, 1, 2), {}, "expected at most 2"),
                           ((x, "a"), {}, "Expected a value of type 'int'")):
    try:
        torch.ops.declared.foo(*args, **kwargs)
    except RuntimeError as error:
        assert said in str(error), error
    else:
        raise AssertionError(said)
L.register_autograd("declared::foo", lambda ctx, g: (g * ctx.s, None),
                    setup_context=lambda ctx, inputs, keyword_only_inputs, output: setattr(ctx, "s", keyword_only_inputs["s"]))
torch.ops.declared.foo(x, s=7.0).backward()
assert x.grad.item() == 7
with L._scoped_library("scoped", "FRAGMENT") as inner:
    inner.define("q(Tensor x) -> Tensor")
    inner.impl("q", lambda x: x + 1, "CompositeExplicitAutograd")
    assert torch.ops.scoped.q(torch.ones(1)).item() == 2
assert not hasattr(torch.ops.scoped, "q")
try:
    L.define("declared::foo", "(Tensor x) -> Tensor")
except RuntimeError as error:
    assert "multiple times" in str(error)
else:
    raise AssertionError
""")


def test_custom_operators_of_lists_under_vmap_and_autocast(run):
    run("""
import numpy as np
from torch import library as L

@L.custom_op("mine::sums", mutates_args=())
def sums(xs: list[torch.Tensor], n: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.from_numpy(xs[0].numpy(force=True) * n), xs[1] + 1

sums.register_autograd(lambda ctx, g, h: ([g * ctx.n, h], None),
                       setup_context=lambda ctx, inputs, output: setattr(ctx, "n", inputs[1] * len(inputs[0])))
a, b = torch.ones(1, requires_grad=True), torch.ones(2, requires_grad=True)
ga, gb = torch.autograd.grad(sum(t.sum() for t in sums([a, b], 3)), (a, b))
assert (ga.tolist(), gb.tolist()) == ([6.0], [1.0, 1.0])
one, other = torch.vmap(lambda x: sums([x, x], 2), in_dims=1)(torch.ones(2, 3))
assert one.tolist() == [[2.0, 2.0]] * 3 and other.tolist() == [[2.0, 2.0]] * 3

@L.custom_op("mine::same", mutates_args=())
def same(x: torch.Tensor) -> torch.Tensor:
    return x.view(-1)

@L.custom_op("mine::raised", mutates_args={"x"})
def raised(x: torch.Tensor) -> None:
    np.add(x.numpy(force=True), 1, out=x.numpy(force=True))

for call, said in ((lambda: same(torch.ones(1)), "return a clone"), (lambda: same(torch.ones(1, device="meta")), "fake impl")):
    try:
        call()
    except RuntimeError as error:
        assert said in str(error), error
    else:
        raise AssertionError(said)
z = a * 2
w = z * z
with torch.no_grad():
    raised(z)
assert z.item() == 3 and L.opcheck(raised, (torch.ones(2),))["test_faketensor"] == "SUCCESS"
try:
    w.backward()
except RuntimeError as error:
    assert "modified by an inplace operation" in str(error)
else:
    raise AssertionError

@L.custom_op("mine::narrow", mutates_args=())
def narrow(x: torch.Tensor) -> torch.Tensor:
    return x * 2

L.register_autocast("mine::narrow", "cpu", torch.bfloat16)
with torch.autocast("cpu", dtype=torch.bfloat16):
    assert narrow(torch.ones(1)).dtype is torch.bfloat16
assert narrow(torch.ones(1)).dtype is torch.float32
""")


def test_operators_that_run_kernels_of_triton(run):
    run("""
from torch.library import triton_op, wrap_triton

@triton_op("kernels::halve", mutates_args={})
def halve(x: torch.Tensor) -> torch.Tensor:
    return x / 2

x = torch.ones(2, requires_grad=True)
assert torch.ops.kernels.halve(x).tolist() == [0.5, 0.5] and halve(torch.ones(3, device="meta")).shape == (3,)
halve.register_autograd(lambda ctx, g: g / 2)
halve(x).sum().backward()
assert x.grad.tolist() == [0.5, 0.5]

class Kernel:  # what a function behind triton.jit has
    def run(self): pass
    def __getitem__(self, grid): return self.run

kernel = Kernel()
assert wrap_triton(kernel) is kernel
try:
    wrap_triton(len)
except RuntimeError as error:
    assert "triton.jit" in str(error)
else:
    raise AssertionError
""")


def test_forms_of_one_operator_each_have_a_schema_and_functions(run):
    run("""
from torch import library as L
mine = L.Library("forms", "FRAGMENT")
assert [mine.define(text) for text in ("f(Tensor a) -> Tensor", "f.two(Tensor a, Tensor b) -> Tensor")] == ["f", "f"]
L.define("forms::f.out", "(Tensor a, *, Tensor! out) -> ()")
mine.impl("f", lambda a: a * 2, "CPU")
mine.impl("f.two", lambda a, b: a + b + 10, "CPU")
L.register_kernel("forms::f.out", "cpu")(lambda a, out: out.copy_(a * 3) and None)
L.register_fake("forms::f.two")(lambda a, b: torch.empty_like(b))
f, x, given = torch.ops.forms.f, torch.ones(2), torch.zeros(2)
assert f(x).tolist() == [2, 2] and f(x, x).tolist() == f.two(x, x).tolist() == [12, 12]
assert f.overloads() == ["default", "two", "out"] and f.out.name() == "forms::f.out" and f.out._schema.overload_name == "out"
assert f.out._schema.is_mutable and not f.two._schema.is_mutable
f(x[:1], out=given[:1]), f.out(x[1:], out=given[1:])
assert given.tolist() == [3, 3] and f(x.to("meta"), torch.ones(3, device="meta")).shape == (3,)
for wrong, error, words in (
    ("f(x, x, x)", RuntimeError, "failed to match any schema"), ("f.two(x)", RuntimeError, "missing value for argument 'b'"),
    ("f.nope", AttributeError, "no overload name 'nope'"),
    ("L.define('forms::f.two', '(Tensor a) -> ()')", RuntimeError, "multiple times"),
):
    try:
        eval(wrong)
    except error as found:
        assert words in str(found), found
    else:
        raise AssertionError(wrong)
mine.define("g.only(Tensor a) -> Tensor")
mine.impl("g.only", lambda a: -a, "CompositeExplicitAutograd")
assert torch.ops.forms.g(x).tolist() == [-1, -1] and not hasattr(torch.ops.forms.g, "default")
mine._destroy()
assert not hasattr(torch.ops.forms, "g")
""")
