"""Distributions beside SciPy's, beside their own samples, and what users do: subclasses, validation, training with samples."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold import distributions as D
from tenfold.distributions import constraints

stats = pytest.importorskip("scipy.stats")
special = pytest.importorskip("scipy.special")


def t(value: Any) -> Any:
    return tenfold.tensor(value, dtype=tenfold.float64)


SCIPY: dict[str, tuple[Any, Any]] = {
    "Beta": (D.Beta(t([0.5, 2.0]), t([3.0, 0.7])), lambda: stats.beta([0.5, 2.0], [3.0, 0.7])),
    "Cauchy": (D.Cauchy(t([1.0]), t([0.3])), lambda: stats.cauchy([1.0], [0.3])),
    "Chi2": (D.Chi2(t([3.0])), lambda: stats.chi2([3.0])),
    "Exponential": (D.Exponential(t([3.0])), lambda: stats.expon(scale=[1 / 3.0])),
    "FisherSnedecor": (D.FisherSnedecor(t([3.0]), t([9.0])), lambda: stats.f([3.0], [9.0])),
    "Gamma": (D.Gamma(t([0.3, 9.0]), t([2.0, 0.5])), lambda: stats.gamma([0.3, 9.0], scale=[0.5, 2.0])),
    "GeneralizedPareto": (
        D.GeneralizedPareto(t([0.0, 1.0, 0.0]), t([1.0, 2.0, 1.0]), t([-0.4, 0.3, 0.0])),
        lambda: stats.genpareto([-0.4, 0.3, 0.0], [0.0, 1.0, 0.0], [1.0, 2.0, 1.0]),
    ),
    "Gumbel": (D.Gumbel(t([1.0]), t([0.3])), lambda: stats.gumbel_r([1.0], [0.3])),
    "HalfCauchy": (D.HalfCauchy(t([0.3])), lambda: stats.halfcauchy(scale=[0.3])),
    "HalfNormal": (D.HalfNormal(t([0.3])), lambda: stats.halfnorm(scale=[0.3])),
    "InverseGamma": (D.InverseGamma(t([3.3]), t([2.0])), lambda: stats.invgamma([3.3], scale=[2.0])),
    "Laplace": (D.Laplace(t([1.0]), t([0.3])), lambda: stats.laplace([1.0], [0.3])),
    "LogNormal": (D.LogNormal(t([1.0]), t([0.3])), lambda: stats.lognorm([0.3], scale=np.exp([1.0]))),
    "Normal": (D.Normal(t([1.0]), t([0.3])), lambda: stats.norm([1.0], [0.3])),
    "Pareto": (D.Pareto(t([2.0]), t([4.5])), lambda: stats.pareto([4.5], scale=[2.0])),
    "StudentT": (D.StudentT(t([4.5]), t([1.0]), t([2.0])), lambda: stats.t([4.5], [1.0], [2.0])),
    "Uniform": (D.Uniform(t([1.0]), t([4.0])), lambda: stats.uniform([1.0], [3.0])),
    "VonMises": (D.VonMises(t([0.3, 0.0]), t([2.0, 300.0])), lambda: stats.vonmises([2.0, 300.0], [0.3, 0.0])),
    "Weibull": (D.Weibull(t([2.0]), t([1.5])), lambda: stats.weibull_min([1.5], scale=[2.0])),
}


@pytest.mark.parametrize("name", SCIPY)
def test_densities_and_moments(name: str) -> None:
    ours, theirs = SCIPY[name][0], SCIPY[name][1]()
    tenfold.manual_seed(0)
    value = ours.sample((50,))
    np.testing.assert_allclose(ours.log_prob(value).numpy(), theirs.logpdf(value.numpy()), rtol=1e-9, atol=1e-10)
    if name in ("Cauchy", "HalfCauchy", "VonMises"):
        return
    np.testing.assert_allclose(ours.mean.numpy(), theirs.mean(), rtol=1e-9)
    np.testing.assert_allclose(ours.variance.numpy(), theirs.var(), rtol=1e-9)
    try:
        entropy = ours.entropy()
    except NotImplementedError:
        return
    np.testing.assert_allclose(entropy.numpy(), theirs.entropy(), rtol=1e-7)


@pytest.mark.parametrize("name", SCIPY)
def test_samples_have_the_distribution(name: str) -> None:
    ours, theirs = SCIPY[name][0], SCIPY[name][1]()
    tenfold.manual_seed(1)
    value = ours.sample((4000,)).numpy()
    for column in range(value.shape[1]):
        quantiles = np.sort(theirs.cdf(value)[:, column])
        assert np.abs(quantiles - (np.arange(4000) + 0.5) / 4000).max() < 1.95 / np.sqrt(4000)  # Kolmogorov, 0.1 %


@pytest.mark.parametrize("name", SCIPY)
def test_cdf_and_quantile(name: str) -> None:
    ours, theirs = SCIPY[name][0], SCIPY[name][1]()
    shares = t([[0.01], [0.3], [0.5], [0.95]])
    try:
        value = ours.icdf(shares)
    except (NotImplementedError, TypeError):
        return
    np.testing.assert_allclose(value.numpy(), theirs.ppf(shares.numpy()), rtol=1e-9)
    np.testing.assert_allclose(ours.cdf(value).numpy(), np.broadcast_to(shares.numpy(), value.shape), rtol=1e-9)


DISCRETE: dict[str, tuple[Any, Any]] = {
    "Bernoulli": (D.Bernoulli(t(0.3)), lambda: stats.bernoulli(0.3)),
    "Binomial": (D.Binomial(12, t(0.3)), lambda: stats.binom(12, 0.3)),
    "Geometric": (D.Geometric(t(0.3)), lambda: stats.geom(0.3, loc=-1)),
    "NegativeBinomial": (D.NegativeBinomial(t(3.5), t(0.3)), lambda: stats.nbinom(3.5, 0.7)),
    "Poisson": (D.Poisson(t(3.5)), lambda: stats.poisson(3.5)),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_probabilities(name: str) -> None:
    ours, theirs = DISCRETE[name][0], DISCRETE[name][1]()
    value = tenfold.arange(2 if name == "Bernoulli" else 12).to(tenfold.float64)
    np.testing.assert_allclose(ours.log_prob(value).numpy(), theirs.logpmf(value.numpy()), rtol=1e-9)
    assert abs(ours.mean.item() - theirs.mean()) < 1e-9
    assert abs(ours.variance.item() - theirs.var()) < 1e-9
    tenfold.manual_seed(0)
    counts = np.bincount(ours.sample((20000,)).numpy().astype(int), minlength=12)[: len(value)]
    expected = 20000 * theirs.pmf(value.numpy())
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected) + 3).all()


def test_kumaraswamy_mode_and_entropy() -> None:
    """The greatest density on a grid, and the integral of -p log p."""
    kumaraswamy = D.Kumaraswamy(t([2.0, 3.0]), t([3.0, 1.5]))
    x = tenfold.linspace(0, 1, 20001, dtype=tenfold.float64)[1:-1].unsqueeze(-1)
    log_prob = kumaraswamy.log_prob(x)
    np.testing.assert_allclose(kumaraswamy.mode.numpy(), x[log_prob.argmax(0)].squeeze(-1).numpy(), atol=1e-4)
    integral = -(log_prob.exp() * log_prob).sum(0) / 20000
    np.testing.assert_allclose(kumaraswamy.entropy().numpy(), integral.numpy(), atol=1e-3)


@pytest.mark.parametrize(
    ("make", "cdf"),
    [
        (lambda a: D.Gamma(a, t(1.0)), lambda x, a: special.gammainc(a, x)),
        (lambda a: D.Chi2(a), lambda x, a: special.gammainc(a / 2, x / 2)),
        (lambda a: D.Beta(a, t(2.0)), lambda x, a: special.betainc(a, 2.0, x)),
        (lambda a: D.Beta(t(2.0), a), lambda x, a: special.betainc(2.0, a, x)),
    ],
)
@pytest.mark.parametrize("a", [0.2, 1.0, 3.0, 50.0])
def test_gradients_of_samples_are_those_of_quantiles(make: Any, cdf: Any, a: float) -> None:
    """dx/da = -(dF/da) / p, the first by central differences of SciPy's function."""
    tenfold.manual_seed(3)
    parameter = t([a] * 20).requires_grad_()
    distribution = make(parameter)
    sample = distribution.rsample()
    sample.sum().backward()
    x, h = sample.detach().numpy(), 1e-4 * a
    density = np.exp(distribution.log_prob(sample.detach()).detach().numpy())
    expected = -(cdf(x, a + h) - cdf(x, a - h)) / (2 * h) / density
    np.testing.assert_allclose(parameter.grad.numpy(), expected, rtol=1e-4, atol=1e-9)


def test_gradient_of_a_dirichlet_mean() -> None:
    """The mean of samples' gradients is the gradient of the mean: (delta_ij - m_i) / total."""
    tenfold.manual_seed(0)
    a = t([0.7, 1.5, 4.0]).requires_grad_()
    D.Dirichlet(a).rsample((20000,))[:, 0].mean().backward()
    mean = 0.7 / 6.2
    np.testing.assert_allclose(a.grad.numpy(), np.array([1 - mean, -mean, -mean]) / 6.2, atol=4e-3)


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64])
def test_extreme_parameters(dtype: Any) -> None:
    def wide(*values: float) -> Any:
        return tenfold.tensor(values, dtype=dtype)

    assert D.Gamma(wide(1e-8, 1e8), 1.0).sample((20,)).isfinite().all()
    assert (D.Gamma(wide(1e-8), 1.0).sample((20,)) > 0).all()
    beta = D.Beta(wide(1e-6, 1e6), wide(1e-6, 1e6)).sample((20,))
    assert ((beta > 0) & (beta < 1)).all()
    assert D.Dirichlet(wide(1e-8, 1e-8, 1e-8)).sample((5,)).isfinite().all()
    assert D.VonMises(wide(0.0), wide(1e-8)).sample((20,)).isfinite().all()
    assert D.VonMises(wide(0.0), wide(1e6)).log_prob(wide(0.0)).isfinite().all()
    assert D.Bernoulli(logits=wide(-1e4, 1e4)).log_prob(wide(0.0, 1.0)).tolist() == [0.0, 0.0]
    assert D.Binomial(10, wide(0.0, 1.0)).sample((3,)).tolist() == [[0.0, 10.0]] * 3
    assert D.Poisson(wide(0.0)).log_prob(wide(0.0)).tolist() == [0.0]
    assert D.Categorical(wide(0.0, 1.0)).entropy().isfinite().all()
    assert D.Normal(wide(0.0), wide(1e-15)).log_prob(wide(0.0)).isfinite().all()
    assert D.Normal(tenfold.empty(0, dtype=dtype), 1.0).sample((3,)).shape == (3, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: D.Normal(0.0, -1.0),
            r"Expected parameter scale \(Tensor of shape \(\)\) of distribution Normal\(loc: 0.0, scale: -1.0\)",
        ),
        (lambda: D.Normal(0.0, 1.0).log_prob(1.0), "The value argument to log_prob must be a Tensor"),
        (lambda: D.Normal(t([0.0, 1.0]), 1.0).log_prob(t([0.0] * 3)), "Value is not broadcastable with batch_shape"),
        (lambda: D.Beta(1.0, 1.0).log_prob(t(2.0)), "to be within the support"),
        (lambda: D.Dirichlet(t([1.0, 1.0])).log_prob(t([0.2, 0.3, 0.5])), "The right-most size of value must match event_shape"),
        (lambda: D.Bernoulli(), "Either `probs` or `logits` must be specified, but not both."),
        (lambda: D.Bernoulli(probs=0.5, logits=0.5), "Either `probs` or `logits` must be specified, but not both."),
        (lambda: D.Geometric(t(0.0)), "to be positive but found invalid values"),
        (lambda: D.Normal("a", 1.0), "Input arguments must all be instances of Number"),
        (lambda: D.LKJCholesky(1), "Expected dim to be an integer greater than or equal to 2"),
        (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [D.StickBreakingTransform()]), "shape with size at least 1"),
    ],
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_validation_can_be_switched_off() -> None:
    assert D.Normal(0.0, -1.0, validate_args=False).scale.item() == -1
    D.Distribution.set_default_validate_args(False)
    try:
        assert D.Normal(0.0, -1.0).scale.item() == -1
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match=r"^$"):
        D.Distribution.set_default_validate_args(3)  # type: ignore[arg-type]  # the point


class Triangular(D.Distribution):
    """A user's distribution: the sum of two uniform ones, between low - 1 and low + 1."""

    arg_constraints = {"low": constraints.real}  # noqa: RUF012  as users write it
    has_rsample = True

    def __init__(self, low: Any, validate_args: bool | None = None) -> None:
        (self.low,) = D.utils.broadcast_all(low)
        super().__init__(self.low.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.low + 2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.low + tenfold.rand((2, *self._extended_shape(sample_shape))).sum(0)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return (1 - (value - self.low - 1).abs()).log()


def test_a_users_distribution() -> None:
    low = tenfold.zeros(3, requires_grad=True)
    distribution = D.Independent(Triangular(low), 1)
    sample = distribution.rsample((4,))
    assert sample.requires_grad
    assert distribution.log_prob(sample).shape == (4,)
    assert repr(Triangular(low)) == "Triangular(low: tenfold.Size([3]))"
    with pytest.raises(ValueError, match="within the support"):
        distribution.log_prob(tenfold.full((3,), 5.0))
    with pytest.raises(NotImplementedError):
        distribution.expand((2,))


class Scale(D.Transform):
    """A user's transform with a state."""

    domain = constraints.real
    codomain = constraints.real
    bijective = True
    sign = +1

    def __init__(self, factor: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.factor = factor

    def _call(self, x: Any) -> Any:
        return x * self.factor

    def _inverse(self, y: Any) -> Any:
        return y / self.factor

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return tenfold.log(self.factor) * tenfold.ones_like(x)


def test_a_users_transform() -> None:
    distribution = D.TransformedDistribution(D.Normal(t(0.0), t(1.0)), [Scale(t(3.0)), D.AffineTransform(1.0, 1.0)])
    value = t([0.0, 2.0, -1.0])
    np.testing.assert_allclose(distribution.log_prob(value).numpy(), D.Normal(t(1.0), t(3.0)).log_prob(value).numpy())
    np.testing.assert_allclose(distribution.cdf(value).numpy(), D.Normal(t(1.0), t(3.0)).cdf(value).numpy())


def test_subclasses_have_to_write_expand() -> None:
    class Unit(D.Normal):
        def __init__(self, loc: Any) -> None:
            super().__init__(loc, 1.0)

    with pytest.raises(NotImplementedError, match="Subclass Unit of Normal that defines a custom __init__"):
        Unit(0.0).expand((2,))


def test_samples_on_the_meta_device() -> None:
    normal = D.Normal(tenfold.zeros(2, device="meta"), tenfold.ones(2, device="meta"), validate_args=False)
    assert normal.rsample((3,)).device.type == "meta"


def test_reinforce_learns_the_better_arm() -> None:
    tenfold.manual_seed(0)
    logits = tenfold.zeros(3, requires_grad=True)
    reward = tenfold.tensor([0.1, 1.0, 0.3])
    for _ in range(60):
        policy = D.Categorical(logits=logits)
        action = policy.sample((32,))
        loss = -(policy.log_prob(action) * (reward[action] - 0.4)).mean()
        (gradient,) = tenfold.autograd.grad(loss, [logits])
        logits = (logits - gradient).detach().requires_grad_()
    assert D.Categorical(logits=logits).mode.item() == 1


def test_variational_inference_finds_the_posterior() -> None:
    """A gamma posterior of a Poisson rate, by gradients through gamma samples."""
    tenfold.manual_seed(0)
    data, prior = t([3.0, 5.0, 4.0, 2.0]), D.Gamma(t(2.0), t(1.0))
    raw = t([1.0, 0.0]).requires_grad_()
    for step in range(400):
        q = D.Gamma(*raw.exp())
        rate = q.rsample((32,))
        loss = -(D.Poisson(rate.unsqueeze(-1)).log_prob(data).sum(-1) + prior.log_prob(rate)).mean() - q.entropy()
        (gradient,) = tenfold.autograd.grad(loss, [raw])
        raw = (raw - 0.02 / (1 + step / 50) * gradient).detach().requires_grad_()
    assert abs(D.Gamma(*raw.exp()).mean.item() - 16 / 5) < 0.15  # Gamma(2 + 14, 1 + 4)


def test_import_is_lazy() -> None:
    code = "import sys, tenfold; assert 'tenfold.distributions' not in sys.modules; tenfold.distributions.Normal(0.0, 1.0)"
    assert importlib.util.find_spec("tenfold.distributions")
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_halves_take_a_probability_by_its_name() -> None:
    half = tenfold.tensor(0.5)
    for kind, median in ((D.HalfNormal, 0.67449), (D.HalfCauchy, 1.0)):
        assert kind(1.0).icdf(prob=half).item() == pytest.approx(median, abs=1e-4)
