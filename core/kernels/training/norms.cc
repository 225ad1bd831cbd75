// What needs the size of whole tensors: norms for gradient clipping, and LAMB, whose steps are scaled by norms.
#include <limits>

#include "core/kernels/lanes.h"
#include "core/kernels/training/sweep.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Blocks that partial sums are kept for, so that the result does not depend on the number of threads.
constexpr int64_t kBlock = 16384;

/// A set cut into blocks of at most kBlock elements of one tensor each.
struct Blocks {
  int64_t count = 0;
  Scratch first_room;
  int64_t* first;  // of every tensor; one more at the end

  Blocks(Context& ctx, const kernels::UpdateSet& set)
      : first_room(ctx.Allocate<int64_t>(set.count + 1)), first(first_room.as<int64_t>()) {
    for (int64_t i = 0; i < set.count; ++i) {
      first[i] = count;
      count += (set.sizes[i] + kBlock - 1) / kBlock;
    }
    first[set.count] = count;
  }
  /// Call `body(block, tensor, begin, size)` for all blocks, in parallel.
  template <typename F>
  void Each(const kernels::UpdateSet& set, F body) const {
    ParallelFor(count, 2, [&](int64_t from, int64_t to) {
      int64_t tensor = std::upper_bound(first, first + set.count + 1, from) - first - 1;
      for (int64_t block = from; block < to; ++block) {
        while (block >= first[tensor + 1]) ++tensor;
        const int64_t begin = (block - first[tensor]) * kBlock;
        body(block, tensor, begin, std::min(kBlock, set.sizes[tensor] - begin));
      }
    });
  }
  /// The sum of one tensor's partial sums.
  double Total(const double* parts, int64_t tensor) const {
    double total = 0;
    for (int64_t block = first[tensor]; block < first[tensor + 1]; ++block) total += parts[block];
    return total;
  }
};

/// The sum of |x|^p, or max |x| for p = inf, or the count of numbers that are not 0 for p = 0.
template <typename T>
double PowerSum(const T* x, int64_t n, double p) {
  using W = Wide<T>;
  if (p == 2) {
    return LaneSum<W>(n, [x](int64_t i) {
      const W value = static_cast<W>(x[i]);
      return value * value;
    });
  }
  if (p == 1) return LaneSum<W>(n, [x](int64_t i) { return std::fabs(static_cast<W>(x[i])); });
  if (p == 0) return LaneSum<W>(n, [x](int64_t i) { return static_cast<W>(x[i]) != 0 ? W(1) : W(0); });
  if (std::isinf(p)) return LaneMax<W>(n, [x](int64_t i) { return std::fabs(static_cast<W>(x[i])); });
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::pow(std::fabs(static_cast<double>(static_cast<W>(x[i]))), p);
  return sum;
}

}  // namespace

template <typename T>
void NormEach(Context& ctx, View norms, const kernels::UpdateSet& set, double p) {
  const Blocks blocks(ctx, set);
  const Scratch room = ctx.Allocate<double>(blocks.count);
  double* const parts = room.as<double>();
  blocks.Each(set, [&](int64_t block, int64_t tensor, int64_t begin, int64_t size) {
    parts[block] = PowerSum(static_cast<const T*>(set.params[tensor]) + begin, size, p);
  });
  for (int64_t i = 0; i < set.count; ++i) {
    double total = 0;
    if (std::isinf(p)) {
      for (int64_t block = blocks.first[i]; block < blocks.first[i + 1]; ++block) {
        total = parts[block] > total || parts[block] != parts[block] ? parts[block] : total;
        if (total != total) break;
      }
    } else {
      total = blocks.Total(parts, i);
      total = p == 2 ? std::sqrt(total) : p == 1 || p == 0 ? total : std::pow(total, 1 / p);
    }
    norms.as<T>()[i] = static_cast<T>(static_cast<Wide<T>>(total));
  }
}
DRAGON_KERNEL(NormEach, Floating);

template <typename T>
void ScaleEach(Context& ctx, const kernels::UpdateSet& set, double factor) {
  using W = Wide<T>;
  const W by = static_cast<W>(factor);
  Sweep<T>(ctx, set, [=](const Piece<W>& at) {
    W* const data = at.param;
#pragma omp simd
    for (int64_t i = 0; i < at.size; ++i) data[i] = data[i] * by;
  });
}
DRAGON_KERNEL(ScaleEach, Floating);

template <typename T>
void Lamb(Context& ctx, const kernels::UpdateSet& set, kernels::AdamOptions o) {
  using W = Wide<T>;
  const W fresh1 = static_cast<W>(1 - o.beta1), beta2 = static_cast<W>(o.beta2), fresh2 = static_cast<W>(1 - o.beta2);
  const W eps = static_cast<W>(o.eps), decay = static_cast<W>(o.weight_decay);
  const Blocks blocks(ctx, set);
  // The update of every element waits here until its tensor's norms are known.
  const Scratch update_room = ctx.Allocate<W>(blocks.count * kBlock),
                part_room = ctx.Allocate<double>(2 * blocks.count);
  W* const updates = update_room.as<W>();
  double* const param_parts = part_room.as<double>();
  double* const update_parts = param_parts + blocks.count;
  blocks.Each(set, [&](int64_t block, int64_t tensor, int64_t begin, int64_t size) {
    const T* DRAGON_RESTRICT const param = static_cast<const T*>(set.params[tensor]) + begin;
    const T* DRAGON_RESTRICT const grad = static_cast<const T*>(set.grads[tensor]) + begin;
    T* DRAGON_RESTRICT const mean = static_cast<T*>(set.slots[0][tensor]) + begin;
    T* DRAGON_RESTRICT const square = static_cast<T*>(set.slots[1][tensor]) + begin;
    W* DRAGON_RESTRICT const update = updates + block * kBlock;
    const double step = set.steps[tensor];
    const W scale1 = static_cast<W>(1 / (1 - std::pow(o.beta1, step)));
    const W scale2 = static_cast<W>(1 / (1 - std::pow(o.beta2, step)));
    const bool maximize = o.maximize;
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) {
      const W g = maximize ? -static_cast<W>(grad[i]) : static_cast<W>(grad[i]);
      const W m = Lerp(static_cast<W>(mean[i]), g, fresh1);
      const W v = static_cast<W>(square[i]) * beta2 + fresh2 * g * g;
      mean[i] = static_cast<T>(m);
      square[i] = static_cast<T>(v);
      update[i] = m * scale1 / (std::sqrt(v * scale2) + eps) + decay * static_cast<W>(param[i]);
    }
    param_parts[block] = PowerSum(param, size, 2);
    update_parts[block] = PowerSum(update, size, 2);
  });
  blocks.Each(set, [&](int64_t block, int64_t tensor, int64_t begin, int64_t size) {
    const double of_param = std::sqrt(blocks.Total(param_parts, tensor));
    const double of_update = std::sqrt(blocks.Total(update_parts, tensor));
    const double trust = of_param > 0 && of_update > 0 ? of_param / of_update : 1;
    const W rate = static_cast<W>(o.rate * trust);
    T* DRAGON_RESTRICT const param = static_cast<T*>(set.params[tensor]) + begin;
    const W* DRAGON_RESTRICT const update = updates + block * kBlock;
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) param[i] = static_cast<T>(static_cast<W>(param[i]) - rate * update[i]);
  });
}
DRAGON_KERNEL(Lamb, Floating);

}  // namespace dragon::DRAGON_DEVICE
