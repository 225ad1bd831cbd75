// QR factors by Householder reflections, and products with the reflections.
#include "core/kernels/linalg/common.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Complex reflections make a unitary matrix, real ones an orthogonal one; LAPACK's names say so.
template <typename T>
void MakeQ(int m, int n, int k, T* a, const T* tau, T* work, int work_size) {
  int code = 0;
  if constexpr (kIsComplex<T>) {
    Lapack<T, "ungqr">(m, n, k, a, Leading(m), const_cast<T*>(tau), work, work_size, &code);
  } else {
    Lapack<T, "orgqr">(m, n, k, a, Leading(m), const_cast<T*>(tau), work, work_size, &code);
  }
}

template <typename T>
void Reflect(int m, int n, T* a, T* tau, T* work, int work_size) {
  int code = 0;
  Lapack<T, "geqrf">(m, n, a, Leading(m), tau, work, work_size, &code);
}

/// Enough workspace for all here: a block of columns, and the triangular factor that LAPACK keeps beside it.
inline int QrWork(int m, int n) {
  return static_cast<int>(std::min(int64_t{64} * Leading(std::max(m, n)) + 64 * 65, int64_t{1} << 30));
}

}  // namespace

template <typename T>
void LinalgQr(Context& ctx, View q, View r, View a) {
  const Matrices<T> from(a), upper(r);
  const int m = from.rows, n = from.columns, k = std::min(m, n);
  const int wide = q ? static_cast<int>(q.dim(-1)) : 0;
  ForMatrices(from.count, double{2} * m * n * k, [&](int64_t begin, int64_t end) {
    auto columns = ctx.Allocate<T>(int64_t{m} * std::max(n, wide)), taus = ctx.Allocate<T>(k + 1);
    const int work_size = QrWork(m, std::max(n, wide));
    auto works = ctx.Allocate<T>(work_size);
    T *x = columns.template as<T>(), *tau = taus.template as<T>(), *work = works.template as<T>();
    for (int64_t i = begin; i < end; ++i) {
      Transpose(from[i], m, n, x);
      if (k > 0) Reflect(m, n, x, tau, work, work_size);
      for (int64_t row = 0; row < upper.rows; ++row) {
        T* line = upper[i] + row * n;
        for (int64_t column = 0; column < n; ++column) line[column] = column < row ? T(0) : x[column * m + row];
      }
      if (wide == 0) continue;
      MakeQ(m, wide, k, x, tau, work, work_size);
      Transpose(x, wide, m, q.as<T>() + i * m * wide);
    }
  });
}
DRAGON_KERNEL(LinalgQr, LinearTypes);

template <typename T>
void Geqrf(Context& ctx, View y, View tau, View a) {
  const Matrices<T> from(a), to(y);
  const int m = from.rows, n = from.columns, k = std::min(m, n);
  if (k == 0) return;
  ForMatrices(from.count, double{2} * m * n * k, [&](int64_t begin, int64_t end) {
    const int work_size = QrWork(m, n);
    auto columns = ctx.Allocate<T>(from.size()), work = ctx.Allocate<T>(work_size);
    for (int64_t i = begin; i < end; ++i) {
      Transpose(from[i], m, n, columns.template as<T>());
      Reflect(m, n, columns.template as<T>(), tau.as<T>() + i * k, work.template as<T>(), work_size);
      Transpose(columns.template as<T>(), n, m, to[i]);
    }
  });
}
DRAGON_KERNEL(Geqrf, LinearTypes);

template <typename T>
void LinalgHouseholderProduct(Context& ctx, View q, View a, View tau) {
  const Matrices<T> from(a), to(q);
  const int m = from.rows, n = from.columns, k = static_cast<int>(tau.dim(-1));
  if (from.size() == 0) return;
  ForMatrices(from.count, double{2} * m * n * n, [&](int64_t begin, int64_t end) {
    const int work_size = QrWork(m, n);
    auto columns = ctx.Allocate<T>(from.size()), work = ctx.Allocate<T>(work_size);
    for (int64_t i = begin; i < end; ++i) {
      Transpose(from[i], m, n, columns.template as<T>());
      MakeQ(m, n, k, columns.template as<T>(), tau.as<T>() + i * k, work.template as<T>(), work_size);
      Transpose(columns.template as<T>(), n, m, to[i]);
    }
  });
}
DRAGON_KERNEL(LinalgHouseholderProduct, LinearTypes);

template <typename T>
void Ormqr(Context& ctx, View y, View a, View tau, View c, bool left, bool transpose) {
  const Matrices<T> reflectors(a), from(c), to(y);
  const int m = from.rows, n = from.columns, order = left ? m : n, k = static_cast<int>(tau.dim(-1));
  if (from.size() == 0) return;
  const char trans = !transpose ? 'N' : kIsComplex<T> ? 'C' : 'T';
  ForMatrices(from.count, double{4} * m * n * k, [&](int64_t begin, int64_t end) {
    const int work_size = QrWork(m, n);
    auto vectors = ctx.Allocate<T>(reflectors.size()), columns = ctx.Allocate<T>(from.size());
    auto works = ctx.Allocate<T>(work_size);
    T *v = vectors.template as<T>(), *x = columns.template as<T>(), *work = works.template as<T>();
    for (int64_t i = begin; i < end; ++i) {
      Transpose(reflectors[i], order, reflectors.columns, v);
      Transpose(from[i], m, n, x);
      T* scales = tau.as<T>() + i * k;
      int code = 0;
      if constexpr (kIsComplex<T>) {
        Lapack<T, "unmqr">(left ? 'L' : 'R', trans, m, n, k, v, order, scales, x, m, work, work_size, &code);
      } else {
        Lapack<T, "ormqr">(left ? 'L' : 'R', trans, m, n, k, v, order, scales, x, m, work, work_size, &code);
      }
      Transpose(x, n, m, to[i]);
    }
  });
}
DRAGON_KERNEL(Ormqr, LinearTypes);

}  // namespace dragon::DRAGON_DEVICE
