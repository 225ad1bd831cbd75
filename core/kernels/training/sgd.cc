// Updates that follow the gradient itself: SGD with momentum, averaged SGD, and Rprop, which looks at signs only.
#include "core/kernels/training/sweep.h"

namespace dragon::DRAGON_DEVICE {

template <typename T>
void Sgd(Context& ctx, const kernels::UpdateSet& set, kernels::SgdOptions o) {
  using W = Wide<T>;
  const W rate = static_cast<W>(o.rate), momentum = static_cast<W>(o.momentum);
  const W kept = static_cast<W>(1 - o.dampening);
  const Pull<W> pull(o.maximize, o.weight_decay);
  const bool first = o.first, nesterov = o.nesterov;
  Sweep<T>(ctx, set, [=](const Piece<W>& at) {
    W* DRAGON_RESTRICT const param = at.param;
    const W* DRAGON_RESTRICT const grad = at.grad;
    W* DRAGON_RESTRICT const buffer = at.slot[0];
    if (!buffer) {
#pragma omp simd
      for (int64_t i = 0; i < at.size; ++i) {
        const W p = param[i];
        param[i] = p - rate * pull(grad[i], p);
      }
      return;
    }
#pragma omp simd
    for (int64_t i = 0; i < at.size; ++i) {
      const W p = param[i], g = pull(grad[i], p);
      const W velocity = first ? g : momentum * buffer[i] + kept * g;
      buffer[i] = velocity;
      param[i] = p - rate * (nesterov ? g + momentum * velocity : velocity);
    }
  });
}
DRAGON_KERNEL(Sgd, Floating);

template <typename T>
void Asgd(Context& ctx, const kernels::UpdateSet& set, kernels::AsgdOptions o) {
  using W = Wide<T>;
  const Pull<W> pull(o.maximize, o.weight_decay);
  Sweep<T>(ctx, set, [=](const Piece<W>& at) {
    W* DRAGON_RESTRICT const param = at.param;
    const W* DRAGON_RESTRICT const grad = at.grad;
    W* DRAGON_RESTRICT const average = at.slot[0];
    const W rate = static_cast<W>(o.rates[at.tensor]), share = static_cast<W>(o.averaging[at.tensor]);
    const W kept = static_cast<W>(1 - o.decay * o.rates[at.tensor]);
#pragma omp simd
    for (int64_t i = 0; i < at.size; ++i) {
      const W p = param[i];
      const W next = p * kept - rate * pull(grad[i], p);
      const W mean = average[i];
      param[i] = next;
      average[i] = share == W(1) ? next : mean + (next - mean) * share;
    }
  });
}
DRAGON_KERNEL(Asgd, Floating);

template <typename T>
void Rprop(Context& ctx, const kernels::UpdateSet& set, kernels::RpropOptions o) {
  using W = Wide<T>;
  const W shrink = static_cast<W>(o.shrink), grow = static_cast<W>(o.grow);
  const W smallest = static_cast<W>(o.smallest), largest = static_cast<W>(o.largest);
  const Pull<W> pull(o.maximize, 0);
  Sweep<T>(ctx, set, [=](const Piece<W>& at) {
    W* DRAGON_RESTRICT const param = at.param;
    const W* DRAGON_RESTRICT const grad = at.grad;
    W* DRAGON_RESTRICT const previous = at.slot[0];
    W* DRAGON_RESTRICT const step = at.slot[1];
#pragma omp simd
    for (int64_t i = 0; i < at.size; ++i) {
      const W p = param[i], g = pull(grad[i], p);
      const W agreement = g * previous[i];
      const W factor = agreement > 0 ? grow : agreement < 0 ? shrink : W(1);
      W size = step[i] * factor;
      size = size < smallest ? smallest : size;
      size = size > largest ? largest : size;
      const W used = agreement < 0 ? W(0) : g;                        // a step too far is not repeated
      const W direction = used > 0 ? W(1) : used < 0 ? W(-1) : W(0);  // NaN has no sign
      step[i] = size;
      param[i] = p - direction * size;
      previous[i] = used;
    }
  });
}
DRAGON_KERNEL(Rprop, Floating);

}  // namespace dragon::DRAGON_DEVICE
