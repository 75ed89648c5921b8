"""Parameters and checkpoints equal PyTorch's after 50 steps of every optimizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

STEPS = 50

# name, options: every optimizer with what its options switch on
OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    ("Adam", {}),
    ("Adam", {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True, "maximize": True}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "foreach": True}),
    ("AdamW", {}),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.3, "amsgrad": True, "maximize": True, "fused": True}),
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.9, "centered": True, "weight_decay": 0.1, "maximize": True}),
    ("RMSprop", {"centered": True, "alpha": 0.8}),
    ("Adagrad", {}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "maximize": True}),
    ("Adamax", {}),
    ("Adamax", {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.1, "maximize": True}),
    ("NAdam", {}),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "momentum_decay": 0.1, "maximize": True}),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {}),
    ("RAdam", {"lr": 0.1, "betas": (0.9, 0.9), "weight_decay": 0.1, "maximize": True}),
    ("RAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 2.0, "rho": 0.8, "weight_decay": 0.1, "maximize": True}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.1, "etas": (0.3, 1.5), "step_sizes": (0.01, 0.4), "maximize": True}),
    ("ASGD", {}),
    ("ASGD", {"lr": 0.1, "lambd": 0.1, "alpha": 0.6, "t0": 10, "weight_decay": 0.1, "maximize": True}),
    ("Adafactor", {}),
    (
        "Adafactor",
        {"lr": 0.1, "beta2_decay": -0.6, "eps": (1e-4, 1e-2), "d": 1.5, "weight_decay": 0.1, "maximize": True},
    ),
    ("Muon", {}),
    ("Muon", {"lr": 0.1, "nesterov": False, "ns_steps": 3, "adjust_lr_fn": "match_rms_adamw"}),
]
IDS = [f"{name}-{'-'.join(options)}" for name, options in OPTIMIZERS]
# Optimizers without a row, each with the test that compares its numbers: one of this file, or for an optimizer that PyTorch
# lacks one of its steps by hand, in BY_HAND, which runs without PyTorch.
BY_HAND = "test_optimizers.py"
NO_ROW = {"LBFGS": "test_lbfgs", "SparseAdam": "test_sparse_gradients"}
REAL_AND_IMAGINARY = [row for row in OPTIMIZERS if row[0] not in ("Muon", "Adafactor")]


def without_row() -> set[str]:
    public = {name for name in tenfold.optim.__all__ if isinstance(getattr(tenfold.optim, name), type)} - {"Optimizer"}
    return public - {name for name, _ in OPTIMIZERS}


def test_one_that_nobody_compares_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenfold.optim, "Planted", type("Planted", (), {}), raising=False)
    monkeypatch.setattr(tenfold.optim, "__all__", [*tenfold.optim.__all__, "Planted"])
    assert without_row() - NO_ROW.keys() == {"Planted"}


def test_every_optimizer_is_compared() -> None:
    assert without_row() == NO_ROW.keys(), "give it a row in OPTIMIZERS, or a place in NO_ROW"
    text = "".join(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in (Path(__file__).name, BY_HAND))
    assert [test for test in NO_ROW.values() if f"def {test}(" not in text] == [], f"no test of this file or of {BY_HAND}"


def dtype_of(lib: Any, like: Any) -> Any:
    return getattr(lib, str(like).rsplit(".", 1)[-1])


def to(lib: Any, value: Any) -> Any:
    """The same value with `lib`'s tensors."""
    if isinstance(value, (tenfold.Tensor, torch.Tensor)):
        return lib.tensor(value.tolist(), dtype=dtype_of(lib, value.dtype))
    if isinstance(value, dict):
        return {key: to(lib, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(to(lib, item) for item in value)
    return value


class Problem:
    """Two parameters and a sequence of gradients that depends on nothing, so that rounding cannot amplify itself."""

    def __init__(self, lib: Any, name: str, options: dict[str, Any], dtype: str = "float32", seed: int = 0) -> None:
        self.lib, self.dtype = lib, getattr(lib, dtype)
        self.random = np.random.default_rng(seed)
        shapes = [(4, 3), (3, 5)] if name == "Muon" else [(4, 3), (5,)]
        self.params = [self.tensor(shape).requires_grad_() for shape in shapes]
        self.optimizer = getattr(lib.optim, name)(self.params, **options)

    def tensor(self, shape: tuple[int, ...]) -> Any:
        values = self.random.normal(size=shape)
        if self.dtype.is_complex:
            values = values + 1j * self.random.normal(size=shape)
        return self.lib.tensor(values.tolist(), dtype=self.dtype)

    def run(self, steps: int = STEPS) -> Problem:
        for _ in range(steps):
            for param in self.params:
                param.grad = self.tensor(tuple(param.shape))
            self.optimizer.step()
        return self

    def values(self) -> list[Any]:
        return [np.asarray(param.tolist()) for param in self.params]


def assert_close(got: Any, expected: Any, rtol: float = 2e-5, atol: float = 2e-6) -> None:
    """Compare nested containers of tensors and numbers; a tensor's dtype and shape as well."""
    if isinstance(expected, (tenfold.Tensor, torch.Tensor)):
        assert str(got.dtype).rsplit(".", 1)[-1] == str(expected.dtype).rsplit(".", 1)[-1]
        assert tuple(got.shape) == tuple(expected.shape)
        np.testing.assert_allclose(got.tolist(), expected.tolist(), rtol=rtol, atol=atol)
    elif isinstance(expected, dict):
        assert list(got) == list(expected)
        for key, value in expected.items():
            assert_close(got[key], value, rtol, atol)
    elif isinstance(expected, (list, tuple)):
        assert len(got) == len(expected)
        for mine, theirs in zip(got, expected, strict=True):
            assert_close(mine, theirs, rtol, atol)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)
    else:
        assert got == expected


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=IDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_parameters_after_50_steps(name: str, options: dict[str, Any], dtype: str) -> None:
    got, expected = (Problem(lib, name, options, dtype).run().values() for lib in (tenfold, torch))
    # mu_product and eta are float32 in PyTorch whatever the parameters' dtype. Muon's direction is bfloat16: where a sum is
    # near the middle of two, the order of its terms decides, and a step differs by lr / 512 (2e-6 for the default lr).
    single = dtype == "float32" or name == "Muon"
    tolerance = 2e-5 if single else 1e-6 if name in ("NAdam", "ASGD") else 1e-10
    assert_close(got, expected, rtol=tolerance, atol=tolerance / 10)


@pytest.mark.parametrize(("name", "options"), REAL_AND_IMAGINARY, ids=[f"{n}-{'-'.join(o)}" for n, o in REAL_AND_IMAGINARY])
def test_complex_parameters(name: str, options: dict[str, Any]) -> None:
    options = {key: value for key, value in options.items() if key not in ("fused", "foreach")}
    problems = [Problem(lib, name, options, "complex64").run() for lib in (tenfold, torch)]
    assert_close(problems[0].values(), problems[1].values())
    assert_close(problems[0].optimizer.state_dict()["state"], problems[1].optimizer.state_dict()["state"])


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=IDS)
def test_state_dict_is_the_same(name: str, options: dict[str, Any]) -> None:
    for steps in (0, 3):
        mine, theirs = (Problem(lib, name, options).run(steps).optimizer for lib in (tenfold, torch))
        assert_close(mine.state_dict(), theirs.state_dict())
        assert repr(mine) == repr(theirs)


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=IDS)
def test_checkpoints_move_in_both_directions(name: str, options: dict[str, Any]) -> None:
    straight = Problem(torch, name, options).run(20).values()
    for first, second in ((tenfold, torch), (torch, tenfold)):
        before = Problem(first, name, options).run(10)
        after = Problem(second, name, options).run(10)  # the same place in the sequence of gradients
        after.optimizer = getattr(second.optim, name)(after.params)
        after.optimizer.load_state_dict(to(second, before.optimizer.state_dict()))
        assert_close(after.run(10).values(), straight)


WRONG: list[tuple[str, dict[str, Any]]] = [
    *[(name, {"lr": -1}) for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adamax", "NAdam", "RAdam", "ASGD")],
    *[(name, {"lr": -1}) for name in ("Adadelta", "Rprop", "Adafactor", "Muon", "LBFGS", "SparseAdam")],
    *[(name, {"weight_decay": -1}) for name in ("SGD", "Adam", "RMSprop", "Adagrad", "Adamax", "NAdam", "RAdam", "ASGD")],
    *[(name, {"eps": -1}) for name in ("Adam", "RMSprop", "Adagrad", "Adamax", "NAdam", "RAdam", "Adadelta")],
    *[(name, {"betas": (1.0, 0.9)}) for name in ("Adam", "Adamax", "NAdam", "RAdam", "SparseAdam")],
    ("Adam", {"betas": (0.9, -0.1)}),
    ("SGD", {"momentum": -1}),
    ("SGD", {"nesterov": True}),
    ("SGD", {"nesterov": True, "momentum": 0.9, "dampening": 0.1}),
    ("SGD", {"fused": True, "foreach": True}),
    ("Adam", {"fused": True, "differentiable": True}),
    ("RMSprop", {"momentum": -1}),
    ("RMSprop", {"alpha": -1}),
    ("Adagrad", {"lr_decay": -1}),
    ("Adagrad", {"initial_accumulator_value": -1}),
    ("Adadelta", {"rho": 1.5}),
    ("NAdam", {"momentum_decay": -1}),
    ("Rprop", {"etas": (1.1, 1.2)}),
    ("Adafactor", {"d": 0.5}),
    ("Adafactor", {"beta2_decay": 0.5}),
    ("Adafactor", {"eps": (-1, 1)}),
    ("Adafactor", {"eps": (None, -1)}),
    ("Muon", {"momentum": -1}),
    ("Muon", {"adjust_lr_fn": "none"}),
    ("SparseAdam", {"lr": 0}),
    ("SparseAdam", {"eps": 0}),
]


@pytest.mark.parametrize(("name", "options"), WRONG, ids=[f"{name}-{options}" for name, options in WRONG])
def test_wrong_options_raise_the_same(name: str, options: dict[str, Any]) -> None:
    errors = []
    for lib in (tenfold, torch):
        with pytest.raises((ValueError, RuntimeError)) as caught:
            getattr(lib.optim, name)([lib.ones(2, 2, requires_grad=True)], **options)
        errors.append((caught.type, str(caught.value)))
    assert errors[0] == errors[1]


LBFGS: list[dict[str, Any]] = [
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "max_iter": 3, "history_size": 2},
    {"line_search_fn": "strong_wolfe", "max_iter": 10, "max_eval": 5},
    {"lr": 0.001, "max_iter": 5},
    {"lr": 0.01, "max_iter": 3},
]


def minimize_rosenbrock(lib: Any, options: dict[str, Any]) -> tuple[list[float], Any, Any]:
    x = lib.tensor([-1.2, 1.0], dtype=lib.float64, requires_grad=True)
    scale = lib.tensor(0.5, dtype=lib.float64, requires_grad=True)
    optimizer = lib.optim.LBFGS([x, scale], **options)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2 + (scale * x[0]) ** 2
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(8)]
    return losses, x.tolist(), optimizer


@pytest.mark.parametrize("options", LBFGS, ids=str)
def test_lbfgs(options: dict[str, Any]) -> None:
    mine, theirs = (minimize_rosenbrock(lib, options) for lib in (tenfold, torch))
    np.testing.assert_allclose(mine[0], theirs[0], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(mine[1], theirs[1], rtol=1e-8)
    states = [run[2].state_dict()["state"][0] for run in (mine, theirs)]
    assert set(states[0]) == set(states[1])
    for count in ("func_evals", "n_iter"):
        assert states[0][count] == states[1][count]


@pytest.mark.parametrize(
    ("name", "options"), [("SparseAdam", {"lr": 0.1}), ("Adagrad", {"lr": 0.1, "lr_decay": 0.1}), ("SGD", {"lr": 0.1})]
)
@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_sparse_gradients(name: str, options: dict[str, Any]) -> None:
    pytest.importorskip("tenfold.sparse", reason="sparse layouts are a package of their own")
    results = []
    for lib in (tenfold, torch):
        random = np.random.default_rng(1)
        param = lib.tensor(random.normal(size=(6, 2)).tolist(), requires_grad=True)
        optimizer = getattr(lib.optim, name)([param], **options)
        for _ in range(10):
            rows = random.integers(0, 6, size=4)  # with repeats, which coalesce
            values = random.normal(size=(4, 2)).tolist()
            param.grad = lib.sparse_coo_tensor(lib.tensor([rows.tolist()]), lib.tensor(values), (6, 2))
            optimizer.step()
        results.append(param.tolist())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5, atol=1e-6)


def test_sparse_adam_takes_no_complex_parameters() -> None:
    for lib in (torch, tenfold):
        with pytest.raises(ValueError, match=r"\[\[0, 1\]\]: SparseAdam does not support complex parameters"):
            lib.optim.SparseAdam([lib.ones(1, requires_grad=True), lib.ones(1, dtype=lib.complex64, requires_grad=True)])


@pytest.mark.parametrize(
    ("name", "options"), [("Adam", {"amsgrad": True}), ("AdamW", {}), ("Adagrad", {}), ("SGD", {"momentum": 0.9})]
)
def test_fused_steps_of_half_precision_are_computed_in_float32(name: str, options: dict[str, Any]) -> None:
    """Squares of large gradients, and an eps that float16 does not have, gave inf and nan."""
    found = []
    for m in (torch, tenfold):
        parameter = m.from_numpy(np.linspace(-1, 1, 7)).to(m.float16).requires_grad_()
        optimizer = getattr(m.optim, name)([parameter], lr=0.01, fused=True, **options)
        for scale in (1e-5, 300.0, 1.0):
            parameter.grad = m.from_numpy(np.linspace(-2, 2, 7) * scale).to(m.float16)
            optimizer.step()
        state = optimizer.state[parameter]
        found.append([parameter.detach(), *(state[key] for key in sorted(state) if key != "step")])
    for expected, ours in zip(*found, strict=True):
        assert str(ours.dtype).endswith("float16")
        np.testing.assert_allclose(ours.numpy(), expected.numpy(), rtol=2e-3, atol=1e-7)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "Adagrad", "SGD"])
def test_fused_steps_take_no_complex_parameters(name: str) -> None:
    for m in (torch, tenfold):
        parameter = m.ones(2, dtype=m.complex64, requires_grad=True)
        parameter.grad = m.ones(2, dtype=m.complex64)
        optimizer = getattr(m.optim, name)([parameter], lr=0.1, fused=True)
        with pytest.raises(RuntimeError, match="requires all the params to be floating point"):
            optimizer.step()
