// Updates scaled by the history of squared gradients: RMSprop, Adagrad, Adadelta.
#include "core/kernels/training/sweep.h"

namespace dragon::DRAGON_DEVICE {

template <typename T, bool kRolls, bool kCentered>
void RmspropSweep(Context& ctx, const kernels::UpdateSet& set, kernels::RmspropOptions o) {
  using W = Wide<T>;
  const W rate = static_cast<W>(o.rate), alpha = static_cast<W>(o.alpha), fresh = static_cast<W>(1 - o.alpha);
  const W eps = static_cast<W>(o.eps), momentum = static_cast<W>(o.momentum);
  const Pull<W> pull(o.maximize, o.weight_decay);
  Sweep<T>(ctx, set, [=](const Piece<W>& at) {
    W* DRAGON_RESTRICT const param = at.param;
    const W* DRAGON_RESTRICT const grad = at.grad;
    W* DRAGON_RESTRICT const square = at.slot[0];
    [[maybe_unused]] W* DRAGON_RESTRICT const buffer = at.slot[1];
    [[maybe_unused]] W* DRAGON_RESTRICT const mean = at.slot[2];
#pragma omp simd
    for (int64_t i = 0; i < at.size; ++i) {
      const W p = param[i], g = pull(grad[i], p);
      const W v = square[i] * alpha + fresh * g * g;
      square[i] = v;
      W spread = v;
      if constexpr (kCentered) {
        const W m = Lerp(mean[i], g, fresh);
        mean[i] = m;
        spread = v - m * m;
      }
      W velocity = g / (std::sqrt(spread) + eps);
      if constexpr (kRolls) {
        velocity = momentum * buffer[i] + velocity;
        buffer[i] = velocity;
      }
      param[i] = p - rate * velocity;
    }
  });
}

template <typename T>
void Rmsprop(Context& ctx, const kernels::UpdateSet& set, kernels::RmspropOptions o) {
  if (o.momentum > 0) {
    o.centered ? RmspropSweep<T, true, true>(ctx, set, o) : RmspropSweep<T, true, false>(ctx, set, o);
  } else {
    o.centered ? RmspropSweep<T, false, true>(ctx, set, o) : RmspropSweep<T, false, false>(ctx, set, o);
  }
}
DRAGON_KERNEL(Rmsprop, Floating);

template <typename T>
void Adagrad(Context& ctx, const kernels::UpdateSet& set, kernels::AdagradOptions o) {
  using W = Wide<T>;
  const W eps = static_cast<W>(o.eps);
  const Pull<W> pull(o.maximize, o.weight_decay);
  Sweep<T>(ctx, set, [=](const Piece<W>& at) {
    W* DRAGON_RESTRICT const param = at.param;
    const W* DRAGON_RESTRICT const grad = at.grad;
    W* DRAGON_RESTRICT const sum = at.slot[0];
    const W rate = static_cast<W>(o.rate / (1 + (set.steps[at.tensor] - 1) * o.rate_decay));
#pragma omp simd
    for (int64_t i = 0; i < at.size; ++i) {
      const W p = param[i], g = pull(grad[i], p);
      const W total = sum[i] + g * g;
      sum[i] = total;
      param[i] = p - rate * g / (std::sqrt(total) + eps);
    }
  });
}
DRAGON_KERNEL(Adagrad, Floating);

template <typename T>
void Adadelta(Context& ctx, const kernels::UpdateSet& set, kernels::AdadeltaOptions o) {
  using W = Wide<T>;
  const W rate = static_cast<W>(o.rate), rho = static_cast<W>(o.rho), fresh = static_cast<W>(1 - o.rho);
  const W eps = static_cast<W>(o.eps);
  const Pull<W> pull(o.maximize, o.weight_decay);
  Sweep<T>(ctx, set, [=](const Piece<W>& at) {
    W* DRAGON_RESTRICT const param = at.param;
    const W* DRAGON_RESTRICT const grad = at.grad;
    W* DRAGON_RESTRICT const square = at.slot[0];
    W* DRAGON_RESTRICT const updates = at.slot[1];
#pragma omp simd
    for (int64_t i = 0; i < at.size; ++i) {
      const W p = param[i], g = pull(grad[i], p);
      const W v = square[i] * rho + fresh * g * g, u = updates[i];
      const W delta = std::sqrt(u + eps) / std::sqrt(v + eps) * g;
      square[i] = v;
      updates[i] = u * rho + fresh * delta * delta;
      param[i] = p - rate * delta;
    }
  });
}
DRAGON_KERNEL(Adadelta, Floating);

}  // namespace dragon::DRAGON_DEVICE
