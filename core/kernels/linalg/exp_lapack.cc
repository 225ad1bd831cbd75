// The matrix exponential by the [13/13] Pade approximant with scaling and squaring (N. Higham, SIAM J. Matrix Anal. 26,
// 2005).
#include <utility>

#include "core/kernels/linalg/common.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Numerator coefficients of the [13/13] approximant; the denominator's differ in the sign of the odd ones.
constexpr double kPade[14] = {64764752532480000.,
                              32382376266240000.,
                              7771770303897600.,
                              1187353796428800.,
                              129060195264000.,
                              10559470521600.,
                              670442572800.,
                              33522128640.,
                              1323241920.,
                              40840800.,
                              960960.,
                              16380.,
                              182.,
                              1.};
/// The largest 1-norm at which the approximant is exact to double precision.
constexpr double kTheta = 5.371920351148152;

/// Square matrices of one size, and the few operations the approximant is made of.
template <typename T>
struct Algebra {
  int n;
  int64_t size() const { return int64_t{n} * n; }
  /// c = a b, all read by columns; powers of one matrix commute, so no order is spoiled.
  void Multiply(const T* a, const T* b, T* c) const {
    Lapack<T, "gemm">('N', 'N', n, n, n, T(1), const_cast<T*>(a), n, const_cast<T*>(b), n, T(0), c, n);
  }
  void Add(double scale, const T* a, T* c) const {
    for (int64_t i = 0; i < size(); ++i) c[i] += T(static_cast<RealOf<T>>(scale)) * a[i];
  }
  void AddIdentity(double scale, T* c) const {
    for (int64_t i = 0; i < n; ++i) c[i * n + i] += T(static_cast<RealOf<T>>(scale));
  }
  double Norm(const T* a) const {
    double largest = 0;
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < n; ++j) {
        if constexpr (kIsComplex<T>) {
          sum += std::hypot(static_cast<double>(a[i * n + j].re), static_cast<double>(a[i * n + j].im));
        } else {
          sum += std::fabs(static_cast<double>(a[i * n + j]));
        }
      }
      largest = std::isnan(sum) ? sum : std::max(largest, sum);
      if (std::isnan(largest)) break;
    }
    return largest;
  }
};

template <typename T>
void ExpOne(const Algebra<T>& algebra, const T* a, T* y, T* memory, int* swaps) {
  const int n = algebra.n;
  const int64_t size = algebra.size();
  T *x = memory, *x2 = x + size, *x4 = x2 + size, *x6 = x4 + size, *u = x6 + size, *v = u + size, *w = v + size;
  const double norm = algebra.Norm(a);
  if (!std::isfinite(norm)) return std::fill_n(y, size, T(std::numeric_limits<RealOf<T>>::quiet_NaN())), void();
  const int squarings = norm > kTheta ? static_cast<int>(std::ceil(std::log2(norm / kTheta))) : 0;
  const auto scale = T(static_cast<RealOf<T>>(std::ldexp(1.0, -squarings)));
  for (int64_t i = 0; i < size; ++i) x[i] = a[i] * scale;
  algebra.Multiply(x, x, x2);
  algebra.Multiply(x2, x2, x4);
  algebra.Multiply(x2, x4, x6);
  // A polynomial of even powers for half the coefficients, starting at `first`: w = x6 (...) + (...).
  const auto half = [&](int first, T* out) {
    std::fill_n(w, size, T(0));
    algebra.Add(kPade[first + 12], x6, w), algebra.Add(kPade[first + 10], x4, w), algebra.Add(kPade[first + 8], x2, w);
    algebra.Multiply(x6, w, out);
    algebra.Add(kPade[first + 6], x6, out), algebra.Add(kPade[first + 4], x4, out);
    algebra.Add(kPade[first + 2], x2, out), algebra.AddIdentity(kPade[first], out);
  };
  half(1, v);
  algebra.Multiply(x, v, u);
  half(0, v);
  for (int64_t i = 0; i < size; ++i) y[i] = v[i] + u[i], v[i] = v[i] - u[i];
  int code = 0;
  Lapack<T, "gesv">(n, n, v, n, swaps, y, n, &code);
  T *from = y, *to = w;
  for (int i = 0; i < squarings; ++i) algebra.Multiply(from, from, to), std::swap(from, to);
  if (from != y) std::copy_n(from, size, y);
}

}  // namespace

template <typename T>
void MatrixExp(Context& ctx, View y, View a) {
  const Matrices<T> from(a), to(y);
  const Algebra<T> algebra{from.rows};
  if (from.size() == 0) return;
  ForMatrices(from.count, 20.0 * from.rows * from.size(), [&](int64_t begin, int64_t end) {
    auto memory = ctx.Allocate<T>(7 * from.size());
    auto swaps = ctx.Allocate<int>(from.rows);
    for (int64_t i = begin; i < end; ++i)
      ExpOne(algebra, from[i], to[i], memory.template as<T>(), swaps.template as<int>());
  });
}
DRAGON_KERNEL(MatrixExp, LinearTypes);

}  // namespace dragon::DRAGON_DEVICE
