"""Probability distributions: draws, densities, entropies, divergences and transforms."""
from dragon.vm.torch.distributions.bernoulli import Bernoulli
from dragon.vm.torch.distributions.beta import Beta
from dragon.vm.torch.distributions.binomial import Binomial
from dragon.vm.torch.distributions.categorical import Categorical
from dragon.vm.torch.distributions.cauchy import Cauchy
from dragon.vm.torch.distributions.chi2 import Chi2
from dragon.vm.torch.distributions.constraint_registry import biject_to, transform_to
from dragon.vm.torch.distributions.continuous_bernoulli import ContinuousBernoulli
from dragon.vm.torch.distributions.dirichlet import Dirichlet
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.exp_family import ExponentialFamily
from dragon.vm.torch.distributions.exponential import Exponential
from dragon.vm.torch.distributions.fishersnedecor import FisherSnedecor
from dragon.vm.torch.distributions.gamma import Gamma
from dragon.vm.torch.distributions.generalized_pareto import GeneralizedPareto
from dragon.vm.torch.distributions.geometric import Geometric
from dragon.vm.torch.distributions.gumbel import Gumbel
from dragon.vm.torch.distributions.half_cauchy import HalfCauchy
from dragon.vm.torch.distributions.half_normal import HalfNormal
from dragon.vm.torch.distributions.independent import Independent
from dragon.vm.torch.distributions.inverse_gamma import InverseGamma
from dragon.vm.torch.distributions.kl import kl_divergence, register_kl
from dragon.vm.torch.distributions.kumaraswamy import Kumaraswamy
from dragon.vm.torch.distributions.laplace import Laplace
from dragon.vm.torch.distributions.lkj_cholesky import LKJCholesky
from dragon.vm.torch.distributions.log_normal import LogNormal
from dragon.vm.torch.distributions.logistic_normal import LogisticNormal
from dragon.vm.torch.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from dragon.vm.torch.distributions.mixture_same_family import MixtureSameFamily
from dragon.vm.torch.distributions.multinomial import Multinomial
from dragon.vm.torch.distributions.multivariate_normal import MultivariateNormal
from dragon.vm.torch.distributions.negative_binomial import NegativeBinomial
from dragon.vm.torch.distributions.normal import Normal
from dragon.vm.torch.distributions.one_hot_categorical import OneHotCategorical, OneHotCategoricalStraightThrough
from dragon.vm.torch.distributions.pareto import Pareto
from dragon.vm.torch.distributions.poisson import Poisson
from dragon.vm.torch.distributions.relaxed_bernoulli import RelaxedBernoulli
from dragon.vm.torch.distributions.relaxed_categorical import RelaxedOneHotCategorical
from dragon.vm.torch.distributions.studentT import StudentT
from dragon.vm.torch.distributions.transformed_distribution import TransformedDistribution
from dragon.vm.torch.distributions.transforms import (AbsTransform, AffineTransform, CatTransform, ComposeTransform,
                                                      CorrCholeskyTransform, CumulativeDistributionTransform,
                                                      ExpTransform, IndependentTransform, LowerCholeskyTransform,
                                                      PositiveDefiniteTransform, PowerTransform, ReshapeTransform,
                                                      SigmoidTransform, SoftmaxTransform, SoftplusTransform,
                                                      StackTransform, StickBreakingTransform, TanhTransform, Transform,
                                                      identity_transform)
from dragon.vm.torch.distributions.uniform import Uniform
from dragon.vm.torch.distributions.von_mises import VonMises
from dragon.vm.torch.distributions.weibull import Weibull
from dragon.vm.torch.distributions.wishart import Wishart
from dragon.vm.torch.distributions import _kl_cross, _kl_pairs, constraints, kl, transforms, utils
