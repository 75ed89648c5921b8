"""Recording a function's operator calls."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.inspection.tracing import Ref, trace


def test_a_graph_runs_again():
    graph = trace(lambda x, y: (x * y + 1).exp(), tenfold.ones(2), tenfold.ones(2))
    assert [call.operator.name for call in graph.calls] == ["mul", "add", "exp"]
    x, y = tenfold.tensor([0.0, 1.0]), tenfold.tensor([5.0, -1.0])
    assert graph(x, y).tolist() == (x * y + 1).exp().tolist()


def test_other_shapes_run_too():
    graph = trace(lambda x: (x + x).sum(), tenfold.ones(2))
    assert graph(tenfold.ones(3, 4)).item() == 24.0


def test_captured_tensors_are_constants():
    weight = tenfold.tensor([[2.0], [3.0]])
    graph = trace(lambda x: x @ weight, tenfold.ones(1, 2))
    assert graph.constants[0] is weight
    assert graph(tenfold.tensor([[1.0, 10.0]])).tolist() == [[32.0]]


def test_results_keep_their_structure():
    graph = trace(lambda x: {"sum": x + 1, "both": (x, [x * 2])}, tenfold.ones(1))
    result = graph(tenfold.tensor([3.0]))
    assert result["sum"].tolist() == [4.0]
    assert result["both"][0].tolist() == [3.0]
    assert result["both"][1][0].tolist() == [6.0]


def test_one_of_several_results():
    graph = trace(lambda x: x.unbind(0)[1] + 1, tenfold.tensor([1.0, 2.0]))
    assert graph(tenfold.tensor([5.0, 7.0])).item() == 8.0
    assert Ref(1, 1) in graph.calls[-1].args


def test_branches_are_fixed():
    graph = trace(lambda x: x + 1 if x.sum().item() > 0 else x - 1, tenfold.ones(1))
    assert graph(tenfold.tensor([-5.0])).tolist() == [-4.0]


def test_an_input_that_comes_out_as_it_is():
    graph = trace(lambda x: x, tenfold.ones(1))
    x = tenfold.tensor([4.0])
    assert graph(x) is x
    assert graph.calls == []


def test_the_text_of_a_graph():
    graph = trace(lambda x: tenfold.sum(x * 2, dim=0, keepdim=True), tenfold.zeros(2))
    first, second, third, last = repr(graph).splitlines()
    assert first == "%0 = input"
    assert second == "%1 = mul(%0, 2) -> float32[2]"
    assert third.startswith("%2 = sum(%1, ")
    assert third.endswith("-> float32[1]")
    assert last == "return %2"


def test_wrong_use():
    with pytest.raises(TypeError, match="trace: examples must be Tensors, got int"):
        trace(lambda x: x, 3)
    graph = trace(lambda x: x + 1, tenfold.ones(1))
    with pytest.raises(TypeError, match="this graph takes 1 inputs, got 2"):
        graph(tenfold.ones(1), tenfold.ones(1))
