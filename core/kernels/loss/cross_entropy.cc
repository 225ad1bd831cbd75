// Cross entropy in one pass over the logits: no softmax is ever stored. Row by row where classes are the last axis, in
// tiles of columns where they are not.
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/lanes.h"
#include "core/kernels/loss.h"

namespace dragon::DRAGON_DEVICE {

namespace {

inline constexpr int64_t kTile = 256;

/// What one call is about: geometry, targets and weights.
template <typename T>
struct Problem {
  using A = Accumulator<T>;
  int64_t outer, classes, inner;
  const int64_t* target;
  const T* weight;
  int64_t ignore;
  A own, share;    // factors of the target's term and of every class' term
  A total_weight;  // sum of all weights

  Problem(View x, View the_target, View the_weight, int64_t the_ignore, double smoothing)
      : outer(x.shape[0]),
        classes(x.shape[1]),
        inner(x.shape[2]),
        target(the_target.as<const int64_t>()),
        weight(the_weight ? the_weight.as<const T>() : nullptr),
        ignore(the_ignore),
        own(static_cast<A>(1 - smoothing)),
        share(static_cast<A>(smoothing / static_cast<double>(std::max<int64_t>(classes, 1)))),
        total_weight(0) {
    for (int64_t c = 0; c < classes; ++c) total_weight += Weight(c);
  }
  A Weight(int64_t c) const { return weight ? static_cast<A>(weight[c]) : A(1); }
  int64_t Checked(int64_t t) const {
    if (t >= 0 && t < classes) return t;
    throw IndexError("cross_entropy")
        .Got("target ", t)
        .Expected("0 to ", classes - 1, ", or ", ignore, " to ignore it");
  }
  int64_t grain() const { return std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(1, classes)); }
};

template <typename A>
A Base(A max) {
  return max == -std::numeric_limits<A>::infinity() ? A(0) : max;
}

template <typename T>
Accumulator<T> LogSumExpRow(const T* DRAGON_RESTRICT x, int64_t n) {
  using A = Accumulator<T>;
  const A max = LaneMax<A>(n, [x](int64_t i) { return static_cast<A>(x[i]); }), base = Base(max);
  return base + Log(LaneSum<A>(n, [=](int64_t i) { return Exp(static_cast<A>(x[i]) - base); }));
}

/// log(sum(exp)) of `cols` neighbouring columns.
template <typename T>
void LogSumExpTile(Accumulator<T>* lse, const T* x, int64_t n, int64_t stride, int64_t cols) {
  using A = Accumulator<T>;
  A base[kTile], sum[kTile];
  for (int64_t j = 0; j < cols; ++j) base[j] = static_cast<A>(x[j]), sum[j] = A(0);
  for (int64_t c = 1; c < n; ++c) {
    const T* DRAGON_RESTRICT row = x + c * stride;
#pragma omp simd
    for (int64_t j = 0; j < cols; ++j) {
      const A value = static_cast<A>(row[j]);
      base[j] = (base[j] > value || base[j] != base[j]) ? base[j] : value;
    }
  }
  for (int64_t j = 0; j < cols; ++j) base[j] = Base(base[j]);
  for (int64_t c = 0; c < n; ++c) {
    const T* DRAGON_RESTRICT row = x + c * stride;
#pragma omp simd
    for (int64_t j = 0; j < cols; ++j) sum[j] += Exp(static_cast<A>(row[j]) - base[j]);
  }
#pragma omp simd
  for (int64_t j = 0; j < cols; ++j) lse[j] = base[j] + Log(sum[j]);
}

/// The loss of one place, once its lse is known; x points at its class 0.
template <typename T>
Accumulator<T> LossAt(const Problem<T>& p, const T* x, Accumulator<T> lse, int64_t target) {
  using A = Accumulator<T>;
  if (target == p.ignore) return A(0);
  const int64_t t = p.Checked(target);
  A loss = p.own * p.Weight(t) * (lse - static_cast<A>(x[t * p.inner]));
  if (p.share != A(0)) {
    A smooth = A(0);
    for (int64_t c = 0; c < p.classes; ++c) smooth += p.Weight(c) * (lse - static_cast<A>(x[c * p.inner]));
    loss += p.share * smooth;
  }
  return loss;
}

/// dx = a exp(x - lse) - b w[c] for all classes, and the target's own term.
template <typename T>
void GradientAt(const Problem<T>& p, T* DRAGON_RESTRICT dx, Accumulator<T> dy, Accumulator<T> lse,
                const T* DRAGON_RESTRICT x, int64_t target) {
  using A = Accumulator<T>;
  const int64_t step = p.inner;
  if (target == p.ignore) {
    for (int64_t c = 0; c < p.classes; ++c) dx[c * step] = static_cast<T>(A(0));
    return;
  }
  const int64_t t = p.Checked(target);
  const A own = dy * p.own * p.Weight(t), share = dy * p.share, a = own + share * p.total_weight;
  const auto value = [&](int64_t c) { return a * Exp(static_cast<A>(x[c * step]) - lse); };
  const A at_target = value(t) - own - share * p.Weight(t);
  if (p.share != A(0)) {
    for (int64_t c = 0; c < p.classes; ++c) dx[c * step] = static_cast<T>(value(c) - share * p.Weight(c));
  } else if (step == 1) {
#pragma omp simd
    for (int64_t c = 0; c < p.classes; ++c) dx[c] = static_cast<T>(a * Exp(static_cast<A>(x[c]) - lse));
  } else {
    for (int64_t c = 0; c < p.classes; ++c) dx[c * step] = static_cast<T>(value(c));
  }
  dx[t * step] = static_cast<T>(at_target);
}

}  // namespace

template <typename T>
void CrossEntropy(Context& ctx, View loss, View lse, View x, View target, View weight, int64_t ignore,
                  double smoothing) {
  using A = Accumulator<T>;
  if (loss.numel == 0) return;
  const Problem<T> p(x, target, weight, ignore, smoothing);
  const T* in = x.as<const T>();
  T* out = loss.as<T>();
  A* sums = lse.as<A>();
  const int64_t tiles = (p.inner + kTile - 1) / kTile, width = std::min(kTile, p.inner);
  ParallelFor(p.outer * tiles, std::max<int64_t>(1, p.grain() / width), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t n = task / tiles, first = task % tiles * kTile, cols = std::min(kTile, p.inner - first);
      const T* at = in + n * p.classes * p.inner + first;
      const int64_t place = n * p.inner + first;
      if (p.inner == 1) {
        sums[place] = LogSumExpRow(at, p.classes);
      } else {
        LogSumExpTile(sums + place, at, p.classes, p.inner, cols);
      }
      for (int64_t j = 0; j < cols; ++j) {
        out[place + j] = static_cast<T>(LossAt(p, at + j, sums[place + j], p.target[place + j]));
      }
    }
  });
}
DRAGON_KERNEL(CrossEntropy, Floating);

template <typename T>
void CrossEntropyBackward(Context& ctx, View dx, View dy, View lse, View x, View target, View weight, int64_t ignore,
                          double smoothing) {
  using A = Accumulator<T>;
  if (dx.numel == 0) return;
  const Problem<T> p(x, target, weight, ignore, smoothing);
  const T *in = x.as<const T>(), *slope = dy.as<const T>();
  T* out = dx.as<T>();
  const A* sums = lse.as<const A>();
  ParallelFor(p.outer * p.inner, p.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t place = begin; place < end; ++place) {
      const int64_t at = place / p.inner * p.classes * p.inner + place % p.inner;
      GradientAt(p, out + at, static_cast<A>(slope[place]), sums[place], in + at, p.target[place]);
    }
  });
}
DRAGON_KERNEL(CrossEntropyBackward, Floating);

namespace {

int64_t CheckedClass(const char* who, int64_t t, int64_t classes) {
  if (t >= 0 && t < classes) return t;
  throw IndexError(who).Got("target ", t).Expected("0 to ", classes - 1);
}

/// Call body(place, place of its target in x, target) for every target that is not ignored.
template <typename Body>
void ForTargets(View target, int64_t classes, int64_t inner, int64_t ignore, Body body) {
  const int64_t* t = target.as<const int64_t>();
  for (int64_t place = 0; place < target.numel; ++place) {
    if (t[place] == ignore) continue;
    const int64_t c = CheckedClass("nll_loss", t[place], classes);
    body(place, (place / inner * classes + c) * inner + place % inner, c);
  }
}

}  // namespace

template <typename T>
void NllLoss(Context& ctx, View loss, View x, View target, View weight, int64_t ignore) {
  T* out = loss.as<T>();
  const T *in = x.as<const T>(), *w = weight ? weight.as<const T>() : nullptr;
  std::fill(out, out + loss.numel, T(0.0f));
  ForTargets(target, x.shape[1], x.shape[2], ignore,
             [&](int64_t place, int64_t at, int64_t c) { out[place] = static_cast<T>(w ? -w[c] * in[at] : -in[at]); });
}
DRAGON_KERNEL(NllLoss, Floating);

template <typename T>
void NllLossBackward(Context& ctx, View dx, View dy, View target, View weight, int64_t ignore) {
  T* out = dx.as<T>();
  const T *slope = dy.as<const T>(), *w = weight ? weight.as<const T>() : nullptr;
  std::fill(out, out + dx.numel, T(0.0f));
  ForTargets(target, dx.shape[1], dx.shape[2], ignore, [&](int64_t place, int64_t at, int64_t c) {
    out[at] = static_cast<T>(w ? -w[c] * slope[place] : -slope[place]);
  });
}
DRAGON_KERNEL(NllLossBackward, Floating);

template <typename T>
void TargetWeights(Context& ctx, View y, View target, View weight, int64_t ignore) {
  T* out = y.as<T>();
  const T* w = weight ? weight.as<const T>() : nullptr;
  const int64_t* t = target.as<const int64_t>();
  for (int64_t i = 0; i < y.numel; ++i) {
    out[i] = t[i] == ignore ? T(0.0f) : w ? w[CheckedClass("nll_loss", t[i], weight.numel)] : T(1.0f);
  }
}
DRAGON_KERNEL(TargetWeights, Floating);

}  // namespace dragon::DRAGON_DEVICE
