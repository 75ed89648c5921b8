"""Details of modules, their hooks, parametrizations and helpers that a side-by-side run with PyTorch found to differ."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")
LIBS = (tenfold, torch)


def both(program: Callable[[Any], Any]) -> Any:
    """What `program` gives with either library, once it is the same; an exception counts by its type."""
    found = []
    for lib in LIBS:
        try:
            found.append(program(lib))
        except Exception as error:  # noqa: BLE001 - the type is what is compared
            found.append(type(error))
    ours, theirs = found
    assert ours == theirs
    return ours


def layer(lib: Any, *shape: int) -> Any:
    made = lib.nn.Linear(*shape)
    with lib.no_grad():
        made.weight.copy_(lib.arange(float(made.weight.numel())).reshape(made.weight.shape) / 7 - 0.3)
        made.bias.fill_(0.5)
    return made


def test_always_called_hooks_see_the_result_so_far() -> None:
    def program(lib: Any) -> Any:
        seen: list[Any] = []

        def fails(module: Any, args: Any, output: Any) -> None:
            raise ValueError("no")

        made = layer(lib, 2, 1)
        made.register_forward_hook(fails)
        made.register_forward_hook(lambda m, a, o: (seen.append(o.tolist()), o * 2)[1], always_call=True)
        made.register_forward_hook(lambda m, a, o: seen.append(o.tolist()), always_call=True)
        with pytest.raises(ValueError, match="no"):
            made(lib.ones(2))
        return np.round(seen, 4).tolist()

    assert len(both(program)) == 2


def test_always_called_hooks_see_what_pre_hooks_made_of_the_arguments() -> None:
    def program(lib: Any) -> Any:
        seen: list[Any] = []
        made = layer(lib, 2, 1)
        made.register_forward_pre_hook(lambda m, args: (lib.ones(3),))
        made.register_forward_hook(lambda m, a, o: seen.append((a[0].tolist(), o)), always_call=True)
        with pytest.raises(RuntimeError):
            made(lib.ones(2))
        return seen

    assert both(program) == [([1.0, 1.0, 1.0], None)]


def test_a_full_backward_hook_warns_where_no_input_asks_for_a_gradient() -> None:
    def program(lib: Any) -> Any:
        made = layer(lib, 2, 1)
        seen: list[Any] = []
        made.register_full_backward_hook(lambda m, gi, go: seen.append(gi))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            made(lib.ones(1, 2)).sum().backward()
        return seen, [(str(w.message)[:40], w.category) for w in told]

    assert len(both(program)[1]) == 1


@pytest.mark.parametrize("hook", ["register_full_backward_hook", "register_full_backward_pre_hook"])
def test_inputs_that_nothing_came_back_to_have_zeros(hook: str) -> None:
    def program(lib: Any) -> Any:
        class Two(lib.nn.Module):
            def forward(self, a: Any, i: Any, b: Any, n: int) -> Any:
                return a[i] * b * n, a * 3

        made, seen = Two(), []
        getattr(made, hook)(lambda m, *grads: seen.append([[None if g is None else g.tolist() for g in part] for part in grads]))
        a, b = lib.ones(3, requires_grad=True), lib.ones(2, requires_grad=True)
        made(a, lib.tensor([0, 1]), b, 2)[1].sum().backward()
        return seen, a.grad.tolist(), b.grad.tolist()

    assert both(program)[2] == [0.0, 0.0]


def test_a_failed_copy_from_meta_changes_nothing_for_later_ones() -> None:
    def program(lib: Any) -> Any:
        kinds = []
        for _ in range(2):
            try:
                lib.zeros(3).copy_(lib.empty(3, device="meta"))
            except Exception as error:  # noqa: BLE001 - the type is what is compared
                kinds.append(type(error))
            lib.empty(3, device="meta").copy_(lib.ones(3))
        return kinds

    assert both(program) == [NotImplementedError] * 2


def test_to_empty_keeps_lazy_modules_lazy() -> None:
    def program(lib: Any) -> Any:
        made = lib.nn.LazyLinear(3).to("meta").to_empty(device="cpu")
        return made.weight.device.type

    assert both(program) == "cpu"


def test_what_an_uninitialized_buffer_becomes_and_refuses() -> None:
    def program(lib: Any) -> Any:
        buffer = lib.nn.UninitializedBuffer()
        with pytest.raises(ValueError, match="uninitialized"):
            buffer.detach()
        buffer.materialize((2,))
        return type(buffer) is lib.Tensor, buffer.requires_grad

    assert both(program) == (True, False)


@pytest.mark.parametrize("name", ["batch_norm", "instance_norm", "group_norm", "layer_norm"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("weights", ["float64", "float32", "float16", "bfloat16"])
def test_which_dtypes_of_weights_norms_take(name: str, dtype: str, weights: str) -> None:
    def program(lib: Any) -> Any:
        norm = getattr(lib.nn.functional, name)
        x = lib.arange(24.0).reshape(2, 3, 4).to(getattr(lib, dtype))
        w = lib.ones(4 if name == "layer_norm" else 3, dtype=getattr(lib, weights))
        if name == "layer_norm":
            return str(norm(x, (4,), w, w).dtype).split(".")[-1]
        if name == "group_norm":
            return str(norm(x, 3, w, w).dtype).split(".")[-1]
        return str(norm(x, w.clone(), w.clone(), w, w, True).dtype).split(".")[-1]

    both(program)


def test_a_parametrized_parameter_stays_the_one_that_an_optimizer_holds() -> None:
    def program(lib: Any) -> Any:
        class Half(lib.nn.Module):
            def forward(self, x: Any) -> Any:
                return x / 2

            def right_inverse(self, x: Any) -> Any:
                return x * 2

        parametrize = lib.nn.utils.parametrize
        made = layer(lib, 2, 2)
        weight, before = made.weight, made.weight.tolist()
        optimizer = lib.optim.SGD(made.parameters(), lr=1.0)
        parametrize.register_parametrization(made, "weight", Half())
        same = made.parametrizations.weight.original is weight, made.weight.tolist() == before
        made(lib.ones(1, 2)).sum().backward()
        optimizer.step()
        moved = made.weight.tolist()
        parametrize.remove_parametrizations(made, "weight", leave_parametrized=False)
        return same, np.round(moved, 4).tolist(), made.weight is weight

    assert both(program)[0] == (True, True)


def test_assigning_through_a_right_inverse_that_gives_no_tensor() -> None:
    def program(lib: Any) -> Any:
        class Odd(lib.nn.Module):
            def forward(self, x: Any) -> Any:
                return x

            def right_inverse(self, x: Any) -> Any:
                return x if x.sum() != 4 else 3

        made = layer(lib, 2, 2)
        lib.nn.utils.parametrize.register_parametrization(made, "weight", Odd())
        made.weight = lib.ones(2, 2)

    assert both(program) is ValueError


def test_transferring_from_what_is_not_parametrized_gives_the_target() -> None:
    def program(lib: Any) -> Any:
        source, target = layer(lib, 2, 2), layer(lib, 2, 2)
        return lib.nn.utils.parametrize.transfer_parametrizations_and_params(source, target) is target

    assert both(program) is True


@pytest.mark.parametrize("dim", [2, -3, 5, -2, 1])
def test_weight_norm_refuses_dimensions_that_there_are_not(dim: int) -> None:
    def program(lib: Any) -> Any:
        made = lib.nn.utils.parametrizations.weight_norm(layer(lib, 3, 2), dim=dim)
        return list(made.parametrizations.weight.original0.shape)

    both(program)


@pytest.mark.parametrize("name", ["weight_norm", "spectral_norm"])
def test_parametrizations_of_lazy_weights(name: str) -> None:
    assert both(lambda lib: getattr(lib.nn.utils.parametrizations, name)(lib.nn.LazyLinear(2))) is RuntimeError


@pytest.mark.parametrize("sizes", [(0, 2), (2, 0)])
def test_recurrent_layers_refuse_sizes_of_zero(sizes: tuple[int, int]) -> None:
    assert both(lambda lib: lib.nn.LSTM(*sizes)) is ValueError


def test_the_older_spectral_norm_of_a_vector() -> None:
    def program(lib: Any) -> Any:
        made = lib.nn.utils.spectral_norm(layer(lib, 3, 2), "bias")
        with lib.no_grad():
            made.bias_u.copy_(lib.tensor([0.6, 0.8]))
        made(lib.ones(3))
        return [round(x, 4) for x in made.bias.tolist()], list(made.bias_u.shape), list(made.bias_v.shape)

    both(program)


def test_refusals_of_fusions_and_whether_the_fused_bias_learns() -> None:
    def program(lib: Any) -> Any:
        fuse, bn = lib.nn.utils.fuse_linear_bn_eval, lib.nn.BatchNorm1d(2).eval()
        conv = lib.nn.utils.fuse_conv_bn_weights(lib.ones(2, 1, 1), None, lib.zeros(2), lib.ones(2), 0.0, None, None)
        kinds = []
        for linear, norm in (
            (layer(lib, 3, 4).eval(), bn),
            (layer(lib, 3, 2), bn),
            (layer(lib, 3, 2).eval(), lib.nn.BatchNorm1d(2, track_running_stats=False).eval()),
        ):
            with pytest.raises(AssertionError):
                fuse(linear, norm)
            kinds.append(True)
        return kinds, [p.requires_grad for p in conv]

    assert both(program) == ([True] * 3, [False, False])


def test_unpadded_sequences_are_copies() -> None:
    def program(lib: Any) -> Any:
        padded = lib.zeros(3, 2)
        for row in lib.nn.utils.rnn.unpad_sequence(padded, lib.tensor([3, 1])):
            row.add_(1)
        return padded.sum().item()

    assert both(program) == 0.0


def test_a_padded_batch_lies_in_memory_as_pytorchs() -> None:
    def program(lib: Any) -> Any:
        rnn = lib.nn.utils.rnn
        x = lib.arange(24.0).reshape(3, 4, 2)
        strides = []
        for order in (True, False):
            packed = rnn.pack_padded_sequence(x, [4, 2, 1], batch_first=True, enforce_sorted=order)
            strides += [rnn.pad_packed_sequence(packed, batch_first=first)[0].stride() for first in (True, False)]
        return strides

    both(program)


def test_the_causal_hint_stands_for_the_mask_where_no_weights_are_wanted() -> None:
    def program(lib: Any) -> Any:
        attention = lib.nn.MultiheadAttention(4, 2)
        with lib.no_grad():
            for p in attention.parameters():
                p.copy_(lib.sin(lib.arange(float(p.numel()))).reshape(p.shape))
        x, mask = lib.sin(lib.arange(24.0) * 2).reshape(3, 2, 4), lib.cos(lib.arange(9.0)).reshape(3, 3)
        found = []
        for need_weights in (True, False):
            for padding in (None, lib.zeros(2, 3)):
                out = attention(
                    x, x, x, key_padding_mask=padding, attn_mask=mask, is_causal=True, need_weights=need_weights
                )  # fmt: skip
                found.append((out[0] * 1e4).round().tolist())
        return found

    hinted = both(program)
    assert hinted[0] == hinted[1] == hinted[3] != hinted[2]


def test_attention_refuses_keys_and_values_of_different_lengths() -> None:
    def program(lib: Any) -> Any:
        x = lib.ones(3, 2, 4)
        return lib.nn.MultiheadAttention(4, 2)(x, x, lib.ones(4, 2, 4))

    assert both(program) is AssertionError


def test_operators_in_a_modules_class_are_called_without_the_module() -> None:
    def program(lib: Any) -> Any:
        class Net(lib.nn.Module):
            convolve = lib.conv1d
            act, join = lib.relu, lib.stack

            def forward(self, x: Any) -> Any:
                return self.join([self.act(self.convolve(x, weight=lib.ones(1, 1, 2))), x[..., 1:]])

        class Same(Net):
            pass

        x = lib.tensor([[[1.0, -3.0, 4.0]]])
        return Same()(x).tolist(), Net.act(x).tolist()

    assert both(program)[1] == [[[1, 0, 4]]]
