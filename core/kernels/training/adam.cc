// The family of Adam: running means of the gradient and of its square.
#include "core/kernels/training/sweep.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// The share 1 - beta^step of a mean that started at zero.
double Correction(double beta, double step) { return 1 - std::pow(beta, step); }

}  // namespace

template <typename T, bool kAmsgrad>
void AdamSweep(Context& ctx, const kernels::UpdateSet& set, kernels::AdamOptions o) {
  using W = Wide<T>;
  const W fresh1 = static_cast<W>(1 - o.beta1), beta2 = static_cast<W>(o.beta2), fresh2 = static_cast<W>(1 - o.beta2);
  const W eps = static_cast<W>(o.eps);
  const W kept = static_cast<W>(o.kept * (o.decoupled ? 1 - o.rate * o.weight_decay : 1));
  const Pull<W> pull(o.maximize, o.decoupled ? 0 : o.weight_decay);
  Sweep<T>(ctx, set, [=](const Piece<W>& at) {
    W* DRAGON_RESTRICT const param = at.param;
    const W* DRAGON_RESTRICT const grad = at.grad;
    W* DRAGON_RESTRICT const mean = at.slot[0];
    W* DRAGON_RESTRICT const square = at.slot[1];
    [[maybe_unused]] W* DRAGON_RESTRICT const largest = at.slot[2];
    const double step = set.steps[at.tensor];
    const W rate = static_cast<W>(o.rate / Correction(o.beta1, step));
    const W root = static_cast<W>(1 / std::sqrt(Correction(o.beta2, step)));
#pragma omp simd
    for (int64_t i = 0; i < at.size; ++i) {
      const W p = param[i] * kept, g = pull(grad[i], p);
      const W m = Lerp(mean[i], g, fresh1);
      const W v = square[i] * beta2 + fresh2 * g * g;
      W scale = v;
      if constexpr (kAmsgrad) {
        const W top = largest[i];
        scale = top > v || top != top ? top : v;
        largest[i] = scale;
      }
      mean[i] = m;
      square[i] = v;
      param[i] = p - rate * m / (std::sqrt(scale) * root + eps);
    }
  });
}

template <typename T>
void Adam(Context& ctx, const kernels::UpdateSet& set, kernels::AdamOptions o) {
  o.amsgrad ? AdamSweep<T, true>(ctx, set, o) : AdamSweep<T, false>(ctx, set, o);
}
DRAGON_KERNEL(Adam, Floating);

template <typename T>
void NAdam(Context& ctx, const kernels::UpdateSet& set, kernels::NAdamOptions o) {
  using W = Wide<T>;
  const W fresh1 = static_cast<W>(1 - o.beta1), beta2 = static_cast<W>(o.beta2), fresh2 = static_cast<W>(1 - o.beta2);
  const W eps = static_cast<W>(o.eps), kept = static_cast<W>(o.decoupled ? 1 - o.rate * o.weight_decay : 1);
  const Pull<W> pull(o.maximize, o.decoupled ? 0 : o.weight_decay);
  Sweep<T>(ctx, set, [=](const Piece<W>& at) {
    W* DRAGON_RESTRICT const param = at.param;
    const W* DRAGON_RESTRICT const grad = at.grad;
    W* DRAGON_RESTRICT const mean = at.slot[0];
    W* DRAGON_RESTRICT const square = at.slot[1];
    const double step = set.steps[at.tensor], product = o.products[at.tensor];
    const double now = o.beta1 * (1 - 0.5 * std::pow(0.96, step * o.momentum_decay));
    const double next = o.beta1 * (1 - 0.5 * std::pow(0.96, (step + 1) * o.momentum_decay));
    const W grad_rate = static_cast<W>(o.rate * (1 - now) / (1 - product));
    const W mean_rate = static_cast<W>(o.rate * next / (1 - product * next));
    const W correction = static_cast<W>(1 / Correction(o.beta2, step));
#pragma omp simd
    for (int64_t i = 0; i < at.size; ++i) {
      const W p = param[i] * kept, g = pull(grad[i], p);
      const W m = Lerp(mean[i], g, fresh1);
      const W v = square[i] * beta2 + fresh2 * g * g;
      const W scale = std::sqrt(v * correction) + eps;
      mean[i] = m;
      square[i] = v;
      param[i] = p - (grad_rate * g + mean_rate * m) / scale;
    }
  });
}
DRAGON_KERNEL(NAdam, Floating);

template <typename T>
void RAdam(Context& ctx, const kernels::UpdateSet& set, kernels::AdamOptions o) {
  using W = Wide<T>;
  const W fresh1 = static_cast<W>(1 - o.beta1), beta2 = static_cast<W>(o.beta2), fresh2 = static_cast<W>(1 - o.beta2);
  const W eps = static_cast<W>(o.eps), kept = static_cast<W>(o.decoupled ? 1 - o.rate * o.weight_decay : 1);
  const Pull<W> pull(o.maximize, o.decoupled ? 0 : o.weight_decay);
  const double longest = 2 / (1 - o.beta2) - 1;
  Sweep<T>(ctx, set, [=](const Piece<W>& at) {
    W* DRAGON_RESTRICT const param = at.param;
    const W* DRAGON_RESTRICT const grad = at.grad;
    W* DRAGON_RESTRICT const mean = at.slot[0];
    W* DRAGON_RESTRICT const square = at.slot[1];
    const double step = set.steps[at.tensor], correction2 = Correction(o.beta2, step);
    // The length of the average decides whether its variance can be trusted.
    const double length = longest - 2 * step * std::pow(o.beta2, step) / correction2;
    const bool adaptive = length > 5;
    const double rectified =
        adaptive
            ? std::sqrt((length - 4) * (length - 2) * longest * correction2 / ((longest - 4) * (longest - 2) * length))
            : 1;
    const W rate = static_cast<W>(o.rate * rectified / Correction(o.beta1, step));
#pragma omp simd
    for (int64_t i = 0; i < at.size; ++i) {
      const W p = param[i] * kept, g = pull(grad[i], p);
      const W m = Lerp(mean[i], g, fresh1);
      const W v = square[i] * beta2 + fresh2 * g * g;
      mean[i] = m;
      square[i] = v;
      param[i] = p - rate * m / (adaptive ? std::sqrt(v) + eps : W(1));
    }
  });
}
DRAGON_KERNEL(RAdam, Floating);

template <typename T>
void Adamax(Context& ctx, const kernels::UpdateSet& set, kernels::AdamOptions o) {
  using W = Wide<T>;
  const W fresh1 = static_cast<W>(1 - o.beta1), beta2 = static_cast<W>(o.beta2), eps = static_cast<W>(o.eps);
  const Pull<W> pull(o.maximize, o.weight_decay);
  Sweep<T>(ctx, set, [=](const Piece<W>& at) {
    W* DRAGON_RESTRICT const param = at.param;
    const W* DRAGON_RESTRICT const grad = at.grad;
    W* DRAGON_RESTRICT const mean = at.slot[0];
    W* DRAGON_RESTRICT const largest = at.slot[1];
    const W rate = static_cast<W>(o.rate / Correction(o.beta1, set.steps[at.tensor]));
#pragma omp simd
    for (int64_t i = 0; i < at.size; ++i) {
      const W p = param[i], g = pull(grad[i], p);
      const W m = Lerp(mean[i], g, fresh1);
      const W faded = largest[i] * beta2, now = std::fabs(g) + eps;
      const W top = faded > now || faded != faded ? faded : now;
      mean[i] = m;
      largest[i] = top;
      param[i] = p - rate * m / top;
    }
  });
}
DRAGON_KERNEL(Adamax, Floating);

}  // namespace dragon::DRAGON_DEVICE
