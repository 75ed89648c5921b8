"""What stands in Tenfold itself, `import tenfold as torch` being enough: libraries of operators, PyTorch's small helpers."""

from __future__ import annotations

import gc
import importlib
import traceback

import pytest

import tenfold
import tenfold._functorch.deprecated
import tenfold.utils._device
import tenfold.utils._pytree
import tenfold.utils._traceback

torch = pytest.importorskip("torch")
for _name in ("_functorch.deprecated", "utils._device", "utils._pytree", "utils._traceback"):
    importlib.import_module(f"torch.{_name}")


@pytest.mark.parametrize("name", ["library", "monitor", "compiler", "_ops", "_utils", "_prims_common", "_VF"])
def test_a_module_is_found_without_installing_pytorchs_names(name):
    assert getattr(tenfold, name).__name__ == f"tenfold.{name}"


@pytest.mark.parametrize("kind", ["DEF", "FRAGMENT"])
def test_operators_live_as_long_as_their_library(kind):
    for engine, ops in ((torch, torch.ops), (tenfold, tenfold._ops.ops)):
        name = f"lives_{kind.lower()}"
        library = engine.library.Library(name, kind)
        library.define("f(Tensor x) -> Tensor")
        assert getattr(ops, name).f is not None
        del library
        gc.collect()
        with pytest.raises(AttributeError):
            getattr(ops, name).f
        again = engine.library.Library(name, kind)
        again.define("f(Tensor x) -> Tensor")
        again._destroy()


def test_an_unknown_kind_of_library_is_refused():
    for engine in (torch, tenfold):
        with pytest.raises(ValueError, match="Unsupported kind"):
            engine.library.Library("mine", "OTHER")


def test_calls_are_rendered_as_pytorch_renders_them():
    def calls(t):
        render = t._utils.render_call
        yield render(t.sum, [t.ones(2, 3)], {"dim": 0})
        yield render(t.add, [t.ones(2, requires_grad=True), t.ones(2, dtype=t.int64)], {})
        yield render(t.Tensor.add_, [t.ones(2, device="meta"), t.ones(2, dtype=t.float64)], {"alpha": "x"})
        yield render(t.stack, [[t.ones(2), t.ones(2)]], {})
        yield render(t.reshape, [t.ones(2), (1,)], {})
        yield render(len, [3], {})

    assert [text.replace("tenfold.", "torch.") for text in calls(tenfold)] == list(calls(torch))


def test_a_device_for_a_function_and_for_a_generators_own_code():
    for engine in (torch, tenfold):

        @engine.utils._device.set_device("meta")
        def made(engine=engine):
            yield engine.ones(2)
            yield engine.ones(2)

        kinds = [(one.device.type, engine.ones(1).device.type) for one in made()]
        assert kinds == [("meta", "cpu")] * 2
        assert engine.utils._device.set_device("meta")(lambda engine=engine: engine.ones(2))().device.type == "meta"


@pytest.mark.parametrize("engine", [torch, tenfold], ids=["torch", "tenfold"])
def test_errors_show_the_lines_of_code_that_was_made(engine):
    made: dict = {}
    text = "def f(x):\n    def g(x):\n        raise RuntimeError  # HERE\n    x = x * 3\n    return g(x) + 1\n"
    exec(text, {"__compile_source__": text}, made)
    with pytest.raises(RuntimeError) as told, engine.utils._traceback.report_compile_source_on_error():
        made["f"](1)
    assert "HERE" in "".join(traceback.format_tb(told.value.__traceback__))


@pytest.mark.parametrize("engine", [torch, tenfold], ids=["torch", "tenfold"])
def test_places_are_captured_and_told_later(engine):
    captured = engine.utils._traceback.CapturedTraceback.extract()
    assert "test_places_are_captured" in captured.format()[-1]
    assert captured.summary()[-1].name.startswith("test_places_are_captured")
    both = engine.utils._traceback.CapturedTraceback.format_all([captured, engine.utils._traceback.CapturedTraceback.extract()])
    assert len(both) == 2
    assert "test_places_are_captured" in both[1][-1]
    try:
        raise RuntimeError
    except RuntimeError as error:
        where = engine.utils._traceback.format_traceback_short(error.__traceback__)
    assert "test_tenfolds_own_names_oracle.py:" in where
    assert where.endswith(" in test_places_are_captured_and_told_later")


def test_the_device_of_what_is_checkpointed():
    for engine in (torch, tenfold):
        infer = engine.utils.checkpoint._infer_device_type
        assert infer({"x": [engine.ones(2, device="meta")]}) == "meta"
        assert infer(engine.ones(2)) == "cpu"


def both(call):
    """What a call gives in PyTorch and in Tenfold, an error by its type and the beginning of its words."""
    found = []
    for engine in (torch, tenfold):
        try:
            value = call(engine)
            parts = value if isinstance(value, tuple) else (value,)
            found.append([part.tolist() if hasattr(part, "tolist") else part for part in parts])
        except (RuntimeError, TypeError) as error:
            found.append((type(error), str(error).partition(", got")[0].partition("!")[0].partition(";")[0]))
    return found


SHOWN = {
    "sizes": lambda t: t._assert_tensor_metadata(t.ones(2, 3), [3]),
    "strides": lambda t: t._assert_tensor_metadata(t.ones(2, 3), [2, 3], [1, 1]),
    "dtype": lambda t: t._assert_tensor_metadata(t.ones(2, 3), dtype=t.float64),
    "device": lambda t: t._assert_tensor_metadata(t.ones(2, 3), device="meta"),
    "layout": lambda t: t._assert_tensor_metadata(t.ones(2, 3), layout=t.sparse_coo),
    "as said": lambda t: t._assert_tensor_metadata(t.ones(2, 3), [2, 3], [3, 1], t.float32, device="cpu", layout=t.strided),
    "unique": lambda t: t._unique(t.tensor([3, 1, 3])),
    "unique with places": lambda t: t._unique(t.tensor([3, 1, 3]), return_inverse=True),
    "unique with counts": lambda t: t._unique2(t.tensor([3, 1, 3]), return_inverse=True, return_counts=True),
    "combination": lambda t: t._compute_linear_combination(t.arange(6.0).reshape(3, 2), t.arange(6.0).reshape(2, 3)),
    "softmax": lambda t: (t._softmax(t.zeros(2, 4), 1, False), t._log_softmax(t.zeros(2, 1), 0, False)),
    "softmax of half precision": lambda t: t._softmax(t.zeros(2, 3), 1, True),
    "combination in place": lambda t: t._compute_linear_combination(t.ones(3, 2), t.ones(2, 3), out=t.ones(2, 2)),
    "complex combination": lambda t: t._compute_linear_combination(t.ones(3, 2, dtype=t.complex64), t.ones(2, 3)),
    "unique slices": lambda t: t._VF.unique_dim(t.tensor([[1, 2], [1, 2], [0, 1]]), 0, return_inverse=True, return_counts=True),
    "add and relu": lambda t: (t._VF._add_relu(t.tensor([1.0, -3]), t.tensor([1.0, 1])), t._VF._add_relu(t.ones(2), -0.5)),
    "checked": lambda t: t._test_check_tensor(t.tensor([True, False])),
    "overlap": lambda t: tuple(
        t._debug_has_internal_overlap(x)
        for x in (
            t.ones(3, 3), t.ones(3, 3)[::2], t.ones(1, 3).expand(2, 3), t.ones(6).as_strided([3, 3], [1, 1]),
            t.ones(1, 1).expand(1, 1), t.ones(3, 3).t(), t.empty(0, 2), t.ones(3, 4)[:, ::2],
        )
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_functions_with_an_underscore_are_pytorchs(name):
    theirs, ours = both(SHOWN[name])
    assert ours == theirs


HEADS = (2, 4, 3, 3)
MASKED = [
    ((2, 3), (2, 3), None, None), ((2, 3), (2, 3), 0, 2), (HEADS, (3, 3), 3, 0), (HEADS, (2, 3), 3, 1), (HEADS, HEADS, 3, 2),
    (HEADS, HEADS, 3, 1), (HEADS, HEADS, 0, 1), (HEADS, HEADS, 3, 0), (HEADS, (3, 3), 3, 1), (HEADS, (2, 3), 3, 0),
    ((2, 3, 3), (2, 3), 2, 1), ((2, 3, 3), (3, 3), 2, 0), ((2, 3), (2,), None, None), (HEADS, (3, 3), 3, None),
    (HEADS, (3, 3), 3, 7),
]  # fmt: skip


@pytest.mark.parametrize("case", MASKED)
def test_masked_softmax(case):
    shape, masked, dim, kind = case
    x, mask = torch.randn(shape), torch.rand(masked) < 0.4
    given = {torch: (x, mask), tenfold: (tenfold.tensor(x.numpy()), tenfold.tensor(mask.numpy()))}
    theirs, ours = both(lambda t: t._masked_softmax(*given[t], dim, kind))
    if isinstance(theirs, tuple):
        assert ours == theirs or (theirs[1].startswith("Mask Type should be defined") and ours[1].startswith(theirs[1]))
    else:
        torch.testing.assert_close(torch.tensor(ours[0]), torch.tensor(theirs[0]), equal_nan=True)


def test_lengths_of_ragged_dimensions_are_symbolic():
    for engine in (torch, tenfold):
        rows = [engine.ones(2, 3), engine.ones(4, 3)]
        nested = engine.nested.nested_tensor(rows, layout=engine.jagged)
        assert isinstance(nested.shape[1], engine.SymInt)
        assert not isinstance(nested.shape[0], engine.SymInt)
        assert not isinstance(3, engine.SymInt)


def test_functorchs_own_functions_warn():
    for engine in (torch, tenfold):
        older = engine._functorch.deprecated
        with pytest.warns(FutureWarning, match=r"[Pp]lease use `torch.vmap`"):
            assert older.vmap(lambda x: x * 2)(engine.ones(2)).tolist() == [2.0, 2.0]
        with pytest.warns(FutureWarning, match=r"[Pp]lease use `torch.func.grad`"):
            assert older.grad(lambda x: x * x)(engine.ones(())).item() == 2.0


def test_the_older_registration_of_containers_warns():
    for engine in (torch, tenfold):
        pytree = engine.utils._pytree

        class Pair:
            def __init__(self, x, y):
                self.x, self.y = x, y

        def parts(pair):
            return [pair.x, pair.y], None

        def made(values, context, kind=Pair):
            return kind(*values)

        with pytest.warns(FutureWarning, match="torch.utils._pytree._register_pytree_node"):
            pytree._register_pytree_node(Pair, parts, made)
        with pytest.warns(UserWarning, match="already registered"), pytest.warns(FutureWarning):
            pytree._register_pytree_node(Pair, parts, made)
        assert pytree.tree_leaves(Pair(1, 2)) == [1, 2]
