"""The short ways before pools, negative log likelihoods, shuffled channels and constant borders, against PyTorch and the ordinary
way."""

from __future__ import annotations

import numpy as np
import pytest
from compared_calls import outcome, same_from_every_source, seen_by_classes_and_modes

import tenfold

torch = pytest.importorskip("torch")
LIBRARIES = (tenfold, torch)


def _classes(lib, *values):
    return lib.tensor(values, dtype=lib.int64)


POOLS = {
    "avg_pool1d": lambda F, x: F.avg_pool1d(x[0], 2),
    "avg_pool1d with borders": lambda F, x: F.avg_pool1d(x[0], (3,), 2, 1, False, False),
    "avg_pool2d": lambda F, x: F.avg_pool2d(x, 2),
    "avg_pool2d of one image": lambda F, x: F.avg_pool2d(x[0], (2, 3), (1, 2)),
    "avg_pool2d with borders": lambda F, x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "avg_pool2d up": lambda F, x: F.avg_pool2d(x, 2, 2, ceil_mode=True),
    "avg_pool2d over": lambda F, x: F.avg_pool2d(x, 2, divisor_override=3),
    "avg_pool2d over none": lambda F, x: F.avg_pool2d(x, 2, divisor_override=0),
    "avg_pool2d too far": lambda F, x: F.avg_pool2d(x, 9),
    "avg_pool2d wide borders": lambda F, x: F.avg_pool2d(x, 2, padding=2),
    "avg_pool2d of the whole": lambda F, x: F.avg_pool2d(x, tuple(x.shape[2:])),
    "avg_pool3d": lambda F, x: F.avg_pool3d(x, 2),
    "avg_pool3d too far": lambda F, x: F.avg_pool3d(x, 4, padding=2),
    "adaptive_avg_pool1d": lambda F, x: F.adaptive_avg_pool1d(x[0], 3),
    "adaptive_avg_pool2d": lambda F, x: F.adaptive_avg_pool2d(x, (2, 4)),
    "adaptive_avg_pool2d to one": lambda F, x: F.adaptive_avg_pool2d(x, 1),
    "adaptive_avg_pool2d in part": lambda F, x: F.adaptive_avg_pool2d(x, (None, 2)),
    "adaptive_avg_pool2d to none": lambda F, x: F.adaptive_avg_pool2d(x, 0),
    "adaptive_avg_pool2d of three": lambda F, x: F.adaptive_avg_pool2d(x, (1, 2, 3)),
    "adaptive_avg_pool3d": lambda F, x: F.adaptive_avg_pool3d(x, 2),
    "adaptive_max_pool1d": lambda F, x: F.adaptive_max_pool1d(x[0], 2),
    "adaptive_max_pool2d": lambda F, x: F.adaptive_max_pool2d(x, 2),
    "adaptive_max_pool2d and where": lambda F, x: F.adaptive_max_pool2d(x, (3, 1), return_indices=True),
    "adaptive_max_pool3d": lambda F, x: F.adaptive_max_pool3d(x, (2, 1, 2), True),
}
CASES = {name: lambda lib, x, name=name: POOLS[name](lib.nn.functional, x) for name in POOLS} | {
    "nll_loss": lambda lib, x: lib.nn.functional.nll_loss(x[0, 0], _classes(lib, 1, 0, 3, 2)),
    "nll_loss weighed": lambda lib, x: lib.nn.functional.nll_loss(x[0, 0], _classes(lib, 1, 0, 3, 2), x[0, 1, 0].detach()),
    "nll_loss ignored": lambda lib, x: lib.nn.functional.nll_loss(
        x[0, 0], _classes(lib, 1, 2, 3, 2), x[0, 1, 0].detach(), ignore_index=2, reduction="sum"
    ),
    "nll_loss of none": lambda lib, x: lib.nn.functional.nll_loss(x[0, 0], _classes(lib, 2, 2, 2, 2), ignore_index=2),
    "nll_loss each": lambda lib, x: lib.nn.functional.nll_loss(x[0, 0], _classes(lib, 1, 0, 3, 2), reduction="none"),
    "nll_loss of no class": lambda lib, x: lib.nn.functional.nll_loss(x[0, 0], _classes(lib, 1, 0, 9, 2)),
    "nll_loss of fewer": lambda lib, x: lib.nn.functional.nll_loss(x[0, 0], _classes(lib, 1, 0)),
    "nll_loss otherwise": lambda lib, x: lib.nn.functional.nll_loss(x[0, 0], _classes(lib, 1, 0, 3, 2), reduction="other"),
    "nll_loss weighed by two": lambda lib, x: lib.nn.functional.nll_loss(
        x[0, 0], _classes(lib, 1, 0, 3, 2), x[0, 1, 0, :2].detach()
    ),
    "channel_shuffle": lambda lib, x: lib.channel_shuffle(x.flatten(1, 2), 3),
    "channel_shuffle of one": lambda lib, x: lib.channel_shuffle(x, 1),
    "channel_shuffle unevenly": lambda lib, x: lib.channel_shuffle(x, 2),
    "channel_shuffle of a matrix": lambda lib, x: lib.channel_shuffle(x[0, 0], 2),
    "constant_pad_nd": lambda lib, x: lib.constant_pad_nd(x, (1, 2, 0, 1)),
    "constant_pad_nd by 2": lambda lib, x: lib.constant_pad_nd(x, [1, 1], 2.5),
    "constant_pad_nd less": lambda lib, x: lib.constant_pad_nd(x, (-1, 2), 1),
    "constant_pad_nd too little": lambda lib, x: lib.constant_pad_nd(x, (-9, 2)),
    "constant_pad_nd unevenly": lambda lib, x: lib.constant_pad_nd(x, (1, 2, 3)),
    "lgamma": lambda lib, x: lib.lgamma(x),
    "polygamma": lambda lib, x: lib.polygamma(2, x),
}
ARRAY = np.random.default_rng(3).standard_normal((2, 3, 4, 5)).astype(np.float32)
SOURCES = {
    "float32": lambda lib, a: lib.from_numpy(a.copy()),
    "float64": lambda lib, a: lib.from_numpy(a.astype(np.float64)),
    "float16": lambda lib, a: lib.from_numpy(a.astype(np.float16)),
    "int64": lambda lib, a: lib.from_numpy((4 * a).astype(np.int64)),
    "channels last": lambda lib, a: lib.from_numpy(a.copy()).contiguous(memory_format=lib.channels_last),
    "a part": lambda lib, a: lib.from_numpy(np.pad(a, 1))[1:-1, 1:-1, 1:-1, 1:-1],
    "infinite": lambda lib, a: lib.from_numpy(np.where(a > 1, np.inf, np.where(a < -1, np.nan, a)).astype(np.float32)),
    "a leaf": lambda lib, a: lib.from_numpy(a.copy()).requires_grad_(),
}
PYTORCHS = ("float32", "float64", "infinite", "a leaf")  # of the others other tests tell


def _compared(ours, theirs, what):
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), (what, ours, theirs)
        return
    assert not isinstance(ours, Exception), (what, ours)
    for a, b in zip(*(y if isinstance(y, tuple) else (y,) for y in (ours, theirs)), strict=True):
        assert str(a.dtype).rpartition(".")[2] == str(b.dtype).rpartition(".")[2], what
        assert (tuple(a.shape), a.requires_grad) == (tuple(b.shape), b.requires_grad), what
        assert not b.numel() or [s for s, n in zip(a.stride(), a.shape, strict=True) if n > 1] == [
            s for s, n in zip(b.stride(), b.shape, strict=True) if n > 1
        ], what
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-4, atol=1e-5, err_msg=str(what))


@pytest.mark.parametrize("name", CASES)
def test_results_are_pytorchs(name):
    for source in PYTORCHS:
        if name == "nll_loss of no class" or (source == "infinite" and name in ("lgamma", "polygamma")):
            continue
        for _ in range(2):  # the second call is the short one where the first finds out
            ours, theirs = (outcome(CASES[name], lib, SOURCES[source](lib, ARRAY)) for lib in LIBRARIES)
            _compared(ours, theirs, source)


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_ordinary_way(name):
    same_from_every_source(CASES[name], SOURCES, ARRAY)


@pytest.mark.parametrize("size", [True, 2.0, (2.0, 2)])
def test_sizes_that_are_no_ints_are_none_because_they_equal_some(size):
    x, theirs = tenfold.ones(1, 2, 4, 4), torch.ones(1, 2, 4, 4)
    tenfold.nn.functional.avg_pool2d(x, 1), tenfold.nn.functional.avg_pool2d(x, (2, 1)), tenfold.nn.functional.avg_pool2d(x, 2)
    with pytest.raises(TypeError):
        torch.nn.functional.avg_pool2d(theirs, size)
    with pytest.raises(TypeError):
        tenfold.nn.functional.avg_pool2d(x, size)


def test_weights_of_which_a_gradient_is_wanted_are_refused():
    x, target = tenfold.ones(2, 3), tenfold.tensor([0, 1])
    weight = tenfold.ones(3, requires_grad=True)
    for given in (x, x.clone().requires_grad_()):
        ours = outcome(tenfold.nn.functional.nll_loss, given, target, weight)
        theirs = outcome(torch.nn.functional.nll_loss, torch.ones(2, 3), torch.tensor([0, 1]), torch.ones(3, requires_grad=True))
        assert isinstance(ours, Exception) == isinstance(theirs, Exception)


CALLS = {
    "avg_pool2d": lambda x: tenfold.nn.functional.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda x: tenfold.nn.functional.adaptive_avg_pool2d(x, 2),
    "constant_pad_nd": lambda x: tenfold.constant_pad_nd(x, (1, 1)),
    "channel_shuffle": lambda x: tenfold.channel_shuffle(x, 2),
}


@pytest.mark.parametrize("name", CALLS)
def test_classes_and_modes_see_the_call(name):
    x = tenfold.ones(1, 4, 4, 4)
    seen_by_classes_and_modes(CALLS[name], x, name)
