"""complex32: stored, moved, converted, printed, and computed where PyTorch computes it."""

from __future__ import annotations

import copy
import pickle
import warnings

import pytest

import tenfold

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings(
    "ignore:ComplexHalf support is experimental", "ignore:Casting complex values to real discards the imaginary part"
)
NUMBERS = [1 + 2j, -3.5 + 0.25j, complex(float("inf"), float("nan")), 1e-8 + 7e4j]


def numbers(lib):
    return lib.tensor(NUMBERS).to(lib.complex32)


CALLS = {
    "itself": lambda lib, z: z,
    "made": lambda lib, z: lib.tensor([1, 2.5 + 1j], dtype=lib.chalf),
    "filled": lambda lib, z: [lib.full((2,), 1 + 2j, dtype=lib.chalf), lib.ones(2, dtype=lib.chalf), lib.zeros(2).chalf()],
    "filled in place": lambda lib, z: [z.clone().fill_(3), lib.full_like(z, 2j), lib.ones_like(z)],
    "empty": lambda lib, z: lib.empty(0, dtype=lib.complex32),
    "from reals": lambda lib, z: [lib.arange(3).chalf(), lib.tensor([True]).to(lib.chalf), lib.tensor(1e6).to(lib.chalf)],
    "to others": lambda lib, z: [z.to(lib.complex64), z.to(lib.complex128), z[:2].float(), z[:2].int(), z.bool()],
    "copied": lambda lib, z: [lib.zeros(4, dtype=lib.chalf).copy_(lib.arange(4)), lib.zeros(4, dtype=lib.cdouble).copy_(z)],
    "memory": lambda lib, z: [lib.view_as_real(z), z.real, z.imag, z.view(lib.int32), z.stride(), z.element_size()],
    "pairs": lambda lib, z: [lib.view_as_complex(lib.ones(2, 2).half()), lib.complex(lib.ones(1).half(), lib.ones(1).half())],
    "parts set": lambda lib, z: setattr(z, "real", lib.arange(4.0)) or z,
    "assigned": lambda lib, z: z.__setitem__(0, 5j) or z.__setitem__(slice(2, 4), lib.ones(2)) or z,
    "moved": lambda lib, z: [z[::2], z.view(2, 2).t().contiguous(), z.expand(2, 4).clone(), z.roll(1), z.repeat(2)],
    "chosen": lambda lib, z: [z[lib.tensor([3, 0])], z[lib.tensor([True, False, True, False])], lib.cat([z, z])],
    "where": lambda lib, z: [lib.where(z == z, z, 1j), z.masked_fill(lib.tensor([True, False, True, False]), 1)],
    "arithmetic": lambda lib, z: [z[:2] + z[:2], z[:2] + 1, 1 - z[:2], z[:2] * z[:2], z[:2] * 2, z[:2].clone().mul_(z[:2])],
    "one by one": lambda lib, z: [-z, z.conj(), z.abs(), z.sgn()[:2]],
    "mixed": lambda lib, z: [z + lib.ones(4), z + lib.ones(4).half(), z + lib.ones(4, dtype=lib.int64), lib.ones(2).half() * 1j],
    "asked": lambda lib, z: [z == z, z != 1, z.isnan(), z.isinf(), z.isfinite(), z.any(), z.nonzero(), lib.isclose(z, z)],
    "python": lambda lib, z: [z[:2].tolist(), z[0].item(), complex(z[1])],
    "drawn": lambda lib, z: lib.manual_seed(0) and [lib.randn(3, dtype=lib.chalf), lib.rand(3, dtype=lib.chalf),
                                                    lib.empty(3, dtype=lib.chalf).normal_()],
    "limits": lambda lib, z: [lib.finfo(lib.chalf).max, lib.finfo(lib.chalf).eps, lib.chalf.itemsize],
    "kin": lambda lib, z: [lib.half.to_complex(), lib.bfloat16.to_complex(), lib.chalf.to_real(), lib.chalf.to_complex()],
    "name": lambda lib, z: z.type(),
    "promoted": lambda lib, z: [lib.promote_types(lib.chalf, getattr(lib, d)) for d in
                                ("half", "bfloat16", "float", "double", "int64", "bool", "cfloat", "cdouble")],
    "cast": lambda lib, z: [lib.can_cast(lib.chalf, lib.half), lib.can_cast(lib.half, lib.chalf)],
    "meta": lambda lib, z: [lib.empty(2, dtype=lib.chalf, device="meta") + 1],
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    ours, theirs = (repr(CALLS[name](lib, numbers(lib))) for lib in (tenfold, torch))
    assert ours.replace("tenfold", "torch") == theirs


GRADIENTS = {
    "product": lambda lib, z: lib.view_as_real(z * z).float(),
    "converted": lambda lib, z: z.to(lib.complex64).abs(),
    "conjugate": lambda lib, z: lib.view_as_real(z.conj() * z.imag).float(),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    def grad(lib):
        z = lib.tensor([1 + 2j, 3 - 1j], dtype=lib.chalf, requires_grad=True)
        GRADIENTS[name](lib, z).sum().backward()
        return z.grad

    assert repr(grad(tenfold)).replace("tenfold", "torch") == repr(grad(torch))


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, z: z / z, lambda lib, z: z.exp(), lambda lib, z: z.sum(), lambda lib, z: z.cumsum(0), lambda lib, z: z**2,
        lambda lib, z: lib.arange(3, dtype=lib.chalf), lambda lib, z: lib.linspace(0, 1, 3, dtype=lib.chalf),
        lambda lib, z: lib.eye(2, dtype=lib.chalf), lambda lib, z: z.view(2, 2) @ z.view(2, 2),
    ],
)  # fmt: skip
def test_what_is_not_computed_says_so(call):
    for lib in (torch, tenfold):
        with pytest.raises(NotImplementedError, match="not implemented for 'ComplexHalf'"):
            call(lib, numbers(lib))


def test_it_is_the_complex_dtype_of_float16():
    tenfold.set_default_dtype(tenfold.float16)
    try:
        assert tenfold.tensor([3.0, 3 + 5j]).tolist() == [3, 3 + 5j]
        assert tenfold.tensor([3.0, 3 + 5j]).dtype is tenfold.complex32
        assert tenfold.tensor(1j).dtype is tenfold.complex32
        assert tenfold.full((2,), 1j).dtype is tenfold.complex64  # as in PyTorch
    finally:
        tenfold.set_default_dtype(tenfold.float32)


def test_numpy_has_no_such_numbers():
    with pytest.raises(TypeError, match="Got unsupported ScalarType ComplexHalf"):
        numbers(tenfold).numpy()


def test_pickled_and_copied():
    z = numbers(tenfold)[:2]
    for made in (copy.deepcopy(z), pickle.loads(pickle.dumps(z))):
        assert made.dtype is tenfold.complex32
        assert made.tolist() == z.tolist()
    assert pickle.loads(pickle.dumps(tenfold.chalf)) is tenfold.complex32


def test_the_warning_comes_where_numbers_are_made():
    tenfold.set_warn_always(True)
    try:
        for make in (tenfold.empty, tenfold.zeros, tenfold.ones, tenfold.randn, tenfold.rand):
            with pytest.warns(UserWarning, match="ComplexHalf support is experimental"):
                make(3, dtype=tenfold.chalf)
        with pytest.warns(UserWarning, match="ComplexHalf support is experimental"):
            tenfold.ones(2).to(tenfold.chalf)
    finally:
        tenfold.set_warn_always(False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tenfold.zeros(2, dtype=tenfold.complex64)
