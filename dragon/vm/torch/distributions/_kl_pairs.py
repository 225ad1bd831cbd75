"""Divergences of two distributions of one class; `kl` holds the table they are entered into."""
from dragon.vm import torch
from dragon.vm.torch.distributions.bernoulli import Bernoulli
from dragon.vm.torch.distributions.beta import Beta
from dragon.vm.torch.distributions.binomial import Binomial
from dragon.vm.torch.distributions.categorical import Categorical
from dragon.vm.torch.distributions.cauchy import Cauchy
from dragon.vm.torch.distributions.continuous_bernoulli import ContinuousBernoulli
from dragon.vm.torch.distributions.dirichlet import Dirichlet
from dragon.vm.torch.distributions.exp_family import ExponentialFamily
from dragon.vm.torch.distributions.exponential import Exponential
from dragon.vm.torch.distributions.gamma import Gamma
from dragon.vm.torch.distributions.geometric import Geometric
from dragon.vm.torch.distributions.gumbel import Gumbel
from dragon.vm.torch.distributions.half_normal import HalfNormal
from dragon.vm.torch.distributions.independent import Independent
from dragon.vm.torch.distributions.kl import _infinite_like, kl_divergence, register_kl
from dragon.vm.torch.distributions.laplace import Laplace
from dragon.vm.torch.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal, _batch_lowrank_logdet, _batch_lowrank_mahalanobis)
from dragon.vm.torch.distributions.multivariate_normal import MultivariateNormal, _batch_mahalanobis
from dragon.vm.torch.distributions.normal import Normal
from dragon.vm.torch.distributions.one_hot_categorical import OneHotCategorical
from dragon.vm.torch.distributions.pareto import Pareto
from dragon.vm.torch.distributions.poisson import Poisson
from dragon.vm.torch.distributions.transformed_distribution import TransformedDistribution
from dragon.vm.torch.distributions.uniform import Uniform
from dragon.vm.torch.distributions.utils import _sum_rightmost, euler_constant
from dragon.vm.torch.nn.functional import softplus


def _need_one_event_shape(p, q, what):
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two {what} with different event shapes cannot be computed")


def _trace_of_product(a, b):
    """Return the trace of (a b) (a b)^T for factors of one batch."""
    return (a @ b).pow(2).sum((-2, -1))


def _trace_xxt(x):
    """Return the trace of x x^T."""
    return x.pow(2).sum((-2, -1))


@register_kl(Bernoulli, Bernoulli)
def _bernoulli_bernoulli(p, q):
    t1 = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    t1[q.probs == 0] = torch.inf
    t1[p.probs == 0] = 0
    t2 = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    t2[q.probs == 1] = torch.inf
    t2[p.probs == 1] = 0
    return t1 + t2


@register_kl(Beta, Beta)
def _beta_beta(p, q):
    total_p, total_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    t1 = q.concentration1.lgamma() + q.concentration0.lgamma() + total_p.lgamma()
    t2 = p.concentration1.lgamma() + p.concentration0.lgamma() + total_q.lgamma()
    t3 = (p.concentration1 - q.concentration1) * torch.digamma(p.concentration1)
    t4 = (p.concentration0 - q.concentration0) * torch.digamma(p.concentration0)
    return t1 - t2 + t3 + t4 + (total_q - total_p) * torch.digamma(total_p)


@register_kl(Binomial, Binomial)
def _binomial_binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    divergence = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    more = p.total_count > q.total_count
    divergence[more] = _infinite_like(divergence[more])
    return divergence


@register_kl(Categorical, Categorical)
def _categorical_categorical(p, q):
    t = p.probs * (p.logits - q.logits)
    t[(q.probs == 0).expand_as(t)] = torch.inf
    t[(p.probs == 0).expand_as(t)] = 0
    return t.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_one_hot(p, q):
    return _categorical_categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli_continuous_bernoulli(p, q):
    t1 = p.mean * (p.logits - q.logits)
    t2 = p._cont_bern_log_norm() + torch.log1p(-p.probs)
    return t1 + t2 - q._cont_bern_log_norm() - torch.log1p(-q.probs)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet_dirichlet(p, q):
    total_p, total_q = p.concentration.sum(-1), q.concentration.sum(-1)
    t1 = total_p.lgamma() - total_q.lgamma()
    t2 = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    t3 = p.concentration.digamma() - total_p.digamma().unsqueeze(-1)
    return t1 - t2 + ((p.concentration - q.concentration) * t3).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential_exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _family_family(p, q):
    if type(p) is not type(q):
        raise NotImplementedError("The cross KL-divergence between different exponential families cannot be computed "
                                  "using Bregman divergences")
    mine = [parameter.detach().requires_grad_() for parameter in p._natural_params]
    theirs, log_normalizer = q._natural_params, p._log_normalizer(*mine)
    gradients = torch.autograd.grad(log_normalizer.sum(), mine, create_graph=True)
    result = q._log_normalizer(*theirs) - log_normalizer
    for a, b, gradient in zip(mine, theirs, gradients):
        result -= _sum_rightmost((b - a) * gradient, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _gamma_gamma(p, q):
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = torch.lgamma(q.concentration) - torch.lgamma(p.concentration)
    t3 = (p.concentration - q.concentration) * torch.digamma(p.concentration)
    return t1 + t2 + t3 + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Gumbel, Gumbel)
def _gumbel_gumbel(p, q):
    ct1 = p.scale / q.scale
    ct2, ct3 = q.loc / q.scale, p.loc / q.scale
    t1 = -ct1.log() - ct2 + ct3
    t2 = ct1 * euler_constant
    t3 = torch.exp(ct2 + (1 + ct1).lgamma() - ct3)
    return t1 + t2 + t3 - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _geometric_geometric(p, q):
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normal_half_normal(p, q):
    return _normal_normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace_laplace(p, q):
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * torch.exp(-distance / p.scale) - 1


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _lowrank_lowrank(p, q):
    _need_one_event_shape(p, q, "Low Rank Multivariate Normals")
    log_dets = (_batch_lowrank_logdet(q._unbroadcasted_cov_diag, q._capacitance_tril)
                - _batch_lowrank_logdet(p._unbroadcasted_cov_diag, p._capacitance_tril))
    length = _batch_lowrank_mahalanobis(q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, q.loc - p.loc,
                                        q._capacitance_tril)
    return 0.5 * (log_dets + _lowrank_trace(q, p._unbroadcasted_cov_diag, p._unbroadcasted_cov_factor) + length
                  - p.event_shape[0])


def _lowrank_trace(q, diagonal, factor):
    """Return the trace of q's precision times a covariance, which is a diagonal and the square of a factor."""
    scaled = q._unbroadcasted_cov_factor.mT / q._unbroadcasted_cov_diag.unsqueeze(-2)
    a = torch.linalg.solve_triangular(q._capacitance_tril, scaled, upper=False)
    whole = _trace_xxt(factor * q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1)) - _trace_of_product(a, factor)
    if diagonal is None:
        return whole
    return (whole + (diagonal / q._unbroadcasted_cov_diag).sum(-1)
            - _trace_xxt(a * diagonal.sqrt().unsqueeze(-2)))


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _multivariate_lowrank(p, q):
    _need_one_event_shape(p, q, "(Low Rank) Multivariate Normals")
    log_dets = (_batch_lowrank_logdet(q._unbroadcasted_cov_diag, q._capacitance_tril)
                - 2 * p._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1))
    length = _batch_lowrank_mahalanobis(q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, q.loc - p.loc,
                                        q._capacitance_tril)
    return 0.5 * (log_dets + _lowrank_trace(q, None, p._unbroadcasted_scale_tril) + length - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _lowrank_multivariate(p, q):
    _need_one_event_shape(p, q, "(Low Rank) Multivariate Normals")
    log_dets = (2 * q._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
                - _batch_lowrank_logdet(p._unbroadcasted_cov_diag, p._capacitance_tril))
    length = _batch_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
    parts = (p._unbroadcasted_cov_factor, torch.diag_embed(p._unbroadcasted_cov_diag.sqrt()))
    traces = sum(_trace_xxt(_solve(q._unbroadcasted_scale_tril, part)) for part in parts)
    return 0.5 * (log_dets + traces + length - p.event_shape[0])


def _solve(factor, x):
    """Return the solution of triangular systems, over batches of both."""
    batch = torch.broadcast_shapes(factor.shape[:-2], x.shape[:-2])
    return torch.linalg.solve_triangular(factor.expand(batch + factor.shape[-2:]), x.expand(batch + x.shape[-2:]),
                                         upper=False)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_multivariate(p, q):
    _need_one_event_shape(p, q, "Multivariate Normals")
    half = (q._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
            - p._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1))
    trace = _trace_xxt(_solve(q._unbroadcasted_scale_tril, p._unbroadcasted_scale_tril))
    length = _batch_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
    return half + 0.5 * (trace + length - p.event_shape[-1])


@register_kl(Normal, Normal)
def _normal_normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _pareto_pareto(p, q):
    scale, alpha = p.scale / q.scale, q.alpha / p.alpha
    result = q.alpha * scale.log() - alpha.log() + alpha - 1
    result[p.support.lower_bound < q.support.lower_bound] = torch.inf
    return result


@register_kl(Poisson, Poisson)
def _poisson_poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed_transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Uniform, Uniform)
def _uniform_uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    result[(q.low > p.low) | (q.high < p.high)] = torch.inf
    return result


@register_kl(Independent, Independent)
def _independent_independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Cauchy, Cauchy)
def _cauchy_cauchy(p, q):
    t1 = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return t1 - (4 * p.scale * q.scale).log()
