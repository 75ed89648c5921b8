"""`draw`: every operation and leaf of the graph is in the picture, under the name that it has."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

import tenfold
from tenfold.autograd import Function, draw

SVG = "{http://www.w3.org/2000/svg}"


def boxes(picture) -> list[str]:
    root = ET.fromstring(picture.svg())
    return [text.text for g in root.iter(SVG + "g") for text in g.iter(SVG + "text")]


def lines(picture) -> int:
    return len(list(ET.fromstring(picture.svg()).iter(SVG + "polyline")))


def test_nodes_edges_and_names():
    w, b = tenfold.ones(3, 2, requires_grad=True), tenfold.ones(2, requires_grad=True)
    loss = ((tenfold.ones(4, 3) @ w + b).relu() * w.sum()).mean()
    picture = draw(loss, {"weight": w})
    assert sorted(boxes(picture)) == sorted(
        ["weight [3, 2]", "[2]", "MmBackward0", "AddBackward0", "ReluBackward0", "MulBackward0", "SumBackward0",
         "MeanBackward0"]
    )  # fmt: skip
    assert lines(picture) == 8
    assert picture._repr_svg_() == picture.svg()


def test_what_was_computed_from_something_lies_below_it():
    x = tenfold.ones(2, requires_grad=True)
    root = ET.fromstring(draw(x.exp().sin()).svg())
    heights = {g.find(SVG + "text").text: float(g.find(SVG + "rect").get("y")) for g in root.iter(SVG + "g")}
    assert heights["[2]"] < heights["ExpBackward0"] < heights["SinBackward0"]


def test_several_results_and_nodes_of_several():
    x = tenfold.ones(3, requires_grad=True)
    first, second, _ = x.unbind()
    picture = draw([first * 2, second])
    assert boxes(picture).count("UnbindBackward0") == 1
    assert lines(picture) == 2


def test_custom_functions_and_strange_names_are_text():
    class Less(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g

    Less._node_class.__name__ = "Less<&>Backward"
    x = tenfold.ones(1, requires_grad=True)
    assert "Less<&>Backward" in boxes(draw(Less.apply(x), {"<w>": x}))
    assert "<w> [1]" in boxes(draw(Less.apply(x), {"<w>": x}))


def test_what_is_kept_is_shown_with_its_size():
    x = tenfold.ones(250, requires_grad=True)
    assert "ExpBackward0 (1 kB)" in boxes(draw(x.exp(), show_saved=True))


def test_long_graphs_are_cut():
    y = x = tenfold.ones(1, requires_grad=True)
    for _ in range(5000):
        y = y + 1
    picture = draw(y, max_nodes=50)
    assert len(boxes(picture)) == 50
    assert any(text.endswith("…") for text in boxes(picture))
    assert x.grad is None


def test_files(tmp_path):
    x = tenfold.ones(1, requires_grad=True)
    draw(x * 2, path=tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text() == draw(x * 2).svg()
    with pytest.raises(ValueError, match=r"\.svg or \.png"):
        draw(x * 2, path=tmp_path / "graph.jpg")
    with pytest.raises(RuntimeError, match="does not require gradients"):
        draw(x.detach())
    assert [p.name for p in tmp_path.iterdir()] == ["graph.svg"]


def test_png_files(tmp_path):
    pytest.importorskip("PIL")
    x = tenfold.ones(1, requires_grad=True)
    draw(x * 2, path=tmp_path / "graph.png")
    assert (tmp_path / "graph.png").read_bytes().startswith(b"\x89PNG")


def test_without_pillow_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.delitem(sys.modules, "tenfold.autograd.painting", raising=False)
    with pytest.raises(ImportError, match=r"tenfold-autograd\[draw\]"):
        draw(tenfold.ones(1, requires_grad=True) * 2).png()
