"""What `SummaryWriter` writes, read by TensorBoard itself."""

import pytest

import tenfold

pytest.importorskip("tensorboard")
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tenfold.utils.tensorboard import SummaryWriter


def events(folder):
    found = EventAccumulator(str(folder), size_guidance={"tensors": 0, "scalars": 0})
    found.Reload()
    return found


def test_numbers(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalar("loss", tenfold.tensor(1.0 / (step + 1)), step)
        writer.add_scalar("half", tenfold.tensor(0.5).bfloat16())
        writer.add_scalars("both", {"train": 1, "test": 2}, 7)
        with pytest.raises(AssertionError, match="one element"):
            writer.add_scalar("loss", tenfold.ones(2))
    found = events(tmp_path)
    assert [(event.step, event.value) for event in found.Scalars("loss")] == [(0, 1.0), (1, 0.5), (2, pytest.approx(1 / 3))]
    assert found.Scalars("half")[0].value == 0.5
    assert [(event.step, event.value) for event in events(tmp_path / "both_test").Scalars("both")] == [(7, 2.0)]


def test_histograms(tmp_path):
    values = tenfold.tensor([-1.0, 0.0, 0.5, 0.5, 2.0])
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("weights", values, 1)
        with pytest.raises(ValueError, match="no element"):
            writer.add_histogram("weights", tenfold.ones(0))
    histogram = events(tmp_path).Histograms("weights")[0].histogram_value
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (-1.0, 2.0, 5.0, 2.0)
    assert sum(histogram.bucket) == 5
    assert len(histogram.bucket) == len(histogram.bucket_limit)
    half = [count for count, limit in zip(histogram.bucket, histogram.bucket_limit) if 0.4 < limit < 0.6]
    assert 2.0 in half


def test_pictures_sounds_and_text(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("one", tenfold.rand(3, 4, 5))
        writer.add_image("grey", tenfold.zeros(4, 5, dtype=tenfold.uint8), dataformats="HW")
        writer.add_images("many", tenfold.rand(10, 1, 4, 5))
        writer.add_audio("sound", tenfold.zeros(1, 100), sample_rate=8000)
        writer.add_text("note", "**bold**")
        with pytest.raises(AssertionError, match="format"):
            writer.add_image("one", tenfold.rand(4, 5))
    found = events(tmp_path)
    (picture,) = found.Images("one")
    assert (picture.height, picture.width) == (4, 5)
    (grid,) = found.Images("many")
    assert (grid.height, grid.width) == (8, 40)
    assert found.Audio("sound")[0].sample_rate == 8000
    assert found.Tensors("note/text_summary")[0].tensor_proto.string_val == [b"**bold**"]


def test_hyperparameters_curves_and_points(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams({"lr": 0.1, "name": "x", "flag": True, "size": 3}, {"accuracy": 0.5}, run_name="run")
        writer.add_pr_curve("curve", tenfold.tensor([1, 0, 1]), tenfold.tensor([0.9, 0.2, 0.6]))
        writer.add_embedding(tenfold.eye(3), metadata=["a", "b", "c"], label_img=tenfold.rand(3, 3, 2, 2))
        with pytest.raises(ValueError, match="int, float, str, bool"):
            writer.add_hparams({"lr": object()}, {})
    assert events(tmp_path / "run").Scalars("accuracy")[0].value == 0.5
    curve = events(tmp_path).Tensors("curve")[0].tensor_proto
    assert curve.float_val[0] == 2.0  # at threshold 0 both positives are found
    assert (tmp_path / "00000" / "default" / "metadata.tsv").read_text() == "a\nb\nc\n"
    assert "sprite.png" in (tmp_path / "projector_config.pbtxt").read_text()


class Branching(tenfold.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = tenfold.nn.Linear(3, 4)
        self.twice = tenfold.nn.Sequential(tenfold.nn.ReLU(), tenfold.nn.Dropout(0.5))

    def forward(self, x, y):
        return self.twice(self.first(x)) * y, y.sum()


def test_graphs(tmp_path, capsys):
    model, runs = Branching(), tenfold.get_rng_state()
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(model, (tenfold.ones(2, 3), tenfold.ones(4)), verbose=True)
    assert model.training
    assert model.twice[1].training
    assert tenfold.equal(tenfold.get_rng_state(), runs)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    nodes = {node.name: node for node in GraphDef.FromString(events(tmp_path).Graph().SerializeToString()).node}
    relu = nodes["Branching/Sequential[twice]/ReLU[0]/relu"]
    assert relu.op == "aten::relu"
    assert list(relu.input) == ["Branching/Linear[first]/addmm"]
    assert [d.size for d in relu.attr["_output_shapes"].list.shape[0].dim] == [2, 4]
    assert set(nodes["Branching/Linear[first]/addmm"].input) >= {"input/0", "Branching/Linear[first]/bias"}
    assert set(nodes["Branching/mul"].input) == {relu.name, "input/1"}
    assert list(nodes["output/0"].input) == ["Branching/mul"]
    assert "Branching/mul = aten::mul(" in capsys.readouterr().out
    assert all(source in nodes for node in nodes.values() for source in node.input)


def test_graphs_of_results_that_are_no_tuples(tmp_path):
    class Named(tenfold.nn.Module):
        def forward(self, x):
            return {"double": x * 2}

    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(RuntimeError, match="use_strict_trace=False"):
            writer.add_graph(Named(), tenfold.ones(2))
        writer.add_graph(Named(), tenfold.ones(2), use_strict_trace=False)
    assert "output/0" in [node.name for node in events(tmp_path).Graph().node]
