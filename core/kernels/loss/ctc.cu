// Connectionist temporal classification (Graves et al., 2006) on CUDA: a block for every sample, whose threads share
// the states of a moment. Going back, the variables of all moments are found first; their meeting with those that went
// forward is then done for all moments at once.
//
// A device cannot throw: a length or a target out of range makes the sample's loss and gradients NaN.
#include "core/kernels/loss.h"
#include "core/kernels/rows_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename A>
__device__ __forceinline__ A Never() {
  return -std::numeric_limits<A>::infinity();
}

/// log(exp(a) + exp(b) + exp(c)).
template <typename A>
__device__ __forceinline__ A LogAdd(A a, A b, A c) {
  const A max = a > b ? (a > c ? a : c) : (b > c ? b : c);
  if (max == Never<A>()) return max;
  return max + rows::Log(rows::Exp(a - max) + rows::Exp(b - max) + rows::Exp(c - max));
}

template <typename T>
struct Batch {
  const T* log_probs;
  const int64_t *targets, *starts, *input_lengths, *target_lengths;
  int64_t times, batch, classes, target_count, longest, blank;

  Batch(View the_log_probs, View the_targets, View the_starts, View inputs, View labels, int64_t width,
        int64_t the_blank)
      : log_probs(the_log_probs.as<const T>()),
        targets(the_targets.as<const int64_t>()),
        starts(the_starts.as<const int64_t>()),
        input_lengths(inputs.as<const int64_t>()),
        target_lengths(labels.as<const int64_t>()),
        times(the_log_probs.shape[0]),
        batch(the_log_probs.shape[1]),
        classes(the_log_probs.shape[2]),
        target_count(the_targets.numel),
        longest((width - 1) / 2),
        blank(the_blank) {}
  int64_t width() const { return 2 * longest + 1; }
};

/// One sample: its labels with blanks between, before and after them make 2 * labels + 1 states.
template <typename T>
struct Sample {
  using A = Accumulator<T>;
  const T* log_probs;  // of time 0
  int64_t step;        // elements between times
  const int64_t* labels;
  int64_t time, states, blank, classes;
  bool right;  // lengths are within bounds

  __device__ Sample(const Batch<T>& b, int64_t n)
      : log_probs(b.log_probs + n * b.classes),
        step(b.batch * b.classes),
        labels(b.targets),
        time(b.input_lengths[n]),
        blank(b.blank),
        classes(b.classes) {
    const int64_t count = b.target_lengths[n], start = b.starts[n];
    right = time >= 0 && time <= b.times && count >= 0 && count <= b.longest && start >= 0 &&
            start <= b.target_count - count && blank >= 0 && blank < classes;
    states = right ? 2 * count + 1 : 1;
    if (right) labels += start;
  }
  __device__ __forceinline__ int64_t LabelOf(int64_t state) const { return state % 2 ? labels[state / 2] : blank; }
  /// Of a label that is no class: NaN, which finds its way into the loss.
  __device__ __forceinline__ A LogProb(int64_t t, int64_t state) const {
    const int64_t label = LabelOf(state);
    if (label < 0 || label >= classes) return std::numeric_limits<A>::quiet_NaN();
    return static_cast<A>(log_probs[t * step + label]);
  }
  /// A label may follow the one before it without a blank between them if the two differ.
  __device__ __forceinline__ bool MaySkip(int64_t state) const {
    return state % 2 && state > 1 && labels[state / 2] != labels[state / 2 - 1];
  }
};

template <typename T>
__global__ void CtcForward(T* loss, Accumulator<T>* log_alpha, const Batch<T> batch, int64_t width) {
  using A = Accumulator<T>;
  for (int64_t n = blockIdx.x; n < batch.batch; n += gridDim.x) {
    const Sample<T> s(batch, n);
    A* alpha = log_alpha + n * batch.times * width;
    int wrong = !s.right;
    for (int64_t k = threadIdx.x; s.right && k < s.states; k += blockDim.x) {
      wrong |= s.LabelOf(k) < 0 || s.LabelOf(k) >= s.classes;
    }
    wrong = __syncthreads_or(wrong);
    for (int64_t t = 0; t < s.time && !wrong; ++t) {
      const A* before = alpha + (t - 1) * width;
      for (int64_t k = threadIdx.x; k < s.states; k += blockDim.x) {
        A value = k < 2 ? s.LogProb(0, k) : Never<A>();
        if (t > 0) {
          const A one = k > 0 ? before[k - 1] : Never<A>(), two = s.MaySkip(k) ? before[k - 2] : Never<A>();
          value = LogAdd(before[k], one, two) + s.LogProb(t, k);
        }
        alpha[t * width + k] = value;
      }
      __syncthreads();  // the next moment looks at all states of this one
    }
    if (threadIdx.x > 0) continue;
    A likelihood = s.states == 1 ? A(0) : Never<A>();
    if (wrong) {
      likelihood = std::numeric_limits<A>::quiet_NaN();
    } else if (s.time > 0) {
      const A* last = alpha + (s.time - 1) * width;
      likelihood = LogAdd(last[s.states - 1], s.states > 1 ? last[s.states - 2] : Never<A>(), Never<A>());
    }
    loss[n] = static_cast<T>(-likelihood);
  }
}

/// log_beta, of the shape of log_alpha: the states from each moment to the end.
template <typename T>
__global__ void CtcReturn(Accumulator<T>* log_beta, const T* loss, const Batch<T> batch, int64_t width) {
  using A = Accumulator<T>;
  for (int64_t n = blockIdx.x; n < batch.batch; n += gridDim.x) {
    const Sample<T> s(batch, n);
    if (!s.right || loss[n] != loss[n]) continue;
    A* beta = log_beta + n * batch.times * width;
    for (int64_t t = s.time - 1; t >= 0; --t) {
      const A* next = beta + (t + 1) * width;
      for (int64_t k = threadIdx.x; k < s.states; k += blockDim.x) {
        A value = k + 2 >= s.states ? s.LogProb(t, k) : Never<A>();
        if (t < s.time - 1) {
          const A one = k + 1 < s.states ? next[k + 1] : Never<A>();
          const A two = k + 2 < s.states && s.MaySkip(k + 2) ? next[k + 2] : Never<A>();
          value = LogAdd(next[k], one, two) + s.LogProb(t, k);
        }
        beta[t * width + k] = value;
      }
      __syncthreads();  // the moment before looks at all states of this one
    }
  }
}

/// dx = dy (p - the share of paths through each class): a block for every moment of every sample. The first state of a
/// class adds up the later ones of it.
template <typename T>
__global__ void CtcSlopes(T* dx, const T* dy, const T* loss, const Accumulator<T>* log_alpha,
                          const Accumulator<T>* log_beta, const Batch<T> batch, int64_t width, bool zero_infinity) {
  using A = Accumulator<T>;
  for (int64_t i = blockIdx.x; i < batch.times * batch.batch; i += gridDim.x) {
    const int64_t t = i / batch.batch, n = i % batch.batch;
    const Sample<T> s(batch, n);
    T* out = dx + i * batch.classes;
    const A value = static_cast<A>(loss[n]), slope = static_cast<A>(dy[n]);
    const bool wrong = value != value;
    const bool nothing = !wrong && (t >= s.time || (zero_infinity && value == std::numeric_limits<A>::infinity()));
    const T* log_prob = batch.log_probs + i * batch.classes;
    for (int64_t c = threadIdx.x; c < batch.classes; c += blockDim.x) {
      out[c] = static_cast<T>(nothing ? A(0) : wrong ? value : slope * rows::Exp(static_cast<A>(log_prob[c])));
    }
    __syncthreads();  // all classes are written before some are written again
    if (nothing || wrong) continue;
    const A *alpha = log_alpha + (n * batch.times + t) * width, *beta = log_beta + (n * batch.times + t) * width;
    for (int64_t k = threadIdx.x; k < s.states; k += blockDim.x) {
      if (k % 2 == 0 && k > 0) continue;  // a blank after the first one
      const int64_t label = s.LabelOf(k);
      bool first = k == 0 || label != s.blank;
      for (int64_t j = 1; j < k && first; j += 2) first = s.LabelOf(j) != label;
      if (!first) continue;
      A paths = Never<A>();
      for (int64_t j = k; j < s.states; ++j) {
        if (s.LabelOf(j) == label) paths = LogAdd(paths, alpha[j] + beta[j], Never<A>());
      }
      const A p = static_cast<A>(log_prob[label]);
      const A share = paths == Never<A>() ? A(0) : rows::Exp(paths + value - p);
      out[label] = static_cast<T>(slope * (rows::Exp(p) - share));
    }
  }
}

}  // namespace

template <typename T>
void CtcLoss(Context& ctx, View loss, View log_alpha, View log_probs, View targets, View starts, View input_lengths,
             View target_lengths, int64_t blank) {
  if (loss.numel == 0) return;
  const int64_t width = log_alpha.shape[2];
  const Batch<T> batch(log_probs, targets, starts, input_lengths, target_lengths, width, blank);
  cuda::Launch("ctc_loss", ctx, &CtcForward<T>, {dim3(rows::BlocksFor(batch.batch, 1)), dim3(cuda::kThreads)},
               loss.as<T>(), log_alpha.as<Accumulator<T>>(), batch, width);
}
DRAGON_KERNEL(CtcLoss, Singles);

template <typename T>
void CtcLossBackward(Context& ctx, View dx, View dy, View loss, View log_alpha, View log_probs, View targets,
                     View starts, View input_lengths, View target_lengths, int64_t blank, bool zero_infinity) {
  using A = Accumulator<T>;
  if (dx.numel == 0) return;
  const int64_t width = log_alpha.shape[2];
  const Batch<T> batch(log_probs, targets, starts, input_lengths, target_lengths, width, blank);
  const Scratch log_beta = ctx.Allocate<A>(log_alpha.numel);
  cuda::Launch("ctc_loss_backward", ctx, &CtcReturn<T>, {dim3(rows::BlocksFor(batch.batch, 1)), dim3(cuda::kThreads)},
               log_beta.as<A>(), loss.as<const T>(), batch, width);
  cuda::Launch("ctc_loss_backward", ctx, &CtcSlopes<T>,
               {dim3(rows::BlocksFor(batch.times * batch.batch, 1)), dim3(cuda::kThreads)}, dx.as<T>(),
               dy.as<const T>(), loss.as<const T>(), log_alpha.as<const A>(), log_beta.as<const A>(), batch, width,
               zero_infinity);
}
DRAGON_KERNEL(CtcLossBackward, Singles);

}  // namespace dragon::DRAGON_DEVICE
