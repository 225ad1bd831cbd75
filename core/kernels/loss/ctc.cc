// Connectionist temporal classification (Graves et al., 2006): forward and backward variables in log space.
#include <cmath>
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/lanes.h"
#include "core/kernels/loss.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename A>
inline constexpr A kNever = -std::numeric_limits<A>::infinity();

/// log(exp(a) + exp(b) + exp(c)).
template <typename A>
A LogAdd(A a, A b, A c) {
  const A max = std::max(a, std::max(b, c));
  if (max == kNever<A>) return max;
  return max + std::log(std::exp(a - max) + std::exp(b - max) + std::exp(c - max));
}

/// One sample: its labels with blanks between, before and after them make 2 * labels + 1 states.
template <typename T>
struct Sample {
  using A = Accumulator<T>;
  const T* log_probs;  // of time 0
  int64_t step;        // elements between times
  const int64_t* labels;
  int64_t time, states, blank;

  int64_t LabelOf(int64_t state) const { return state % 2 ? labels[state / 2] : blank; }
  A LogProb(int64_t t, int64_t state) const { return static_cast<A>(log_probs[t * step + LabelOf(state)]); }
  /// A label may follow the one before it without a blank between them if the two differ.
  bool MaySkip(int64_t state) const { return state % 2 && state > 1 && labels[state / 2] != labels[state / 2 - 1]; }
};

template <typename T>
Sample<T> SampleOf(int64_t n, View log_probs, View targets, View starts, View input_lengths, View target_lengths,
                   int64_t longest, int64_t blank) {
  const int64_t batch = log_probs.shape[1], classes = log_probs.shape[2];
  const int64_t time = input_lengths.as<const int64_t>()[n], labels = target_lengths.as<const int64_t>()[n];
  const int64_t start = starts.as<const int64_t>()[n];
  if (time < 0 || time > log_probs.shape[0]) {
    throw ValueError("ctc_loss").Got("input length ", time).Expected("0 to ", log_probs.shape[0]);
  }
  if (labels < 0 || labels > longest || start < 0 || start > targets.numel - labels) {
    throw ValueError("ctc_loss").Got("target length ", labels).Expected("at most the targets that were given");
  }
  const int64_t* first = targets.as<const int64_t>() + start;
  for (int64_t i = 0; i < labels; ++i) {
    if (first[i] >= 0 && first[i] < classes) continue;
    throw IndexError("ctc_loss").Got("target ", first[i]).Expected("0 to ", classes - 1);
  }
  return {log_probs.as<const T>() + n * classes, batch * classes, first, time, 2 * labels + 1, blank};
}

/// Fill alpha (time, width) and return the log-likelihood of the labels.
template <typename T>
Accumulator<T> Forward(const Sample<T>& s, Accumulator<T>* alpha, int64_t width) {
  using A = Accumulator<T>;
  if (s.time == 0) return s.states == 1 ? A(0) : kNever<A>;
  for (int64_t k = 0; k < s.states; ++k) alpha[k] = k < 2 ? s.LogProb(0, k) : kNever<A>;
  for (int64_t t = 1; t < s.time; ++t) {
    const A* before = alpha + (t - 1) * width;
    A* now = alpha + t * width;
    for (int64_t k = 0; k < s.states; ++k) {
      const A one = k > 0 ? before[k - 1] : kNever<A>, two = s.MaySkip(k) ? before[k - 2] : kNever<A>;
      now[k] = LogAdd(before[k], one, two) + s.LogProb(t, k);
    }
  }
  const A* last = alpha + (s.time - 1) * width;
  return LogAdd(last[s.states - 1], s.states > 1 ? last[s.states - 2] : kNever<A>, kNever<A>);
}

/// dx = dy (p - the share of paths through each class), written for the whole sample.
template <typename T>
void Backward(const Sample<T>& s, T* dx, const Accumulator<T>* alpha, int64_t width, Accumulator<T> loss,
              Accumulator<T> dy, int64_t classes) {
  using A = Accumulator<T>;
  std::vector<A> beta(s.states, kNever<A>), next(s.states, kNever<A>), paths(classes);
  for (int64_t t = s.time - 1; t >= 0; --t) {
    for (int64_t k = 0; k < s.states; ++k) {
      if (t == s.time - 1) {
        beta[k] = k + 2 >= s.states ? s.LogProb(t, k) : kNever<A>;
        continue;
      }
      const A one = k + 1 < s.states ? next[k + 1] : kNever<A>;
      const A two = k + 2 < s.states && s.MaySkip(k + 2) ? next[k + 2] : kNever<A>;
      beta[k] = LogAdd(next[k], one, two) + s.LogProb(t, k);
    }
    std::fill(paths.begin(), paths.end(), kNever<A>);
    for (int64_t k = 0; k < s.states; ++k) {
      A& sum = paths[s.LabelOf(k)];
      sum = LogAdd(sum, alpha[t * width + k] + beta[k], kNever<A>);
    }
    const T* log_prob = s.log_probs + t * s.step;
    for (int64_t c = 0; c < classes; ++c) {
      const A p = static_cast<A>(log_prob[c]);
      const A share = paths[c] == kNever<A> ? A(0) : std::exp(paths[c] + loss - p);
      dx[t * s.step + c] = static_cast<T>(dy * (std::exp(p) - share));
    }
    std::swap(beta, next);
  }
}

}  // namespace

template <typename T>
void CtcLoss(Context& ctx, View loss, View log_alpha, View log_probs, View targets, View starts, View input_lengths,
             View target_lengths, int64_t blank) {
  using A = Accumulator<T>;
  const int64_t batch = log_probs.shape[1], width = log_alpha.shape[2];
  ParallelFor(batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const auto sample =
          SampleOf<T>(n, log_probs, targets, starts, input_lengths, target_lengths, (width - 1) / 2, blank);
      A* alpha = log_alpha.as<A>() + n * log_alpha.shape[1] * width;
      loss.as<T>()[n] = static_cast<T>(-Forward(sample, alpha, width));
    }
  });
}
DRAGON_KERNEL(CtcLoss, Singles);

template <typename T>
void CtcLossBackward(Context& ctx, View dx, View dy, View loss, View log_alpha, View log_probs, View targets,
                     View starts, View input_lengths, View target_lengths, int64_t blank, bool zero_infinity) {
  using A = Accumulator<T>;
  const int64_t batch = log_probs.shape[1], classes = log_probs.shape[2], width = log_alpha.shape[2];
  std::fill(dx.as<T>(), dx.as<T>() + dx.numel, T(0));
  ParallelFor(batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const A value = static_cast<A>(loss.as<const T>()[n]);
      if (zero_infinity && value == std::numeric_limits<A>::infinity()) continue;
      const auto sample =
          SampleOf<T>(n, log_probs, targets, starts, input_lengths, target_lengths, (width - 1) / 2, blank);
      Backward(sample, dx.as<T>() + n * classes, log_alpha.as<const A>() + n * log_alpha.shape[1] * width, width, value,
               static_cast<A>(dy.as<const T>()[n]), classes);
    }
  });
}
DRAGON_KERNEL(CtcLossBackward, Singles);

}  // namespace dragon::DRAGON_DEVICE
