// Chooses, per shape, who multiplies: plain loops, register tiles, packed panels or oneDNN; and walks the batch.
#include "core/kernels/matmul.h"

#include "core/kernels/matmul/direct.h"
#include "core/kernels/matmul/gemm.h"
#include "core/kernels/matmul/gemv.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Products (multiply-adds) below which no library call, packing or thread pays for itself.
constexpr int64_t kSmall = 20000;
/// Rows below which b is streamed once rather than packed.
constexpr int64_t kThin = 8;

template <typename T>
void SmallOrThin(const Context& ctx, int64_t m, int64_t n, int64_t k, Matrix<const T> a, Matrix<const T> b, Matrix<T> y,
                 const Epilogue<T>& epilogue) {
  const int64_t grain = std::max<int64_t>(64, 4 * kSmall / (m * std::max<int64_t>(k, 1)));
  if (b.row == 1 && a.col == 1 && k >= 32) {
    return ParallelFor(n, grain, [&](int64_t j, int64_t end) { DotGemm<T>(m, j, end, k, a, b, y, epilogue); });
  }
  if (b.col == 1) {
    return ParallelFor(n, grain, [&](int64_t j, int64_t end) { DirectGemm<T>(m, j, end, k, a, b, y, epilogue); });
  }
  constexpr int64_t kOnStack = 4096;
  if (k * n > kOnStack) return PackedGemm<T>(ctx, m, n, k, a, b, y, epilogue);
  T lined_up[kOnStack];
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t j = 0; j < n; ++j) lined_up[p * n + j] = b(p, j);
  }
  DirectGemm<T>(m, 0, n, k, a, Matrix<const T>{lined_up, n, 1}, y, epilogue);
}

/// One product that is not empty, on this side of the library.
template <typename T>
void Multiply(const Context& ctx, int64_t m, int64_t n, int64_t k, Matrix<const T> a, Matrix<const T> b, Matrix<T> y,
              const Epilogue<T>& epilogue) {
  if (n == 1) return Gemv<T>(m, k, a, b.data, b.row, y.data, y.row, epilogue, /*bias_along_m=*/false);
  if (m == 1) return Gemv<T>(n, k, b.Transposed(), a.data, a.col, y.data, y.col, epilogue, /*bias_along_m=*/true);
  if constexpr (kDirect<T>) {
    if (m < kThin || m * n * k <= kSmall) return SmallOrThin<T>(ctx, m, n, k, a, b, y, epilogue);
  } else if (m * n * k <= kSmall / 16) {
    return PlainGemm<T>(m, n, k, a, b, y, epilogue);
  }
  PackedGemm<T>(ctx, m, n, k, a, b, y, epilogue);
}

/// Offsets of the i-th matrix of a batch, by mixed-radix counting over the batch axes.
int64_t BatchOffset(const View& x, int64_t i) {
  int64_t offset = 0;
  for (int axis = x.ndim - 3; axis >= 0; --axis) {
    offset += i % x.shape[axis] * x.strides[axis];
    i /= x.shape[axis];
  }
  return offset;
}

/// Fold a batch of rows that share b into one tall product: a[i] and y[i] follow each other at one row stride.
bool FoldBatch(const View& y, const View& a, const View& b, int64_t* rows) {
  *rows = y.dim(-2);
  for (int axis = y.ndim - 3; axis >= 0; --axis) {
    if (y.shape[axis] == 1) continue;
    if (b.strides[axis] != 0 || a.strides[axis] != *rows * a.stride(-2) || y.strides[axis] != *rows * y.stride(-2)) {
      return false;
    }
    *rows *= y.shape[axis];
  }
  return true;
}

/// The last two axes of x, with `rows` rows.
template <typename T>
Matrix<T> MatrixOf(const View& x, int64_t rows) {
  // A stride along an axis of one element is free to choose: 1 lets more shapes qualify for the quick paths.
  return {x.as<T>(), rows == 1 && x.stride(-1) != 1 ? 1 : x.stride(-2),
          x.dim(-1) == 1 && x.stride(-2) != 1 ? 1 : x.stride(-1)};
}

}  // namespace

template <typename T>
void Matmul(Context& ctx, View y, View a, View b, View bias, const MatmulPost& post) {
  if (y.numel == 0) return;
  const Epilogue<T> epilogue(bias, post);
  const int64_t n = y.dim(-1), k = a.dim(-1);
  int64_t m = y.dim(-2), batch = y.numel / (m * n);
  int64_t rows = m;
  if (batch > 1 && FoldBatch(y, a, b, &rows)) m = rows, batch = 1;
  const auto ym = MatrixOf<T>(y, m);
  const auto am = MatrixOf<const T>(a, m), bm = MatrixOf<const T>(b, k);
  if constexpr (kHasOneDnn && (std::is_same_v<T, float> || std::is_same_v<T, bfloat16>)) {
    if (m >= kThin && n > 1 && m * n * k > kSmall) {
      bool done = false;
      if (batch == 1 && m != y.dim(-2)) {
        const OwnedView tall_y(y.data, y.dtype, {m, n}, {ym.row, ym.col});
        const OwnedView tall_a(a.data, a.dtype, {m, k}, {am.row, am.col});
        const OwnedView one_b(b.data, b.dtype, {k, n}, {bm.row, bm.col});
        kernels::MatmulOneDnn(ctx, kDTypeOf<T>, tall_y.view, tall_a.view, one_b.view, bias, post, &done);
      } else {
        kernels::MatmulOneDnn(ctx, kDTypeOf<T>, y, a, b, bias, post, &done);
      }
      if (done) return;
    }
  }
  if (batch == 1) return Multiply<T>(ctx, m, n, k, am, bm, ym, epilogue);
  const auto walk = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Multiply<T>(ctx, m, n, k, {am.data + BatchOffset(a, i), am.row, am.col},
                  {bm.data + BatchOffset(b, i), bm.row, bm.col}, {ym.data + BatchOffset(y, i), ym.row, ym.col},
                  epilogue);
    }
  };
  // Many matrices: a thread takes whole ones. Few: all threads share each.
  if (batch >= NumThreads()) {
    ParallelFor(batch, std::max<int64_t>(1, 2 * kSmall / (m * n * std::max<int64_t>(k, 1))), walk);
  } else {
    walk(0, batch);
  }
}

template <typename T>
void Dot(Context& ctx, View y, View a, View b, bool conjugate) {
  const int64_t n = a.numel, a_step = n ? a.stride(-1) : 1, b_step = n ? b.stride(-1) : 1;
  auto sum = typename Epilogue<T>::Sum(0);
  if constexpr (kIsComplex<T>) {
    if (conjugate) {
      for (int64_t i = 0; i < n; ++i) sum += Conj(a.as<T>()[i * a_step]) * b.as<T>()[i * b_step];
      *y.as<T>() = sum;
      return;
    }
  }
  const int64_t pieces = std::min<int64_t>(NumThreads(), n / kGrain);
  if (pieces <= 1) {
    sum = DotProduct(n, a.as<const T>(), a_step, b.as<const T>(), b_step);
  } else {
    const Scratch partial = ctx.Allocate<typename Epilogue<T>::Sum>(pieces);
    auto* sums = partial.as<typename Epilogue<T>::Sum>();
    ParallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t from = n * i / pieces, to = n * (i + 1) / pieces;
        sums[i] =
            DotProduct(to - from, a.as<const T>() + from * a_step, a_step, b.as<const T>() + from * b_step, b_step);
      }
    });
    for (int64_t i = 0; i < pieces; ++i) sum += sums[i];
  }
  *y.as<T>() = Epilogue<T>::Narrow(sum);
}

DRAGON_KERNEL(Matmul, AllTypes);
DRAGON_KERNEL(Dot, AllTypes);

}  // namespace dragon::DRAGON_DEVICE
