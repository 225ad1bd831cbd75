// Embedding gradients and embedding bags: rows of a table summed by index, always in the order of the indices.
#include <cmath>

#include "core/device/parallel.h"
#include "core/kernels/index.h"
#include "core/kernels/index/access.h"

namespace dragon::DRAGON_DEVICE {

using kernels::AxisIndex;
using kernels::BagMode;

namespace {

template <typename T>
void AddRow(T* DRAGON_RESTRICT y, const T* DRAGON_RESTRICT x, Wide<T> scale, int64_t width) {
#pragma omp simd
  for (int64_t i = 0; i < width; ++i)
    y[i] = static_cast<T>(static_cast<Wide<T>>(y[i]) + scale * static_cast<Wide<T>>(x[i]));
}

/// One bag: the elements [begin, end) of index, and how many of them are not padding.
struct Bag {
  int64_t begin, end, used;
};

/// `row` also refuses indices outside the table before anything is written.
Bag BagAt(const View& index, const View& offsets, int64_t bag, int64_t padding, AxisIndex row) {
  const int64_t* starts = offsets.as<const int64_t>();
  Bag found{starts[bag], starts[bag + 1], 0};
  if (found.begin < 0 || found.end < found.begin || found.end > index.numel) {
    throw ValueError("embedding_bag")
        .Got("offsets ", found.begin, " and ", found.end, " around bag ", bag)
        .Expected("increasing offsets from 0 to ", index.numel);
  }
  for (int64_t i = found.begin; i < found.end; ++i)
    found.used += row(index.as<const int64_t>()[i]) != padding * row.stride;
  return found;
}

/// The weight of element i in its bag.
template <typename T>
Wide<T> ElementScale(const View& scale, BagMode mode, const Bag& bag, int64_t i) {
  if (mode == BagMode::kMean) return Wide<T>(1) / static_cast<Wide<T>>(bag.used);
  return scale ? static_cast<Wide<T>>(scale.as<const T>()[i]) : Wide<T>(1);
}

/// How often each row is listed.
Scratch Frequencies(Context& ctx, const int64_t* index, int64_t count, AxisIndex row) {
  Scratch frequency = ctx.Allocate<int32_t>(row.size);
  std::fill_n(frequency.as<int32_t>(), row.size, 0);
  for (int64_t i = 0; i < count; ++i) ++frequency.as<int32_t>()[row(index[i])];
  return frequency;
}

template <typename T>
void MaxBag(T* y, int64_t* places, const T* weight, const int64_t* index, const Bag& bag, int64_t padding,
            AxisIndex row, int64_t width) {
  bool first = true;
  for (int64_t i = bag.begin; i < bag.end; ++i) {
    const int64_t offset = row(index[i]);
    if (offset == padding * width) continue;
    for (int64_t j = 0; j < width; ++j) {
      const T value = weight[offset + j];
      if (!first && !(value > y[j]) && !(value != value && y[j] == y[j])) continue;
      y[j] = value;
      if (places) places[j] = offset / width;
    }
    first = false;
  }
}

}  // namespace

template <typename T>
void EmbeddingBackward(Context& ctx, View dweight, View dy, View index, int64_t padding, bool scale_by_frequency) {
  using Acc = Wide<T>;
  const int64_t rows = dweight.shape[0], width = dweight.shape[1], count = index.numel;
  const int64_t* where = index.as<const int64_t>();
  const AxisIndex check{rows, 1, 0, {"embedding"}};
  const Scratch frequency = scale_by_frequency ? Frequencies(ctx, where, count, check) : ctx.Allocate<int32_t>(0);
  // Threads own columns, so every row is summed in the order of the indices, whatever their number.
  ParallelFor(width, 1 + kGrain / (count + rows + 1), [&](int64_t begin, int64_t end) {
    for (int64_t row = 0; row < rows; ++row) {
      std::memset(static_cast<void*>(dweight.as<T>() + row * width + begin), 0, (end - begin) * sizeof(T));
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = check(where[i]);
      if (row == padding) continue;
      const Acc scale = scale_by_frequency ? Acc(1) / static_cast<Acc>(frequency.as<int32_t>()[row]) : Acc(1);
      AddRow(dweight.as<T>() + row * width + begin, dy.as<const T>() + i * width + begin, scale, end - begin);
    }
  });
}
DRAGON_KERNEL(EmbeddingBackward, Floating);

template <typename T>
void EmbeddingBag(Context& ctx, View y, View places, View weight, View index, View offsets, View scale, BagMode mode,
                  int64_t padding) {
  const int64_t bags = y.shape[0], width = y.shape[1];
  const AxisIndex row{weight.shape[0], width, 0, {"embedding_bag"}};
  const int64_t* where = index.as<const int64_t>();
  const int64_t work = (index.numel / std::max<int64_t>(bags, 1) + 1) * (width + 1);
  ParallelFor(bags, 1 + kGrain / work, [&](int64_t begin, int64_t end) {
    Scratch sum = ctx.Allocate<Wide<T>>(width);
    auto* total = sum.as<Wide<T>>();
    for (int64_t b = begin; b < end; ++b) {
      const Bag bag = BagAt(index, offsets, b, padding, row);
      T* to = y.as<T>() + b * width;
      int64_t* place = places ? places.as<int64_t>() + b * width : nullptr;
      if (mode == BagMode::kMax) {
        std::fill_n(to, width, T(0));
        if (place) std::fill_n(place, width, -1);
        MaxBag(to, place, weight.as<const T>(), where, bag, padding, row, width);
        continue;
      }
      std::fill_n(total, width, Wide<T>(0));
      for (int64_t i = bag.begin; i < bag.end; ++i) {
        const int64_t offset = row(where[i]);
        if (offset == padding * width) continue;
        const T* from = weight.as<const T>() + offset;
        const Wide<T> s = mode == BagMode::kMean ? Wide<T>(1) : ElementScale<T>(scale, mode, bag, i);
#pragma omp simd
        for (int64_t j = 0; j < width; ++j) total[j] += s * static_cast<Wide<T>>(from[j]);
      }
      const Wide<T> divisor = mode == BagMode::kMean && bag.used > 0 ? static_cast<Wide<T>>(bag.used) : Wide<T>(1);
      for (int64_t j = 0; j < width; ++j) to[j] = static_cast<T>(total[j] / divisor);
    }
  });
}
DRAGON_KERNEL(EmbeddingBag, Floating);

template <typename T>
void EmbeddingBagBackward(Context& ctx, View dweight, View dscale, View dy, View places, View weight, View index,
                          View offsets, View scale, BagMode mode, int64_t padding, bool scale_by_frequency) {
  const int64_t bags = dy.shape[0], width = dy.shape[1];
  const int64_t* where = index.as<const int64_t>();
  const AxisIndex row{weight.shape[0], width, 0, {"embedding_bag_backward"}};
  const AxisIndex count{weight.shape[0], 1, 0, {"embedding_bag_backward"}};
  const Scratch frequency = scale_by_frequency ? Frequencies(ctx, where, index.numel, count) : ctx.Allocate<int32_t>(0);
  if (dweight) std::memset(dweight.data, 0, dweight.numel * sizeof(T));
  if (dscale) std::memset(dscale.data, 0, dscale.numel * sizeof(T));
  for (int64_t b = 0; b < bags; ++b) {
    const Bag bag = BagAt(index, offsets, b, padding, row);
    const T* from = dy.as<const T>() + b * width;
    if (mode == BagMode::kMax) {
      for (int64_t j = 0; dweight && j < width; ++j) {
        const int64_t place = places.as<const int64_t>()[b * width + j];
        if (place < 0) continue;
        T& to = dweight.as<T>()[row(place) + j];
        to = static_cast<T>(static_cast<Wide<T>>(to) + static_cast<Wide<T>>(from[j]));
      }
      continue;
    }
    for (int64_t i = bag.begin; i < bag.end; ++i) {
      const int64_t offset = row(where[i]);
      if (offset == padding * width) continue;
      Wide<T> share = ElementScale<T>(scale, mode, bag, i);
      if (scale_by_frequency) share /= static_cast<Wide<T>>(frequency.as<int32_t>()[count(where[i])]);
      if (dweight) AddRow(dweight.as<T>() + offset, from, share, width);
      if (!dscale) continue;
      Wide<T> dot = 0;
      for (int64_t j = 0; j < width; ++j) {
        dot += static_cast<Wide<T>>(from[j]) * static_cast<Wide<T>>(weight.as<const T>()[offset + j]);
      }
      dscale.as<T>()[i] = static_cast<T>(dot);
    }
  }
}
DRAGON_KERNEL(EmbeddingBagBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
