// Random numbers: the same streams as PyTorch's on the CPU. Results are contiguous; kernels draw in row-major order.
#pragma once

#include "core/base/mt19937.h"
#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// y = uniform in [low, high).
inline const Kernel<void(View y, RandomState* state, double low, double high)> Uniform{"uniform"};
/// y = normal with a mean and a standard deviation: 16 at a time by Box and Muller's formula, fewer than 16 one by one.
/// (`one_by_one`: always so.)
inline const Kernel<void(View y, RandomState* state, double mean, double std, bool one_by_one)> Normal{"normal"};
/// y = integers in [low, low + range); range 0 stands for all of int64.
inline const Kernel<void(View y, RandomState* state, int64_t low, uint64_t range)> RandomIntegers{"random_integers"};
/// y = integers from 0 to the largest that the dtype holds exactly (floats: 2^digits).
inline const Kernel<void(View y, RandomState* state)> RandomAll{"random_all"};
/// y = a permutation of 0 ... numel - 1.
inline const Kernel<void(View y, RandomState* state)> Permutation{"randperm"};
/// y = 1 with probability p, else 0.
inline const Kernel<void(View y, RandomState* state, double p)> Bernoulli{"bernoulli"};
/// y = 1 with probability p[i], else 0; the dtype is that of p. p contiguous; checked to be in [0, 1].
inline const Kernel<void(View y, View p, RandomState* state)> BernoulliOf{"bernoulli_of"};
/// y = exponential with rate `rate`.
inline const Kernel<void(View y, RandomState* state, double rate)> Exponential{"exponential"};
inline const Kernel<void(View y, RandomState* state, double median, double sigma)> Cauchy{"cauchy"};
/// y = exp of a normal number.
inline const Kernel<void(View y, RandomState* state, double mean, double std)> LogNormal{"log_normal"};
/// y = how many trials until the first success.
inline const Kernel<void(View y, RandomState* state, double p)> Geometric{"geometric"};
/// y[i] = Poisson with rate x[i]. x contiguous, of y's dtype.
inline const Kernel<void(View y, View x, RandomState* state)> Poisson{"poisson"};
/// y[i] = successes in count[i] trials of probability p[i]. Both contiguous, of y's dtype.
inline const Kernel<void(View y, View count, View p, RandomState* state)> Binomial{"binomial"};
/// y[i] = gamma with shape x[i] and scale 1. x contiguous, of y's dtype.
inline const Kernel<void(View y, View x, RandomState* state)> StandardGamma{"standard_gamma"};
/// y (int64, [rows, samples]) = categories drawn with replacement by the weights p ([rows, categories], contiguous).
/// The dtype is that of p. Weights that are negative, not finite or sum to 0 are a ValueError.
inline const Kernel<void(View y, View p, RandomState* state)> Multinomial{"multinomial"};

/// y = x * mask / (1 - p), where mask (bool) keeps an element with probability 1 - p. All contiguous.
inline const Kernel<void(View y, View mask, View x, RandomState* state, double p)> Dropout{"native_dropout"};
/// dx = dy * mask * scale; contiguous.
inline const Kernel<void(View dx, View dy, View mask, double scale)> DropoutBackward{"native_dropout_backward"};

}  // namespace dragon::kernels
