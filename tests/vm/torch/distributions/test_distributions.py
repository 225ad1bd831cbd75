"""Every distribution beside genuine PyTorch's: draws of one seed, densities, moments, entropies, forms."""
import numpy as np
import pytest
import torch

from dragon.vm import torch as dragon_torch
from harness.subresults import each

RATES = [[0.5, 1.5, 2.5], [3.0, 0.7, 1.2]]
PROBS = [[0.2, 0.5, 0.9], [0.6, 0.3, 0.1]]
MATRIX = [[2.0, 0.5, 0.2], [0.5, 1.5, 0.3], [0.2, 0.3, 1.0]]


def cases(t):
    """Return one distribution or more for every class."""
    D, x = t.distributions, t.tensor
    rates, probs, locs, matrix = x(RATES), x(PROBS), x(RATES) - 1, x(MATRIX)
    return {
        "Bernoulli": D.Bernoulli(probs), "Bernoulli logits": D.Bernoulli(logits=locs), "Beta": D.Beta(rates, probs + 1),
        "Binomial": D.Binomial(x(7), probs), "Categorical": D.Categorical(probs),
        "Categorical logits": D.Categorical(logits=locs), "Cauchy": D.Cauchy(locs, rates), "Chi2": D.Chi2(rates),
        "ContinuousBernoulli": D.ContinuousBernoulli(probs), "Dirichlet": D.Dirichlet(rates + 1),
        "Exponential": D.Exponential(rates), "FisherSnedecor": D.FisherSnedecor(rates + 4, rates + 5),
        "Gamma": D.Gamma(rates, rates), "GeneralizedPareto": D.GeneralizedPareto(locs, rates, probs / 3),
        "Geometric": D.Geometric(probs), "Gumbel": D.Gumbel(locs, rates), "HalfCauchy": D.HalfCauchy(rates),
        "HalfNormal": D.HalfNormal(rates), "Independent": D.Independent(D.Normal(locs, rates), 1),
        "InverseGamma": D.InverseGamma(rates + 2.5, rates), "Kumaraswamy": D.Kumaraswamy(rates + 1, rates + 1),
        "LKJCholesky": D.LKJCholesky(3, x([0.5, 2.0])), "Laplace": D.Laplace(locs, rates),
        "LogNormal": D.LogNormal(locs, rates / 3), "LogisticNormal": D.LogisticNormal(locs, rates),
        "LowRankMultivariateNormal": D.LowRankMultivariateNormal(x([0.1, -1.0, 2.0]), x(MATRIX)[:, :2],
                                                                 x([0.5, 1.0, 2.0])),
        "MixtureSameFamily": D.MixtureSameFamily(D.Categorical(probs), D.Normal(locs, rates)),
        "Multinomial": D.Multinomial(5, probs), "MultivariateNormal": D.MultivariateNormal(locs, matrix),
        "MultivariateNormal precision": D.MultivariateNormal(locs, precision_matrix=matrix),
        "NegativeBinomial": D.NegativeBinomial(rates + 1, probs), "Normal": D.Normal(locs, rates),
        "Normal numbers": D.Normal(0.5, 2.0), "OneHotCategorical": D.OneHotCategorical(probs),
        "OneHotCategoricalStraightThrough": D.OneHotCategoricalStraightThrough(probs),
        "Pareto": D.Pareto(rates, rates + 2.5), "Poisson": D.Poisson(rates),
        "RelaxedBernoulli": D.RelaxedBernoulli(x(0.7), probs),
        "RelaxedOneHotCategorical": D.RelaxedOneHotCategorical(x(0.7), probs),
        "StudentT": D.StudentT(rates + 2.5, locs),
        "TransformedDistribution": D.TransformedDistribution(
            D.Normal(locs, rates), [D.AffineTransform(1.0, -2.0), D.SigmoidTransform()]),
        "Uniform": D.Uniform(locs, rates + 1), "VonMises": D.VonMises(locs, rates), "Weibull": D.Weibull(rates, rates),
        "Wishart": D.Wishart(x(4.5), matrix),
    }


THEIRS, MINE = cases(torch), cases(dragon_torch)
# Where Dragon is right and differs: PyTorch draws valid Wishart matrices again and lifts their negative entries to the
# spacing of the dtype; and takes the logarithm of a negative number for the mode of Kumaraswamy.
DIFFERENT_DRAWS = {"Wishart"}
DIFFERENT_ANSWERS = {("Kumaraswamy", "mode")}


def same(mine, theirs, rtol=2e-5, atol=1e-6):
    """Assert that two tensors hold the same numbers."""
    assert tuple(mine.shape) == tuple(theirs.shape) and str(mine.dtype) == str(theirs.dtype)
    np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), rtol, atol)


def answer(distribution, question):
    """Return what a distribution says, or the class of its refusal."""
    try:
        found = getattr(distribution, question)
        return found() if callable(found) else found
    except NotImplementedError:
        return NotImplementedError


def test_every_class_has_a_case():
    classes = {name for name in dir(torch.distributions) if isinstance(getattr(torch.distributions, name), type)
               and issubclass(getattr(torch.distributions, name), torch.distributions.Distribution)}
    assert classes - {"Distribution", "ExponentialFamily"} == {name.split()[0] for name in THEIRS}


@each("name", THEIRS)
def test_draws_and_densities(name):
    theirs, mine = THEIRS[name], MINE[name]
    torch.manual_seed(3)
    drawn = theirs.sample((4,))
    dragon_torch.manual_seed(3)
    if name in DIFFERENT_DRAWS:
        drawn = torch.tensor(mine.sample((4,)).tolist())
    else:
        same(mine.sample((4,)), drawn)
        assert torch.get_rng_state().tolist() == dragon_torch.get_rng_state().tolist()
    same(mine.log_prob(dragon_torch.from_numpy(drawn.numpy())), theirs.log_prob(drawn), 1e-4, 2e-5)
    if not callable(getattr(type(theirs), "cdf", None)):
        return
    try:
        expected = theirs.cdf(drawn)
    except (NotImplementedError, AttributeError):
        return
    same(mine.cdf(dragon_torch.from_numpy(drawn.numpy())), expected, 1e-4, 1e-5)


@each("question", ["mean", "mode", "variance", "stddev", "entropy", "perplexity",
                   "enumerate_support"])
@each("name", THEIRS)
def test_answers(name, question):
    theirs, mine = answer(THEIRS[name], question), answer(MINE[name], question)
    if theirs is NotImplementedError:
        assert mine is NotImplementedError
    elif (name, question) not in DIFFERENT_ANSWERS:
        same(mine, theirs, 1e-4, 1e-5)


@each("name", THEIRS)
def test_forms(name):
    theirs, mine = cases(torch)[name], cases(dragon_torch)[name]  # new ones: what was asked before is shown too
    assert repr(mine) == repr(theirs)
    assert mine.batch_shape == theirs.batch_shape and mine.event_shape == theirs.event_shape
    assert mine.has_rsample == theirs.has_rsample and repr(mine.support) == repr(theirs.support)
    assert mine.support.event_dim == theirs.support.event_dim
    shape = (5, *theirs.batch_shape)
    a, b = mine.expand(shape), theirs.expand(shape)
    assert a.batch_shape == b.batch_shape and type(a).__name__ == type(b).__name__
    torch.manual_seed(8)
    dragon_torch.manual_seed(8)
    if name not in DIFFERENT_DRAWS:
        same(a.sample(), b.sample())


def test_wisharts_mean():
    dragon_torch.manual_seed(0)
    wishart = MINE["Wishart"]
    np.testing.assert_allclose(wishart.sample((20000,)).mean(0).numpy(), wishart.mean.numpy(), rtol=0.03, atol=0.1)


def test_kumaraswamys_mode():
    kumaraswamy, x = MINE["Kumaraswamy"], dragon_torch.linspace(0.001, 0.999, 999).reshape(-1, 1, 1)
    likeliest = x.reshape(-1)[kumaraswamy.log_prob(x.expand(-1, 2, 3)).argmax(0)]
    np.testing.assert_allclose(kumaraswamy.mode.numpy(), likeliest.numpy(), atol=0.002)


@each("name", ["Normal", "Laplace", "Exponential", "Gumbel", "LogNormal", "MultivariateNormal",
               "Gamma", "Chi2", "StudentT"])
def test_gradients_of_draws(name):
    found = []
    for t in (torch, dragon_torch):
        rates = t.tensor(RATES, requires_grad=True)
        D = t.distributions
        make = {"Normal": lambda: D.Normal(rates - 1, rates), "Laplace": lambda: D.Laplace(rates - 1, rates),
                "Exponential": lambda: D.Exponential(rates), "Gumbel": lambda: D.Gumbel(rates - 1, rates),
                "LogNormal": lambda: D.LogNormal(rates, rates / 3), "Gamma": lambda: D.Gamma(rates, rates + 1),
                "Chi2": lambda: D.Chi2(rates), "StudentT": lambda: D.StudentT(rates, rates),
                "MultivariateNormal": lambda: D.MultivariateNormal(rates, t.tensor(MATRIX))}[name]()
        t.manual_seed(4)
        make.rsample((3,)).sum().backward()
        found.append(rates.grad)
    same(found[1], found[0], 2e-3, 1e-4)  # PyTorch approximates the gradient of gamma numbers to three digits


def test_the_dirichlets_gradient_has_the_right_mean():
    # d E[sum w x] / da is known: the mean of the Dirichlet is a / sum(a).
    dragon_torch.manual_seed(0)
    a = dragon_torch.tensor([0.7, 1.5, 2.8], dtype=dragon_torch.float64, requires_grad=True)
    w = dragon_torch.tensor([1.0, -2.0, 0.5], dtype=dragon_torch.float64)
    (dragon_torch.distributions.Dirichlet(a).rsample((20000,)) * w).sum(-1).mean().backward()
    total = a.detach().sum()
    expected = w / total - (w * a.detach()).sum() / total ** 2
    np.testing.assert_allclose(a.grad.numpy(), expected.numpy(), atol=0.01)


def pairs():
    """Yield the names of cases for which PyTorch has a divergence."""
    for p in THEIRS:
        for q in THEIRS:
            try:
                torch.distributions.kl_divergence(THEIRS[p], THEIRS[q])
            except (NotImplementedError, RuntimeError, ValueError):
                continue
            yield p, q


@each("p, q", list(pairs()))
def test_divergences(p, q):
    same(dragon_torch.distributions.kl_divergence(MINE[p], MINE[q]),
         torch.distributions.kl_divergence(THEIRS[p], THEIRS[q]), 1e-4, 2e-5)


def test_a_missing_divergence_says_so():
    with pytest.raises(NotImplementedError, match="Normal.*Cauchy"):
        dragon_torch.distributions.kl_divergence(MINE["Normal"], MINE["Cauchy"])


@each("make", [
    lambda t: t.distributions.Normal(0.0, -1.0), lambda t: t.distributions.Bernoulli(1.5),
    lambda t: t.distributions.Bernoulli(), lambda t: t.distributions.Categorical(t.tensor(1.0)),
    lambda t: t.distributions.Normal(0.0, 1.0).log_prob("a"), lambda t: t.distributions.Uniform(2.0, 1.0),
    lambda t: t.distributions.Poisson(1.0).log_prob(t.tensor(0.5)), lambda t: t.distributions.LKJCholesky(1),
    lambda t: t.distributions.MultivariateNormal(t.zeros(2)), lambda t: t.distributions.Normal("a", 1.0),
    lambda t: t.distributions.Normal(t.zeros(3), 1.0).log_prob(t.zeros(2)),
], ids=range(11))
def test_bad_arguments(make):
    with pytest.raises(Exception) as theirs:
        make(torch)
    with pytest.raises(type(theirs.value)):
        make(dragon_torch)


@pytest.mark.parametrize("t", [torch, dragon_torch], ids=["torch", "dragon"])
def test_what_expands_and_what_stays(t):
    D = t.distributions
    limits = t.tensor([0.4, 0.6])
    expanded = D.ContinuousBernoulli(t.tensor(0.3), lims=limits).expand((3,))
    assert expanded.log_prob(t.full((3,), 0.5)).shape == (3,)
    both = D.Bernoulli(t.tensor(0.3)).expand((2,))
    assert both._param is both.probs  # a tensor that has two names stays one

    class Mine(D.Distribution):
        arg_constraints = {}

    with pytest.raises(NotImplementedError):
        Mine().expand((2,))
