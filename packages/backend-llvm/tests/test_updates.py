"""The native step of many parameters: the numbers of the step from Python, its refusals, versions and references."""

from __future__ import annotations

import numpy as np
import pytest
from left_behind import SMALL, left_behind, repeated

import tenfold
from tenfold import nn
from tenfold.llvm import call_paths
from tenfold.llvm.kernels import optim

POSSIBLE = call_paths.possible() and tenfold.llvm.is_available()
pytestmark = pytest.mark.skipif(not POSSIBLE, reason="call paths are native from Python 3.12 on, where nobody has said no")
NUMBERS = (1.0, 0.0, 0.9, 1.0, -0.1)  # of SGD: sign, decay, momentum, new share, step


def made(shape=(3, 5), dtype=tenfold.float32, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape)
    tensor = nn.Parameter(tenfold.tensor(values, dtype=dtype))
    tensor.untyped_storage()
    return tensor, tenfold.tensor(values + 1, dtype=dtype)


@pytest.fixture(autouse=True)
def _compiled():
    """Have the loops for both dtypes."""
    for dtype in (tenfold.float32, tenfold.float64):
        optim._in_place(list(made(dtype=dtype)), NUMBERS, optim.MOMENTUM, False, False, False)


def served(tensors, numbers=NUMBERS):
    return optim.native_update().step(optim.MOMENTUM, len(tensors) == 3, False, False)([list(tensors)], numbers) == 1


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (64, 64), (65, 64), (2, 4096), (3, 7001)])
def test_numbers_and_versions(shape, dtype):
    param, grad = made(shape, dtype)
    before, version = param.detach().clone(), param._version
    assert served((param, grad))
    np.testing.assert_array_equal(param.detach().numpy(), before.add(grad, alpha=-0.1).numpy())
    assert (param._version, grad._version) == (version + 1, 0)


def test_what_python_looks_at():
    param, grad = made()
    rows = tenfold.zeros(4, 5)
    rows.untyped_storage()
    guarded = made()[0]
    guarded.untyped_storage().guarded = True
    fresh = tenfold.zeros(3, 5)
    with tenfold.inference_mode():
        inference = tenfold.zeros(3, 5)
    frozen = np.zeros((3, 5), np.float32)
    frozen.flags.writeable = False
    for first, second in (
        (rows[1:], rows[:-1]), (rows[:-1], rows[1:]), (guarded, grad), (fresh, grad), (inference, grad), (param, param),
        (param, grad.double()), (param, grad[:, :4]), (param, made((5, 3))[1]), (made((0, 3))), (param, tenfold.zeros(5, 3).t()),
        (param.to(tenfold.float16), grad.to(tenfold.float16)), (param, tenfold.zeros(3, 5, device="meta")),
    ):  # fmt: skip
        before = first._array.copy()
        assert not served((first, second))
        np.testing.assert_array_equal(before, first._array)
    assert not served((param, grad), (1, 0.0, 0.9, 1.0, -0.1))  # a number that is no float
    assert served((param, grad))
    both = tenfold.from_numpy(np.ones((6, 5), np.float32))
    first, second = both[:3], both[3:]  # one beside the other
    assert served((first, second)) or first.untyped_storage().guarded


def test_many_rows_up_to_one_which_python_looks_at():
    plain = [made(shape, seed=n) for n, shape in enumerate([(3,), (70, 70), (), (4096,)])]
    odd = made((5, 3))[0], made((3, 5))[1]
    expected = [p.detach().add(g, alpha=-0.1).numpy() for p, g in plain]
    rows = [list(pair) for pair in (*plain[:3], odd, plain[3])]
    assert optim.native_update().step(optim.MOMENTUM, False, False, False)(rows, NUMBERS) == 3
    assert [p._version for p, _ in plain] == [1, 1, 1, 0]
    for (p, _), numbers in zip(plain[:3], expected):
        np.testing.assert_array_equal(p.detach().numpy(), numbers)
    asked = []
    optim._updated(rows[3:], NUMBERS, asked.append, optim.MOMENTUM, False, False, False)
    assert asked == [0]
    np.testing.assert_array_equal(plain[3][0].detach().numpy(), expected[3])
    assert optim.native_update().step(optim.MOMENTUM, False, False, False)([], NUMBERS) == 0


def test_parameters_that_have_taken_different_numbers_of_steps():
    def run(**options):
        params = [nn.Parameter(tenfold.full((n,), float(n))) for n in (3, 5000, 2, 7)]
        optimizer = tenfold.optim.AdamW(params, **options)
        for step in range(5):
            for k, p in enumerate(params):
                p.grad = None if (step + k) % 3 == 0 else tenfold.full(p.shape, 0.5 * step - k)
            optimizer.step()
        return [p.detach().numpy() for p in params]

    for ours, plain in zip(run(), run(foreach=False)):
        np.testing.assert_allclose(ours, plain, rtol=1e-6)


def test_a_counted_step():
    for dtype in (tenfold.float32, tenfold.float64, tenfold.float16, tenfold.int64):
        state = {"step": tenfold.tensor(6, dtype=dtype)}
        kept, version = state["step"], state["step"]._version
        assert (optim._counted(state), kept.item(), kept.dtype) == (7.0, 7, dtype)
        assert (state["step"] is kept, kept._version) == (True, version + 1)
    array = np.array(2.0, np.float32)
    state = {"step": tenfold.from_numpy(array)}
    assert (optim._counted(state), array.item()) == (3.0, 3.0)
    state = {"step": 4}
    assert (optim._counted(state), state["step"]) == (5.0, 5)
    with tenfold.inference_mode():
        state = {"step": tenfold.tensor(1.0)}
    with pytest.raises(RuntimeError, match="inference"):
        optim._counted(state)
    state = {"step": tenfold.tensor(1.0, requires_grad=True)}
    with pytest.raises(RuntimeError, match="leaf"):
        optim._counted(state)


def test_steps_with_and_without_native_code(monkeypatch):
    def run():
        tenfold.manual_seed(0)
        model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
        x = tenfold.randn(5, 6)
        for optimizer in (tenfold.optim.SGD(model.parameters(), 0.1, momentum=0.9), tenfold.optim.AdamW(model.parameters())):
            for _ in range(4):
                optimizer.zero_grad()
                model(x).square().sum().backward()
                optimizer.step()
        return [(p.tolist(), p._version) for p in model.parameters()]

    ours = run()
    monkeypatch.setattr(optim.native_update(), "run", None)
    assert ours == run()


def test_steps_leave_no_reference():
    param, grad = made()
    things = (param, grad, param._array, param.untyped_storage(), NUMBERS[2], True, NotImplemented)
    for _ in range(300):  # versions beyond those that Python keeps
        served((param, grad))
    calls = [lambda: served((param, grad)), lambda: served((param, param))]
    assert left_behind(repeated(calls, 5000), things) < SMALL
