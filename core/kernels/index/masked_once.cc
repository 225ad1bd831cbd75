// Everything driven by a mask: fill, select, scatter, and the list of places that are not zero.
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/index.h"
#include "core/kernels/index/access.h"

namespace dragon::DRAGON_DEVICE {

using kernels::Walk;
using kernels::Word;

namespace {

/// Elements per piece of work whose true entries are counted first, so that pieces know where to begin.
constexpr int64_t kPiece = 16384;

/// Call `body(begin, end, first chosen)` for every piece.
template <typename F>
void ForPieces(int64_t total, const std::vector<int64_t>& before, F body) {
  ParallelFor(static_cast<int64_t>(before.size()) - 1, 2, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) body(i * kPiece, std::min(total, (i + 1) * kPiece), before[i]);
  });
}

template <typename T>
bool NotZero(T value) {
  if constexpr (kIsComplex<T>) {
    return value.re != 0 || value.im != 0;
  } else {
    return value != T(0);
  }
}

/// Count elements of operand `n` of `walk` in [begin, end) that are not zero.
template <typename T, int N>
int64_t CountIn(const T* data, const Walk<N>& walk, int n, int64_t begin, int64_t end) {
  int64_t count = 0;
  const int64_t step = walk.step(n);
  walk.Range(begin, end, [&](const auto& at, int64_t length) {
    const T* line = data + at[n];
    int64_t found = 0;
    for (int64_t i = 0; i < length; ++i) found += NotZero(line[i * step]);
    count += found;
  });
  return count;
}

/// The number of elements of operand `n` of `walk` that are not zero before each piece, and in all at the end.
template <typename T, int N>
std::vector<int64_t> CountBefore(const T* data, const Walk<N>& walk, int n) {
  const int64_t total = walk.total(), pieces = (total + kPiece - 1) / kPiece;
  std::vector<int64_t> before(pieces + 1, 0);
  ParallelFor(pieces, 2, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      before[i + 1] = CountIn(data, walk, n, i * kPiece, std::min(total, (i + 1) * kPiece));
    }
  });
  for (int64_t i = 0; i < pieces; ++i) before[i + 1] += before[i];
  return before;
}

}  // namespace

template <typename T>
void MaskedFill(Context& ctx, View y, View x, View mask, View value) {
  using W = Word<T>;
  const Walk<3> walk(y.shape, 0, y.ndim, {y.strides, x.strides, mask.strides});
  const int64_t y_step = walk.step(0), x_step = walk.step(1), mask_step = walk.step(2);
  const W fill = *value.as<const W>();
  ParallelFor(walk.total(), kGrain, [&](int64_t begin, int64_t end) {
    walk.Range(begin, end, [&](const auto& at, int64_t count) {
      W* to = y.as<W>() + at[0];
      const W* from = x.as<const W>() + at[1];
      const bool* where = mask.as<const bool>() + at[2];
      if (y_step == 1 && x_step == 1 && mask_step == 1) {
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) to[i] = where[i] ? fill : from[i];
      } else {
        for (int64_t i = 0; i < count; ++i) to[i * y_step] = where[i * mask_step] ? fill : from[i * x_step];
      }
    });
  });
}
DRAGON_KERNEL(MaskedFill, AllTypes);

template <typename T>
void MaskedSelect(Context& ctx, View y, View x, View mask) {
  using W = Word<T>;
  const Walk<2> walk(x.shape, 0, x.ndim, {x.strides, mask.strides});
  const int64_t x_step = walk.step(0), mask_step = walk.step(1), y_step = y.strides[0];
  const auto before = CountBefore(mask.as<const bool>(), walk, 1);
  ForPieces(walk.total(), before, [&](int64_t begin, int64_t end, int64_t place) {
    walk.Range(begin, end, [&](const auto& at, int64_t count) {
      const W* from = x.as<const W>() + at[0];
      const bool* where = mask.as<const bool>() + at[1];
      for (int64_t i = 0; i < count; ++i) {
        if (where[i * mask_step]) y.as<W>()[place++ * y_step] = from[i * x_step];
      }
    });
  });
}
DRAGON_KERNEL(MaskedSelect, AllTypes);

template <typename T>
void MaskedScatter(Context& ctx, View y, View x, View mask, View src) {
  using W = Word<T>;
  const Walk<3> walk(y.shape, 0, y.ndim, {y.strides, x.strides, mask.strides});
  const int64_t y_step = walk.step(0), x_step = walk.step(1), mask_step = walk.step(2);
  const auto before = CountBefore(mask.as<const bool>(), walk, 2);
  if (before.back() > src.numel) {
    throw ValueError("masked_scatter")
        .Got(src.numel, " elements in src")
        .Expected("at least the ", before.back(), " that the mask selects");
  }
  ForPieces(walk.total(), before, [&](int64_t begin, int64_t end, int64_t place) {
    walk.Range(begin, end, [&](const auto& at, int64_t count) {
      W* to = y.as<W>() + at[0];
      const W* from = x.as<const W>() + at[1];
      const bool* where = mask.as<const bool>() + at[2];
      for (int64_t i = 0; i < count; ++i) {
        to[i * y_step] = where[i * mask_step] ? src.as<const W>()[place++] : from[i * x_step];
      }
    });
  });
}
DRAGON_KERNEL(MaskedScatter, AllTypes);

template <typename T>
void CountMarked(Context& ctx, int64_t* count, View x) {
  const Walk<1> walk(x.shape, 0, x.ndim, {x.strides});
  *count = CountBefore(x.as<const T>(), walk, 0).back();
}
DRAGON_KERNEL(CountMarked, AllTypes);

template <typename T>
void Nonzero(Context& ctx, View y, View x) {
  const Walk<1> walk(x.shape, 0, x.ndim, {x.strides});
  const int64_t step = walk.step(0);
  const auto before = CountBefore(x.as<const T>(), walk, 0);
  ForPieces(walk.total(), before, [&](int64_t begin, int64_t end, int64_t place) {
    int64_t* row = y.as<int64_t>() + place * x.ndim;
    int64_t element = begin;
    walk.Range(begin, end, [&](const auto& at, int64_t count) {
      const T* from = x.as<const T>() + at[0];
      for (int64_t i = 0; i < count; ++i, ++element) {
        if (!NotZero(from[i * step])) continue;
        int64_t rest = element;
        for (int axis = x.ndim - 1; axis > 0; --axis) {
          row[axis] = rest % x.shape[axis];
          rest /= x.shape[axis];
        }
        if (x.ndim > 0) row[0] = rest;
        row += x.ndim;
      }
    });
  });
}
DRAGON_KERNEL(Nonzero, AllTypes);

}  // namespace dragon::DRAGON_DEVICE
