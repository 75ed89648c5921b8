"""Operators of `torch.ops`, a program's own among them, ask the classes and modes that override operators."""

PROGRAM = """
import torch
from torch.overrides import TorchFunctionMode

asked = []


class Told(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        asked.append(func)
        return super().__torch_function__(func, types, args, kwargs or {})


class Mode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        asked.append(func)
        return func(*args, **(kwargs or {}))


@torch.library.custom_op("told::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def total(xs):
    return torch.stack(xs).sum()


torch.library.define("told::total", "(Tensor[] xs) -> Tensor")
torch.library.impl("told::total", "CompositeExplicitAutograd", total)
torch.library.define("told::made", "(int n) -> Tensor")
torch.library.impl("told::made", "CompositeExplicitAutograd", lambda n: torch.zeros(n))
told, aten = torch.ops.told, torch.ops.aten
"""


def test_classes_are_asked(run):
    run(f"""{PROGRAM}
x = torch.ones(2).as_subclass(Told)
double(x), told.double(x), told.double.default(x), told.total([torch.ones(2), x]), aten.mul(x, 2)
assert asked == [told.double.default, told.double, told.double.default, told.total, aten.mul], asked
""")


def test_modes_are_asked_and_not_of_what_the_operator_calls(run):
    run(f"""{PROGRAM}
with Mode():
    double(torch.Tensor()), told.made(2)
assert [a for a in asked if a is not torch.Tensor] == [told.double.default, told.made], asked
""")


def test_a_key_for_all_devices_serves_calls_without_tensors(run):
    run(f"{PROGRAM}\nassert told.made(3).shape == (3,)")


def test_graphs_of_them(run):
    run(f"""{PROGRAM}
graph = torch.fx.symbolic_trace(lambda x: double(x) + told.total([x, aten.mul.Tensor(x, x)]))
assert "double_default = torch.ops.told.double.default(x)" in graph.code, graph.code
assert "torch.ops.told.total([x, mul_tensor])" in graph.code and "torch.ops.aten.mul.Tensor(x, x)" in graph.code
assert "target=torch.ops.told.total" in str(graph.graph)
assert graph(torch.ones(2)).tolist() == [6.0, 6.0]
""")


def test_a_stretch_of_code_named_by_two_calls(run):
    run("""
import torch
ops = torch.ops.profiler
with torch.profiler.profile() as prof:
    handle = ops._record_function_enter("mine")
    torch.ones(2).relu()
    ops._record_function_exit(handle)
    other = ops._record_function_enter_new("theirs", None)
    ops._record_function_exit._RecordFunction(other)
keys = [e.key for e in prof.key_averages()]
assert isinstance(handle, torch.Tensor) and {"mine", "theirs"} <= set(keys), keys
graph = torch.fx.symbolic_trace(lambda x: ops._record_function_exit(x))
assert "torch.ops.profiler._record_function_exit(x)" in graph.code
""")
