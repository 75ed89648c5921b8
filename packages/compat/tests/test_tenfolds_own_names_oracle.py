"""What stands in Tenfold itself, `import tenfold as torch` being enough: libraries of operators, and small helpers of PyTorch's."""

from __future__ import annotations

import gc
import traceback

import pytest

import tenfold
import tenfold.utils._device
import tenfold.utils._traceback

torch = pytest.importorskip("torch")
import torch.utils._device  # noqa: E402
import torch.utils._traceback  # noqa: E402


@pytest.mark.parametrize("name", ["library", "monitor", "compiler", "_ops", "_utils", "_prims_common"])
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
            getattr(ops, name).f  # noqa: B018 - asking is the test
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
    exec(text, {"__compile_source__": text}, made)  # noqa: S102 - made code is what this is about
    with pytest.raises(RuntimeError) as told, engine.utils._traceback.report_compile_source_on_error():
        made["f"](1)
    assert "HERE" in "".join(traceback.format_tb(told.value.__traceback__))


@pytest.mark.parametrize("engine", [torch, tenfold], ids=["torch", "tenfold"])
def test_places_are_captured_and_told_later(engine):
    captured = engine.utils._traceback.CapturedTraceback.extract()
    assert "test_places_are_captured" in captured.format()[-1]
    assert "test_places_are_captured" in captured.summary()[-1].name
    both = engine.utils._traceback.CapturedTraceback.format_all([captured, engine.utils._traceback.CapturedTraceback.extract()])
    assert len(both) == 2 and "test_places_are_captured" in both[1][-1]
    try:
        raise RuntimeError
    except RuntimeError as error:
        where = engine.utils._traceback.format_traceback_short(error.__traceback__)
    assert "test_tenfolds_own_names_oracle.py:" in where and where.endswith(" in test_places_are_captured_and_told_later")


def test_the_device_of_what_is_checkpointed():
    for engine in (torch, tenfold):
        infer = engine.utils.checkpoint._infer_device_type
        assert infer({"x": [engine.ones(2, device="meta")]}) == "meta"
        assert infer(engine.ones(2)) == "cpu"
