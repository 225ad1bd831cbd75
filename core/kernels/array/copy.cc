// Copying between any strides and dtypes; transposed matrices go tile by tile, so that both sides move whole cache
// lines.
#include "core/kernels/array.h"
#include "core/kernels/each.h"
#include "core/kernels/identity.h"

namespace dragon::DRAGON_DEVICE {

/// A square of registers, turned over its diagonal: at every distance d, halves of lines i and i + d change places.
template <typename W>
struct Square {
  static constexpr int kSize = 32 / sizeof(W);
  typedef W Vector __attribute__((vector_size(32)));  // `using` would drop the attribute of a dependent type

  template <int kDistance, int... kLane>
  static void Exchange(Vector (&lines)[kSize], std::integer_sequence<int, kLane...>) {
    constexpr Vector kFirst = {W(kLane & kDistance ? kSize + kLane - kDistance : kLane)...};
    constexpr Vector kSecond = {W(kLane & kDistance ? kSize + kLane : kLane + kDistance)...};
    for (int i = 0; i < kSize; ++i) {
      if (i & kDistance) continue;
      const Vector a = lines[i], b = lines[i + kDistance];
      lines[i] = __builtin_shuffle(a, b, kFirst);
      lines[i + kDistance] = __builtin_shuffle(a, b, kSecond);
    }
  }
  template <int kDistance = 1>
  static void Turn(Vector (&lines)[kSize]) {
    if constexpr (kDistance < kSize) {
      Exchange<kDistance>(lines, std::make_integer_sequence<int, kSize>{});
      Turn<2 * kDistance>(lines);
    }
  }
  static void Copy(char* y, int64_t y_row, const char* x, int64_t x_column) {
    Vector lines[kSize];
    for (int i = 0; i < kSize; ++i) std::memcpy(&lines[i], x + i * x_column, sizeof(Vector));
    Turn(lines);
    for (int i = 0; i < kSize; ++i) std::memcpy(y + i * y_row, &lines[i], sizeof(Vector));
  }
};

/// One matrix within a copy: x runs along rows, y along columns.
struct Tiles {
  const kernels::Plan& plan;
  int row;  // the axis along which x is contiguous; y is along the plan's last

  int64_t last() const { return plan.ndim - 1; }
  template <typename W>
  static constexpr int64_t kTile = sizeof(W) <= 4 ? 64 : 32;

  template <typename W>
  void Copy(char* y, const char* x, int64_t rows, int64_t columns) const {
    const int64_t y_row = plan.operands[0].strides[row], x_column = plan.operands[1].strides[last()];
    int64_t whole_rows = 0, whole_columns = 0;
    if constexpr (std::is_integral_v<W>) {
      constexpr int64_t kSize = Square<W>::kSize;
      whole_rows = rows / kSize * kSize, whole_columns = columns / kSize * kSize;
      for (int64_t i = 0; i < whole_rows; i += kSize) {
        for (int64_t j = 0; j < whole_columns; j += kSize) {
          Square<W>::Copy(y + i * y_row + j * sizeof(W), y_row, x + j * x_column + i * sizeof(W), x_column);
        }
      }
    }
    for (int64_t i = 0; i < rows; ++i) {
      W* to = reinterpret_cast<W*>(y + i * y_row);
      for (int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j) {
        to[j] = reinterpret_cast<const W*>(x + j * x_column)[i];
      }
    }
  }

  template <typename W>
  void Run() const {
    constexpr int64_t kSide = kTile<W>;
    const int64_t rows = plan.shape[row], columns = plan.shape[last()];
    const int64_t down = (rows + kSide - 1) / kSide, across = (columns + kSide - 1) / kSide;
    const int64_t matrices = plan.numel / (rows * columns);
    ParallelFor(
        matrices * down * across, std::max<int64_t>(1, kGrain / (kSide * kSide)), [&](int64_t begin, int64_t end) {
          for (int64_t n = begin; n < end; ++n) {
            int64_t matrix = n / (down * across);
            const int64_t i = n / across % down * kSide, j = n % across * kSide;
            char* y = plan.operands[0].data + i * plan.operands[0].strides[row] + j * plan.operands[0].strides[last()];
            char* x = plan.operands[1].data + i * plan.operands[1].strides[row] + j * plan.operands[1].strides[last()];
            for (int axis = plan.ndim - 2; axis >= 0; --axis) {
              if (axis == row) continue;
              const int64_t index = matrix % plan.shape[axis];
              matrix /= plan.shape[axis];
              y += index * plan.operands[0].strides[axis];
              x += index * plan.operands[1].strides[axis];
            }
            Copy<W>(y, x, std::min(kSide, rows - i), std::min(kSide, columns - j));
          }
        });
  }
};

/// Copy as transposed tiles, if x is contiguous along another axis than y and both are long enough; false if not.
template <typename W>
bool CopyTransposed(const View& y, const View& x) {
  constexpr int64_t kLeast = 8;
  if (x.numel != y.numel || x.ndim < 2 || y.numel < 1024) return false;
  const View* const views[] = {&y, &x};
  const kernels::Plan plan(views, 2);
  const int last = plan.ndim - 1;
  if (plan.ndim < 2 || plan.operands[0].strides[last] != sizeof(W) || plan.operands[1].strides[last] == sizeof(W)) {
    return false;
  }
  for (int axis = 0; axis < last; ++axis) {
    if (plan.operands[1].strides[axis] != sizeof(W) || plan.shape[axis] < kLeast || plan.shape[last] < kLeast) continue;
    Tiles{plan, axis}.Run<W>();
    return true;
  }
  return false;
}

/// Two to four lines woven into one: pictures whose channels are to lie side by side.
template <typename W, int kLines>
void Weave(W* DRAGON_RESTRICT y, const W* x, int64_t line, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < kLines; ++k) y[i * kLines + k] = x[k * line + i];
  }
}

template <typename W, int kLines>
bool WeavePictures(const View& y, const View& x) {
  const int64_t lines = kLines, size = y.shape[2] * y.shape[3];
  const int64_t wanted[] = {size * lines, 1, y.shape[3] * lines, lines};
  if (!x.is_contiguous() || !std::equal(wanted, wanted + 4, y.strides)) return false;
  constexpr int64_t kPiece = 4096;
  const int64_t pieces = (size + kPiece - 1) / kPiece;
  ParallelFor(y.shape[0] * pieces, std::max<int64_t>(1, kGrain / kPiece), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / pieces, first = i % pieces * kPiece, base = n * size * lines;
      Weave<W, kLines>(y.as<W>() + base + first * lines, x.as<W>() + base + first, size,
                       std::min(kPiece, size - first));
    }
  });
  return true;
}

/// NCHW to channels side by side for the few channels of a picture.
template <typename W>
bool CopyWoven(const View& y, const View& x) {
  if constexpr (!std::is_integral_v<W>) {
    return false;
  } else {
    if (x.ndim != 4 || y.ndim != 4 || y.numel < 1024) return false;
    if (y.shape[1] == 3) return WeavePictures<W, 3>(y, x);
    if (y.shape[1] == 4) return WeavePictures<W, 4>(y, x);
    return y.shape[1] == 2 && WeavePictures<W, 2>(y, x);
  }
}

struct Pair {
  uint64_t low, high;
};
template <typename T>
using WordOf =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t,
                                                             std::conditional_t<sizeof(T) == 8, uint64_t, Pair>>>>;

template <typename T>
void Copy(Context& ctx, View y, View x) {
  const bool same_order = x.is_contiguous() && y.is_contiguous();
  if (x.dtype == y.dtype && !same_order && (CopyTransposed<WordOf<T>>(y, x) || CopyWoven<WordOf<T>>(y, x))) return;
  Each<T(T)>(ctx, Identity{}, y, x);
}
DRAGON_KERNEL(Copy, StoredTypes);

}  // namespace dragon::DRAGON_DEVICE
