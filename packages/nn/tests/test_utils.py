"""nn.utils: clipping, vectors, sequences, parametrizations."""

from __future__ import annotations

import copy
import pickle

import pytest

import tenfold
from tenfold import nn
from tenfold.nn import utils
from tenfold.nn.utils import parametrizations, parametrize, rnn


def with_grads(*grads):
    parameters = [nn.Parameter(tenfold.zeros(len(grad))) for grad in grads]
    for parameter, grad in zip(parameters, grads, strict=True):
        parameter.grad = tenfold.tensor(grad)
    return [*parameters, nn.Parameter(tenfold.zeros(1))]


def test_clip_grad_norm():
    parameters = with_grads([3.0], [0.0, 4.0])
    assert utils.clip_grad_norm_(parameters, 1.0).item() == pytest.approx(5.0)
    assert parameters[0].grad.item() == pytest.approx(0.6, rel=1e-5)
    assert parameters[2].grad is None
    assert utils.clip_grad_norm_(parameters, 10.0).item() == pytest.approx(1.0, rel=1e-5)
    assert parameters[0].grad.item() == pytest.approx(0.6, rel=1e-5)
    one = with_grads([3.0, -7.0])[0]
    assert utils.clip_grad_norm_(one, 100.0, norm_type=float("inf")).item() == 7.0
    assert utils.clip_grad_norm_(one, 100.0, norm_type=1).item() == 10.0
    assert utils.get_total_norm([]).item() == 0.0


def test_clip_grad_norm_errors():
    parameters = with_grads([float("inf")])
    with pytest.raises(RuntimeError, match="non-finite"):
        utils.clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)


def test_clip_grad_value():
    parameters = with_grads([3.0, -0.5], [-4.0])
    utils.clip_grad_value_(parameters, 1.0)
    assert parameters[0].grad.tolist() == [1.0, -0.5]
    assert parameters[1].grad.tolist() == [-1.0]


def test_vectors_go_back_and_forth():
    linear = nn.Linear(2, 3)
    vector = utils.parameters_to_vector(linear.parameters())
    assert vector.shape == (9,)
    utils.vector_to_parameters(tenfold.arange(9.0), linear.parameters())
    assert linear.weight.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert linear.bias.tolist() == [6.0, 7.0, 8.0]
    with pytest.raises(TypeError):
        utils.vector_to_parameters([1.0], linear.parameters())


SEQUENCES = [[1.0, 2.0], [3.0, 4.0, 5.0], [6.0]]


def sequences():
    return [tenfold.tensor(values) for values in SEQUENCES]


def test_pad_sequence():
    assert rnn.pad_sequence(sequences(), batch_first=True).tolist() == [[1, 2, 0], [3, 4, 5], [6, 0, 0]]
    left = rnn.pad_sequence(sequences(), padding_value=9.0, padding_side="left")
    assert left.T.tolist() == [[9, 1, 2], [3, 4, 5], [9, 9, 6]]
    padded = rnn.pad_sequence(sequences())
    assert [s.tolist() for s in rnn.unpad_sequence(padded, tenfold.tensor([2, 3, 1]))] == SEQUENCES
    for wrong in (lambda: rnn.pad_sequence(3), lambda: rnn.pad_sequence(sequences(), padding_side="up")):
        with pytest.raises(RuntimeError):
            wrong()


def test_packing_and_back():
    packed = rnn.pack_sequence(sequences(), enforce_sorted=False)
    assert packed.data.tolist() == [3, 1, 6, 4, 2, 5]
    assert packed.batch_sizes.tolist() == [3, 2, 1]
    assert packed.sorted_indices.tolist() == [1, 0, 2]
    assert packed.unsorted_indices.tolist() == [1, 0, 2]
    assert [s.tolist() for s in rnn.unpack_sequence(packed)] == SEQUENCES
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.0, total_length=4)
    assert padded.tolist() == [[1, 2, -1, -1], [3, 4, 5, -1], [6, -1, -1, -1]]
    assert lengths.tolist() == [2, 3, 1]
    assert packed.double().data.dtype == tenfold.float64
    assert packed.cpu() is packed
    assert not packed.is_cuda
    assert pickle.loads(pickle.dumps(packed)).data.tolist() == packed.data.tolist()
    assert rnn.invert_permutation(tenfold.tensor([2, 0, 1])).tolist() == [1, 2, 0]


def test_packing_errors():
    batch = tenfold.zeros(3, 2)
    for lengths in ([1, 3], [3, 0], [3]):
        with pytest.raises(RuntimeError):
            rnn.pack_padded_sequence(batch, lengths)
    with pytest.raises(ValueError, match="total_length"):
        rnn.pad_packed_sequence(rnn.pack_padded_sequence(batch, [3, 2]), total_length=2)


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).T

    def right_inverse(self, x):
        return x.triu()


def test_parametrization_computes_assigns_and_leaves():
    linear = nn.Linear(3, 3)
    assert not parametrize.is_parametrized(linear)
    parametrize.register_parametrization(linear, "weight", Symmetric())
    assert parametrize.is_parametrized(linear, "weight")
    assert not parametrize.is_parametrized(linear, "bias")
    assert linear.weight.tolist() == linear.weight.T.tolist()
    assert type(linear).__name__ == "ParametrizedLinear"
    assert parametrize.type_before_parametrizations(linear) is nn.Linear
    assert isinstance(linear, nn.Linear)
    assert list(linear.state_dict()) == ["bias", "parametrizations.weight.original"]
    linear(tenfold.ones(1, 3)).sum().backward()
    assert linear.parametrizations.weight.original.grad is not None
    linear.weight = tenfold.ones(3, 3)
    assert linear.parametrizations.weight.original.tolist() == tenfold.ones(3, 3).triu().tolist()
    with parametrize.cached():
        assert linear.weight is linear.weight
    assert linear.weight is not linear.weight
    clone = copy.deepcopy(linear)
    assert clone.weight.tolist() == linear.weight.tolist()
    parametrize.remove_parametrizations(linear, "weight")
    assert type(linear) is nn.Linear
    assert isinstance(linear.weight, nn.Parameter)
    assert linear.weight.tolist() == tenfold.ones(3, 3).tolist()
    assert sorted(linear.state_dict()) == ["bias", "weight"]


def test_parametrization_errors():
    linear = nn.Linear(3, 2)
    with pytest.raises(ValueError, match="does not have"):
        parametrize.register_parametrization(linear, "nope", nn.Identity())
    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(linear, "weight", nn.Flatten(0))
    with pytest.raises(ValueError, match="does not have"):
        parametrize.remove_parametrizations(linear, "weight")
    parametrize.register_parametrization(linear, "weight", nn.ReLU())
    with pytest.raises(RuntimeError, match="right_inverse"):
        linear.weight = tenfold.ones(2, 3)
    with pytest.raises(RuntimeError, match="state_dict"):
        pickle.dumps(linear)
    assert type(linear).__name__ == "ParametrizedLinear"


def test_weight_norm():
    linear = nn.Linear(3, 2)
    before = linear.weight.detach().clone()
    parametrizations.weight_norm(linear)
    g, v = linear.parametrizations.weight.original0, linear.parametrizations.weight.original1
    assert g.shape == (2, 1)
    assert v.shape == (2, 3)
    assert isinstance(g, nn.Parameter)
    assert (linear.weight - before).abs().max().item() < 1e-6
    with tenfold.no_grad():
        g.mul_(2)
    assert (linear.weight - 2 * before).abs().max().item() < 1e-6
    parametrize.remove_parametrizations(linear, "weight")
    assert isinstance(linear.weight, nn.Parameter)
    assert (linear.weight - 2 * before).abs().max().item() < 1e-6


def test_spectral_norm_divides_by_the_largest_singular_value():
    linear = nn.Linear(5, 4)
    parametrizations.spectral_norm(linear, n_power_iterations=20)
    sigma = tenfold.linalg.svdvals(linear.weight.detach())[0].item()
    assert sigma == pytest.approx(1.0, abs=1e-3)
    assert set(linear.state_dict()) == {
        "bias",
        "parametrizations.weight.original",
        "parametrizations.weight.0._u",
        "parametrizations.weight.0._v",
    }
    with pytest.raises(ValueError, match="no parameter"):
        parametrizations.spectral_norm(nn.ReLU())


def test_skip_init_wants_a_module_class():
    with pytest.raises(RuntimeError, match="Module class"):
        utils.skip_init(int)


def test_skip_init_wants_a_device_and_runs_no_initialisation():
    made_on = []

    class Filled(nn.Module):
        def __init__(self, n, device=None):
            super().__init__()
            self.weight = nn.Parameter(tenfold.empty(n, device=device))
            made_on.append(self.weight.device.type)

    class Plain(nn.Module):
        def __init__(self, n):
            super().__init__()

    assert utils.skip_init(Filled, 3).weight.device.type == "cpu"
    assert made_on == ["meta"]
    with pytest.raises(RuntimeError, match="Module must support a 'device' arg to skip initialization"):
        utils.skip_init(Plain, 3)


def test_convert_sync_batchnorm():
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert type(converted[1]) is nn.SyncBatchNorm
    assert list(converted.state_dict()) == list(net.state_dict())
    assert converted(tenfold.ones(4, 2)).shape == (4, 3)
