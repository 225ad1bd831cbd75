"""Divergences of distributions of different classes; `kl` holds the table they are entered into."""
import math

from dragon.vm import torch
from dragon.vm.torch.distributions.bernoulli import Bernoulli
from dragon.vm.torch.distributions.beta import Beta
from dragon.vm.torch.distributions.binomial import Binomial
from dragon.vm.torch.distributions.continuous_bernoulli import ContinuousBernoulli
from dragon.vm.torch.distributions.exponential import Exponential
from dragon.vm.torch.distributions.gamma import Gamma
from dragon.vm.torch.distributions.gumbel import Gumbel
from dragon.vm.torch.distributions.kl import _infinite_like, _x_log_x, register_kl
from dragon.vm.torch.distributions.laplace import Laplace
from dragon.vm.torch.distributions.normal import Normal
from dragon.vm.torch.distributions.pareto import Pareto
from dragon.vm.torch.distributions.poisson import Poisson
from dragon.vm.torch.distributions.uniform import Uniform
from dragon.vm.torch.distributions.utils import euler_constant

# Pairs of different classes: where one gives probability to what the other excludes, the divergence is infinite.
INFINITE = [
    (Beta, Pareto, "concentration1"), (Exponential, Beta, "rate"), (Exponential, Pareto, "rate"),
    (Exponential, Uniform, "rate"), (Gamma, Beta, "concentration"), (Gamma, Pareto, "concentration"),
    (Gamma, Uniform, "concentration"), (Gumbel, Beta, "loc"), (Gumbel, Exponential, "loc"), (Gumbel, Gamma, "loc"),
    (Gumbel, Pareto, "loc"), (Gumbel, Uniform, "loc"), (Laplace, Beta, "loc"), (Laplace, Exponential, "loc"),
    (Laplace, Gamma, "loc"), (Laplace, Pareto, "loc"), (Laplace, Uniform, "loc"), (Normal, Beta, "loc"),
    (Normal, Exponential, "loc"), (Normal, Gamma, "loc"), (Normal, Pareto, "loc"), (Normal, Uniform, "loc"),
    (Pareto, Beta, "scale"), (Pareto, Uniform, "scale"), (Poisson, Bernoulli, "rate"), (Poisson, Binomial, "rate"),
    (ContinuousBernoulli, Pareto, "probs"), (Exponential, ContinuousBernoulli, "rate"),
    (Gamma, ContinuousBernoulli, "concentration"), (Gumbel, ContinuousBernoulli, "loc"),
    (Laplace, ContinuousBernoulli, "loc"), (Normal, ContinuousBernoulli, "loc"),
    (Pareto, ContinuousBernoulli, "scale"),
]


def _enter_infinite():
    for first, second, name in INFINITE:
        register_kl(first, second)(lambda p, q, name=name: _infinite_like(getattr(p, name)))


_enter_infinite()


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p, q):
    return -p.entropy() - p.mean * q.logits - torch.log1p(-q.probs) - q._cont_bern_log_norm()


@register_kl(Beta, Exponential)
def _beta_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * (p.concentration1 / (p.concentration1 + p.concentration0))


@register_kl(Beta, Gamma)
def _beta_gamma(p, q):
    total = p.concentration1 + p.concentration0
    t2 = q.concentration.lgamma() - q.concentration * q.rate.log()
    t3 = (q.concentration - 1) * (p.concentration1.digamma() - total.digamma())
    return -p.entropy() + t2 - t3 + q.rate * p.concentration1 / total


@register_kl(Beta, Normal)
def _beta_normal(p, q):
    mean = p.concentration1 / (p.concentration1 + p.concentration0)
    variance = q.scale.pow(2)
    t2 = 0.5 * (variance * 2 * math.pi).log()
    t3 = (mean * (1 - mean) / (p.concentration1 + p.concentration0 + 1) + mean.pow(2)) * 0.5
    return -p.entropy() + t2 + (t3 - mean * q.loc + q.loc.pow(2) * 0.5) / variance


@register_kl(Beta, Uniform)
def _beta_uniform(p, q):
    result = -p.entropy() + (q.high - q.low).log()
    result[(q.low > p.support.lower_bound) | (q.high < p.support.upper_bound)] = torch.inf
    return result


@register_kl(ContinuousBernoulli, Exponential)
def _continuous_bernoulli_exponential(p, q):
    return -p.entropy() - torch.log(q.rate) + q.rate * p.mean


@register_kl(ContinuousBernoulli, Normal)
def _continuous_bernoulli_normal(p, q):
    t2 = 0.5 * (math.log(2.0 * math.pi) + torch.square(q.loc / q.scale)) + torch.log(q.scale)
    t3 = (p.variance + torch.square(p.mean) - 2.0 * q.loc * p.mean) / (2.0 * torch.square(q.scale))
    return -p.entropy() + t2 + t3


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p, q):
    result = -p.entropy() + (q.high - q.low).log()
    outside = torch.max(torch.ge(q.low, p.support.lower_bound), torch.le(q.high, p.support.upper_bound))
    return torch.where(outside, torch.ones_like(result) * torch.inf, result)


@register_kl(Exponential, Gamma)
def _exponential_gamma(p, q):
    ratio = q.rate / p.rate
    t1 = -q.concentration * torch.log(ratio)
    return (t1 + ratio + q.concentration.lgamma() + q.concentration * euler_constant - (1 + euler_constant))


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p, q):
    product, standardized = p.rate * q.scale, q.loc / q.scale
    t1 = product.log() - 1
    t2 = standardized.exp() * (product / (product + 1))
    return t1 - standardized + t2 + product.reciprocal()


@register_kl(Exponential, Normal)
def _exponential_normal(p, q):
    variance, square = q.scale.pow(2), p.rate.pow(2)
    t1 = 0.5 * torch.log(square * variance * 2 * math.pi)
    return t1 - 1 + (square.reciprocal() - q.loc / p.rate + q.loc.pow(2) * 0.5) / variance


@register_kl(Gamma, Exponential)
def _gamma_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p, q):
    product, standardized = p.rate * q.scale, q.loc / q.scale
    t1 = ((p.concentration - 1) * p.concentration.digamma() - p.concentration.lgamma() - p.concentration)
    t2 = product.log() + p.concentration / product
    t3 = torch.exp(standardized) * (1 + product.reciprocal()).pow(-p.concentration) - standardized
    return t1 + t2 + t3


@register_kl(Gamma, Normal)
def _gamma_normal(p, q):
    variance, square = q.scale.pow(2), p.rate.pow(2)
    t1 = 0.5 * torch.log(square * variance * 2 * math.pi) - p.concentration - p.concentration.lgamma()
    t2 = (p.concentration - 1) * p.concentration.digamma()
    t3 = (0.5 * (p.concentration.pow(2) + p.concentration) / square - q.loc * p.concentration / p.rate
          + 0.5 * q.loc.pow(2))
    return t1 + t2 + t3 / variance


@register_kl(Gumbel, Normal)
def _gumbel_normal(p, q):
    ratio = p.scale / q.scale
    t1 = (ratio / math.sqrt(2 * math.pi)).log()
    t2 = (math.pi * ratio * 0.5).pow(2) / 3
    t3 = ((p.loc + p.scale * euler_constant - q.loc) / q.scale).pow(2) * 0.5
    return -t1 + t2 + t3 - (euler_constant + 1)


@register_kl(Laplace, Normal)
def _laplace_normal(p, q):
    variance = q.scale.pow(2)
    square = p.scale.pow(2) / variance
    t1 = 0.5 * torch.log(2 * square / math.pi)
    return -t1 + square + 0.5 * p.loc.pow(2) / variance - p.loc * q.loc / variance + 0.5 * q.loc.pow(2) / variance - 1


@register_kl(Normal, Gumbel)
def _normal_gumbel(p, q):
    mean, square, loc = p.loc / q.scale, (p.scale / q.scale).pow(2), q.loc / q.scale
    return -torch.log(p.scale / q.scale) + mean - loc + torch.exp(-mean + 0.5 * square + loc) - (
        0.5 * (1 + math.log(2 * math.pi)))


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    distance = p.loc - q.loc
    ratio, standardized = p.scale / q.scale, distance / p.scale
    t2 = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * standardized.pow(2))
    t3 = distance * torch.erf(math.sqrt(0.5) * standardized)
    return -torch.log(ratio) + (t2 + t3) / q.scale - (0.5 * (1 + math.log(0.5 * math.pi)))


@register_kl(Pareto, Exponential)
def _pareto_exponential(p, q):
    product = p.scale * q.rate
    result = (p.alpha / product).log() - p.alpha.reciprocal() + p.alpha * product / (p.alpha - 1) - 1
    result[p.alpha <= 1] = torch.inf
    return result


@register_kl(Pareto, Gamma)
def _pareto_gamma(p, q):
    common = p.scale.log() + p.alpha.reciprocal()
    t1 = p.alpha.log() - common
    t2 = q.concentration.lgamma() - q.concentration * q.rate.log()
    t3 = (1 - q.concentration) * common
    result = t1 + t2 + t3 + q.rate * p.alpha * p.scale / (p.alpha - 1) - 1
    result[p.alpha <= 1] = torch.inf
    return result


@register_kl(Pareto, Normal)
def _pareto_normal(p, q):
    variance, less = 2 * q.scale.pow(2), p.scale / (p.alpha - 1)
    t1 = (math.sqrt(2 * math.pi) * q.scale * p.alpha / p.scale).log()
    t3 = p.alpha * less.pow(2) / (p.alpha - 2)
    result = t1 - p.alpha.reciprocal() + (t3 + (p.alpha * less - q.loc).pow(2)) / variance - 1
    result[p.alpha <= 2] = torch.inf
    return result


@register_kl(Uniform, Beta)
def _uniform_beta(p, q):
    common = p.high - p.low
    t1 = torch.log(common)
    t2 = (q.concentration1 - 1) * (_x_log_x(p.high) - _x_log_x(p.low) - common) / common
    t3 = (q.concentration0 - 1) * (_x_log_x(1 - p.high) - _x_log_x(1 - p.low) + common) / common
    t4 = q.concentration1.lgamma() + q.concentration0.lgamma() - (q.concentration1 + q.concentration0).lgamma()
    result = t3 + t4 - t1 - t2
    result[(p.high > q.support.upper_bound) | (p.low < q.support.lower_bound)] = torch.inf
    return result


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p, q):
    result = -p.entropy() - p.mean * q.logits - torch.log1p(-q.probs) - q._cont_bern_log_norm()
    outside = torch.max(torch.ge(p.high, q.support.upper_bound), torch.le(p.low, q.support.lower_bound))
    return torch.where(outside, torch.ones_like(result) * torch.inf, result)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p, q):
    result = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    result[p.low < q.support.lower_bound] = torch.inf
    return result


@register_kl(Uniform, Gamma)
def _uniform_gamma(p, q):
    common = p.high - p.low
    t1 = common.log()
    t2 = q.concentration.lgamma() - q.concentration * q.rate.log()
    t3 = (1 - q.concentration) * (_x_log_x(p.high) - _x_log_x(p.low) - common) / common
    result = -t1 + t2 + t3 + q.rate * (p.high + p.low) / 2
    result[p.low < q.support.lower_bound] = torch.inf
    return result


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p, q):
    common = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return common.log() + 0.5 * (high + low) - common * (torch.exp(-high) - torch.exp(-low))


@register_kl(Uniform, Normal)
def _uniform_normal(p, q):
    common = p.high - p.low
    t1 = (math.sqrt(math.pi * 2) * q.scale / common).log()
    t2 = common.pow(2) / 12
    t3 = ((p.high + p.low - 2 * q.loc) / 2).pow(2)
    return t1 + 0.5 * (t2 + t3) / q.scale.pow(2)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p, q):
    support = p.high - p.low
    t1 = (q.alpha * q.scale.pow(q.alpha) * support).log()
    t2 = (_x_log_x(p.high) - _x_log_x(p.low) - support) / support
    result = t2 * (q.alpha + 1) - t1
    result[p.low < q.support.lower_bound] = torch.inf
    return result
