"""What programs say to PyTorch's compiler without compiling: marks of tensors, errors, functions in others' places."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.as_torch.stand_ins import _dynamo, _internal_names, jit
from tenfold.compiler import substitute_in_graph
from tenfold.fx import GraphModule, names, symbolic_trace

ERRORS = ("BackendCompilerFailed", "InternalTorchDynamoError", "TorchRuntimeError", "Unsupported", "UserError")


def test_tensors_are_marked() -> None:
    x = tenfold.ones(2, 3)
    _dynamo.mark_static_address(x)  # as caches of models do
    _dynamo.mark_static_address(x, guard=True)
    _dynamo.mark_static(x)
    _dynamo.mark_static(x, [0, 1])
    _dynamo.maybe_mark_dynamic(x, 0)
    _dynamo.mark_dynamic(x, 0, min=1, max=5)
    assert x.tolist() == [[1.0] * 3] * 2


def test_functions_stay_as_they_are() -> None:
    assert [mark(abs)(-2) for mark in (_dynamo.run, _dynamo.nonstrict_trace, _dynamo.optimize_assert("eager"))] == [2, 2, 2]
    assert _dynamo.disable_nested_graph_breaks(abs)(-2) == 2
    assert substitute_in_graph(abs)(lambda x: x)(-1) == 1
    assert _dynamo.is_dynamo_disable_recursive(abs) is None
    with _dynamo.error_on_graph_break(True), _dynamo.patch_dynamo_config(verbose=True):
        _dynamo.set_recursion_limit(100)
        assert _dynamo.config.verbose
    assert _dynamo.reset_code_caches() is None


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_caught(name: str) -> None:
    kind = getattr(_dynamo.exc, name)
    assert issubclass(kind, _dynamo.exc.TorchDynamoException)
    with pytest.raises(RuntimeError, match="a loop"):
        raise kind("a loop")
    try:  # an error of another kind goes by
        raise ValueError
    except (kind, jit.Error):
        raise AssertionError from None
    except ValueError:
        pass


def test_the_older_name_of_a_format() -> None:
    assert _internal_names.legacy_contiguous_format is tenfold.contiguous_format


def test_names_of_a_module_are_read_once() -> None:
    def function(x: tenfold.Tensor) -> tenfold.Tensor:
        for _ in range(20):
            x = tenfold.relu(tenfold.sin(x))
        return x

    traced = symbolic_trace(function)
    names._listed.cache_clear()
    assert isinstance(traced, GraphModule)
    traced.recompile()
    assert names._listed.cache_info().misses <= len(names._PLACES)
    assert names._listed.cache_info().hits >= 39
