"""Modules on several devices, of which there is one here."""

import pytest

import tenfold
from tenfold import nn
from tenfold.nn import parallel


def test_data_parallel_calls_the_module():
    layer = nn.Linear(2, 3)
    wrapped = nn.DataParallel(layer)
    x = tenfold.ones(4, 2)
    assert wrapped(x).equal(layer(x))
    assert parallel.data_parallel(layer, x).equal(layer(x))
    assert wrapped.module is layer
    assert list(wrapped.state_dict()) == ["module.weight", "module.bias"]
    wrapped(x).sum().backward()
    assert layer.weight.grad is not None


def test_batches_are_split_and_brought_together():
    parts = parallel.scatter({"x": tenfold.arange(4), "rest": [tenfold.ones(2, 1), None, 3]}, ["cpu", "cpu"])
    assert [part["x"].tolist() for part in parts] == [[0, 1], [2, 3]]
    assert parts[0]["rest"][1:] == [None, 3]
    together = parallel.gather([part["x"] for part in parts], "cpu")
    assert together.tolist() == [0, 1, 2, 3]
    results = parallel.parallel_apply([nn.Identity(), nn.Identity()], [tenfold.ones(1), (tenfold.zeros(1),)])
    assert parallel.gather(results, "cpu").tolist() == [1.0, 0.0]


def test_replicas_give_gradients_to_the_module():
    layer = nn.Sequential(nn.Linear(1, 1, bias=False))
    first, second = parallel.replicate(layer, [tenfold.device("cpu")] * 2)
    (first(tenfold.ones(1, 1)) + second(tenfold.ones(1, 1))).sum().backward()
    assert first is not layer
    assert layer[0].weight.grad.item() == 2.0


def test_process_groups_are_elsewhere():
    with pytest.raises(RuntimeError, match="tenfold-distributed"):
        parallel.DistributedDataParallel(nn.Identity())


def test_a_subclass_may_do_each_part_in_another_way():
    asked = []

    class Noted(nn.DataParallel):
        def scatter(self, inputs, kwargs, device_ids):
            asked.append(len(device_ids))
            return [inputs], [kwargs]

    made = Noted(nn.Identity())
    made.device_ids = [0]
    assert made(tenfold.ones(2)).tolist() == [1.0, 1.0]
    assert asked == [1]
    assert made.gather([tenfold.ones(1), tenfold.zeros(1)], "cpu").tolist() == [1.0, 0.0]
    assert [part.tolist() for (part,) in made.scatter((tenfold.ones(1),), {}, ["cpu"])[0]] == [[1.0]]
    assert len(made.replicate(nn.Linear(1, 1), ["cpu"])) == 1
    assert len(made.parallel_apply([nn.Identity()], [(tenfold.ones(1),)], None)) == 1
