// What one step of every optimizer does to one element, for all devices. A step has `kSlots` states. `For` makes, on
// the host, the numbers that one tensor of a set needs; the call takes them, the parameter, its gradient and its
// states. Formulas and their order are PyTorch's.
#pragma once

#include <cmath>

#include "core/kernels/training.h"

namespace dragon::DRAGON_DEVICE {

/// The gradient an update sees: negated to maximize, with the pull of weight decay. A decay of 0 must not turn an
/// infinite parameter into NaN.
template <typename W>
struct Pull {
  W sign, decay;
  bool decays;

  Pull(bool maximize, double weight_decay)
      : sign(maximize ? W(-1) : W(1)), decay(static_cast<W>(weight_decay)), decays(weight_decay != 0) {}
  DRAGON_FN W operator()(W grad, W param) const { return decays ? sign * grad + decay * param : sign * grad; }
};

/// a moved towards b by a weight: from whichever end is nearer, so that a weight of 1 gives exactly b.
template <typename W>
DRAGON_FN W Lerp(W a, W b, W weight) {
  return weight < W(0.5) ? a + weight * (b - a) : b - (b - a) * (W(1) - weight);
}

/// The share 1 - beta^step of a mean that started at zero.
inline double Correction(double beta, double step) { return 1 - std::pow(beta, step); }

/// For steps whose tensors differ in nothing.
struct Nothing {};

/// The set's slot that is slot k of a step: steps may leave one out.
template <typename S>
constexpr int SlotOf(int k) {
  if constexpr (requires { S::SlotAt(k); }) {
    return S::SlotAt(k);
  } else {
    return k;
  }
}

// --- the gradient itself

template <typename W>
struct SgdStep {
  static constexpr int kSlots = 0;
  using Of = Nothing;
  W rate;
  Pull<W> pull;

  explicit SgdStep(const kernels::SgdOptions& o) : rate(static_cast<W>(o.rate)), pull(o.maximize, o.weight_decay) {}
  Of For(const kernels::UpdateSet&, int64_t) const { return {}; }
  DRAGON_FN void operator()(const Of&, W& param, W grad, W*) const { param = param - rate * pull(grad, param); }
};

template <typename W>
struct MomentumStep {
  static constexpr int kSlots = 1;
  using Of = Nothing;
  W rate, momentum, kept;
  Pull<W> pull;
  bool first, nesterov;

  explicit MomentumStep(const kernels::SgdOptions& o)
      : rate(static_cast<W>(o.rate)),
        momentum(static_cast<W>(o.momentum)),
        kept(static_cast<W>(1 - o.dampening)),
        pull(o.maximize, o.weight_decay),
        first(o.first),
        nesterov(o.nesterov) {}
  Of For(const kernels::UpdateSet&, int64_t) const { return {}; }
  DRAGON_FN void operator()(const Of&, W& param, W grad, W* slot) const {
    const W p = param, g = pull(grad, p);
    const W velocity = first ? g : momentum * slot[0] + kept * g;
    slot[0] = velocity;
    param = p - rate * (nesterov ? g + momentum * velocity : velocity);
  }
};

template <typename W>
struct AsgdStep {
  static constexpr int kSlots = 1;
  struct Of {
    W rate, share, kept;
  };
  const double *rates, *averaging;
  double decay;
  Pull<W> pull;

  explicit AsgdStep(const kernels::AsgdOptions& o)
      : rates(o.rates), averaging(o.averaging), decay(o.decay), pull(o.maximize, o.weight_decay) {}
  Of For(const kernels::UpdateSet&, int64_t i) const {
    return {static_cast<W>(rates[i]), static_cast<W>(averaging[i]), static_cast<W>(1 - decay * rates[i])};
  }
  DRAGON_FN void operator()(const Of& of, W& param, W grad, W* slot) const {
    const W p = param;
    const W next = p * of.kept - of.rate * pull(grad, p);
    const W mean = slot[0];
    param = next;
    slot[0] = of.share == W(1) ? next : mean + (next - mean) * of.share;
  }
};

template <typename W>
struct RpropStep {
  static constexpr int kSlots = 2;
  using Of = Nothing;
  W shrink, grow, smallest, largest;
  Pull<W> pull;

  explicit RpropStep(const kernels::RpropOptions& o)
      : shrink(static_cast<W>(o.shrink)),
        grow(static_cast<W>(o.grow)),
        smallest(static_cast<W>(o.smallest)),
        largest(static_cast<W>(o.largest)),
        pull(o.maximize, 0) {}
  Of For(const kernels::UpdateSet&, int64_t) const { return {}; }
  DRAGON_FN void operator()(const Of&, W& param, W grad, W* slot) const {
    const W p = param, g = pull(grad, p);
    const W agreement = g * slot[0];
    const W factor = agreement > 0 ? grow : agreement < 0 ? shrink : W(1);
    W size = slot[1] * factor;
    size = size < smallest ? smallest : size;
    size = size > largest ? largest : size;
    const W used = agreement < 0 ? W(0) : g;                        // a step too far is not repeated
    const W direction = used > 0 ? W(1) : used < 0 ? W(-1) : W(0);  // NaN has no sign
    slot[1] = size;
    param = p - direction * size;
    slot[0] = used;
  }
};

// --- Adam and its kin

/// What they share: two running means.
template <typename W>
struct Moments {
  W fresh1, beta2, fresh2, eps, kept;
  Pull<W> pull;

  template <typename Options>
  explicit Moments(const Options& o)
      : fresh1(static_cast<W>(1 - o.beta1)),
        beta2(static_cast<W>(o.beta2)),
        fresh2(static_cast<W>(1 - o.beta2)),
        eps(static_cast<W>(o.eps)),
        kept(static_cast<W>(o.decoupled ? 1 - o.rate * o.weight_decay : 1)),
        pull(o.maximize, o.decoupled ? 0 : o.weight_decay) {}
  /// Move both means; the gradient they saw.
  DRAGON_FN W Move(W p, W grad, W* slot) const {
    const W g = pull(grad, p);
    slot[0] = Lerp(slot[0], g, fresh1);
    slot[1] = slot[1] * beta2 + fresh2 * g * g;
    return g;
  }
};

template <typename W, bool kAmsgrad>
struct AdamStep {
  static constexpr int kSlots = kAmsgrad ? 3 : 2;
  struct Of {
    W rate, root;
  };
  kernels::AdamOptions o;
  Moments<W> moments;

  explicit AdamStep(const kernels::AdamOptions& options) : o(options), moments(options) {
    moments.kept = static_cast<W>(o.kept * (o.decoupled ? 1 - o.rate * o.weight_decay : 1));
  }
  Of For(const kernels::UpdateSet& set, int64_t i) const {
    return {static_cast<W>(o.rate / Correction(o.beta1, set.steps[i])),
            static_cast<W>(1 / std::sqrt(Correction(o.beta2, set.steps[i])))};
  }
  DRAGON_FN void operator()(const Of& of, W& param, W grad, W* slot) const {
    const W p = param * moments.kept;
    moments.Move(p, grad, slot);
    W scale = slot[1];
    if constexpr (kAmsgrad) {
      const W top = slot[2];
      scale = top > scale || top != top ? top : scale;
      slot[2] = scale;
    }
    param = p - of.rate * slot[0] / (std::sqrt(scale) * of.root + moments.eps);
  }
};

template <typename W>
struct NAdamStep {
  static constexpr int kSlots = 2;
  struct Of {
    W grad_rate, mean_rate, correction;
  };
  kernels::NAdamOptions o;
  Moments<W> moments;

  explicit NAdamStep(const kernels::NAdamOptions& options) : o(options), moments(options) {}
  Of For(const kernels::UpdateSet& set, int64_t i) const {
    const double step = set.steps[i], product = o.products[i];
    const double now = o.beta1 * (1 - 0.5 * std::pow(0.96, step * o.momentum_decay));
    const double next = o.beta1 * (1 - 0.5 * std::pow(0.96, (step + 1) * o.momentum_decay));
    return {static_cast<W>(o.rate * (1 - now) / (1 - product)), static_cast<W>(o.rate * next / (1 - product * next)),
            static_cast<W>(1 / Correction(o.beta2, step))};
  }
  DRAGON_FN void operator()(const Of& of, W& param, W grad, W* slot) const {
    const W p = param * moments.kept;
    const W g = moments.Move(p, grad, slot);
    const W scale = std::sqrt(slot[1] * of.correction) + moments.eps;
    param = p - (of.grad_rate * g + of.mean_rate * slot[0]) / scale;
  }
};

template <typename W>
struct RAdamStep {
  static constexpr int kSlots = 2;
  struct Of {
    W rate;
    bool adaptive;
  };
  kernels::AdamOptions o;
  Moments<W> moments;

  explicit RAdamStep(const kernels::AdamOptions& options) : o(options), moments(options) {}
  /// The length of the average decides whether its variance can be trusted.
  Of For(const kernels::UpdateSet& set, int64_t i) const {
    const double longest = 2 / (1 - o.beta2) - 1, step = set.steps[i], correction2 = Correction(o.beta2, step);
    const double length = longest - 2 * step * std::pow(o.beta2, step) / correction2;
    const bool adaptive = length > 5;
    const double rectified =
        adaptive
            ? std::sqrt((length - 4) * (length - 2) * longest * correction2 / ((longest - 4) * (longest - 2) * length))
            : 1;
    return {static_cast<W>(o.rate * rectified / Correction(o.beta1, step)), adaptive};
  }
  DRAGON_FN void operator()(const Of& of, W& param, W grad, W* slot) const {
    const W p = param * moments.kept;
    moments.Move(p, grad, slot);
    param = p - of.rate * slot[0] / (of.adaptive ? std::sqrt(slot[1]) + moments.eps : W(1));
  }
};

template <typename W>
struct AdamaxStep {
  static constexpr int kSlots = 2;
  struct Of {
    W rate;
  };
  double rate, beta1;
  W fresh1, beta2, eps;
  Pull<W> pull;

  explicit AdamaxStep(const kernels::AdamOptions& o)
      : rate(o.rate),
        beta1(o.beta1),
        fresh1(static_cast<W>(1 - o.beta1)),
        beta2(static_cast<W>(o.beta2)),
        eps(static_cast<W>(o.eps)),
        pull(o.maximize, o.weight_decay) {}
  Of For(const kernels::UpdateSet& set, int64_t i) const {
    return {static_cast<W>(rate / Correction(beta1, set.steps[i]))};
  }
  DRAGON_FN void operator()(const Of& of, W& param, W grad, W* slot) const {
    const W p = param, g = pull(grad, p);
    const W m = Lerp(slot[0], g, fresh1);
    const W faded = slot[1] * beta2, now = std::fabs(g) + eps;
    const W top = faded > now || faded != faded ? faded : now;
    slot[0] = m;
    slot[1] = top;
    param = p - of.rate * m / top;
  }
};

// --- scaled by the history of squared gradients

template <typename W, bool kRolls, bool kCentered>
struct RmspropStep {
  static constexpr int kSlots = 1 + kRolls + kCentered;
  /// The set's slot that is the step's slot k.
  static constexpr int SlotAt(int k) { return k == 1 && !kRolls ? 2 : k; }
  using Of = Nothing;
  W rate, alpha, fresh, eps, momentum;
  Pull<W> pull;

  explicit RmspropStep(const kernels::RmspropOptions& o)
      : rate(static_cast<W>(o.rate)),
        alpha(static_cast<W>(o.alpha)),
        fresh(static_cast<W>(1 - o.alpha)),
        eps(static_cast<W>(o.eps)),
        momentum(static_cast<W>(o.momentum)),
        pull(o.maximize, o.weight_decay) {}
  Of For(const kernels::UpdateSet&, int64_t) const { return {}; }
  DRAGON_FN void operator()(const Of&, W& param, W grad, W* slot) const {
    const W p = param, g = pull(grad, p);
    const W v = slot[0] * alpha + fresh * g * g;
    slot[0] = v;
    W spread = v;
    if constexpr (kCentered) {
      constexpr int kMean = kRolls ? 2 : 1;
      const W m = Lerp(slot[kMean], g, fresh);
      slot[kMean] = m;
      spread = v - m * m;
    }
    W velocity = g / (std::sqrt(spread) + eps);
    if constexpr (kRolls) {
      velocity = momentum * slot[1] + velocity;
      slot[1] = velocity;
    }
    param = p - rate * velocity;
  }
};

template <typename W>
struct AdagradStep {
  static constexpr int kSlots = 1;
  struct Of {
    W rate;
  };
  double rate, rate_decay;
  W eps;
  Pull<W> pull;

  explicit AdagradStep(const kernels::AdagradOptions& o)
      : rate(o.rate), rate_decay(o.rate_decay), eps(static_cast<W>(o.eps)), pull(o.maximize, o.weight_decay) {}
  Of For(const kernels::UpdateSet& set, int64_t i) const {
    return {static_cast<W>(rate / (1 + (set.steps[i] - 1) * rate_decay))};
  }
  DRAGON_FN void operator()(const Of& of, W& param, W grad, W* slot) const {
    const W p = param, g = pull(grad, p);
    const W total = slot[0] + g * g;
    slot[0] = total;
    param = p - of.rate * g / (std::sqrt(total) + eps);
  }
};

template <typename W>
struct AdadeltaStep {
  static constexpr int kSlots = 2;
  using Of = Nothing;
  W rate, rho, fresh, eps;
  Pull<W> pull;

  explicit AdadeltaStep(const kernels::AdadeltaOptions& o)
      : rate(static_cast<W>(o.rate)),
        rho(static_cast<W>(o.rho)),
        fresh(static_cast<W>(1 - o.rho)),
        eps(static_cast<W>(o.eps)),
        pull(o.maximize, o.weight_decay) {}
  Of For(const kernels::UpdateSet&, int64_t) const { return {}; }
  DRAGON_FN void operator()(const Of&, W& param, W grad, W* slot) const {
    const W p = param, g = pull(grad, p);
    const W v = slot[0] * rho + fresh * g * g, u = slot[1];
    const W delta = std::sqrt(u + eps) / std::sqrt(v + eps) * g;
    slot[0] = v;
    slot[1] = u * rho + fresh * delta * delta;
    param = p - rate * delta;
  }
};

}  // namespace dragon::DRAGON_DEVICE
