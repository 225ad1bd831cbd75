// Eigenvalues and eigenvectors, of Hermitian and of general matrices.
#include "core/kernels/linalg/common.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr const char* kNotFinite = "has elements that are not finite";
constexpr const char* kDiverged = "is too ill-conditioned: the iteration did not converge";

/// Workspace sizes and memory of syevd / heevd.
template <typename T>
struct HermitianTask {
  using Real = RealOf<T>;
  char job, triangle;
  int n;
  int work_size = -1, real_size = -1, int_size = -1;

  int Run(T* a, Real* w, T* work, Real* real_work, int* int_work) const {
    int code = 0;
    if constexpr (kIsComplex<T>) {
      Lapack<T, "heevd">(job, triangle, n, a, Leading(n), w, work, work_size, real_work, real_size, int_work, int_size,
                         &code);
    } else {
      Lapack<T, "syevd">(job, triangle, n, a, Leading(n), w, work, work_size, int_work, int_size, &code);
    }
    return code;
  }
  void AskSizes() {
    T work{}, a{};
    Real real_work{}, w{};
    int int_work = 1;
    Run(&a, &w, &work, &real_work, &int_work);
    work_size = WorkSize(work);
    real_size = kIsComplex<T> ? WorkSize(real_work) : 1;
    int_size = int_work;
  }
};

/// out[i][j] = conj(out[j][i]), in place.
template <typename T>
void AdjointInPlace(T* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    x[i * n + i] = Conjugate(x[i * n + i]);
    for (int64_t j = 0; j < i; ++j) {
      const T lower = x[i * n + j];
      x[i * n + j] = Conjugate(x[j * n + i]);
      x[j * n + i] = Conjugate(lower);
    }
  }
}

}  // namespace

template <typename T>
void LinalgEigh(Context& ctx, View w, View v, View a, bool upper, const char* who) {
  using Real = RealOf<T>;
  const Matrices<T> from(a);
  const int n = from.rows;
  if (n == 0) return;
  constexpr int kLargest = 30000;  // beyond it, the workspace's size leaves LAPACK's integers
  if (n > kLargest) throw ValueError(who).Got("matrices of ", n, " rows").Expected("at most ", kLargest);
  // Read by columns A is conj(A): the same eigenvalues, the conjugate vectors, the other triangle.
  HermitianTask<T> task{v ? 'V' : 'N', upper ? 'L' : 'U', n};
  task.AskSizes();
  ForMatrices(from.count, (v ? 9.0 : 2.0) * n * n * n, [&](int64_t begin, int64_t end) {
    auto work = ctx.Allocate<T>(task.work_size), copy = ctx.Allocate<T>(v ? 1 : from.size());
    auto reals = ctx.Allocate<Real>(task.real_size);
    auto ints = ctx.Allocate<int>(task.int_size);
    for (int64_t i = begin; i < end; ++i) {
      T* x = v ? v.as<T>() + i * from.size() : copy.template as<T>();
      if (!AllFinite(from[i], from.size())) throw Trouble(who, a, i, kNotFinite, 0);
      std::copy_n(from[i], from.size(), x);
      const int code =
          task.Run(x, w.as<Real>() + i * n, work.template as<T>(), reals.template as<Real>(), ints.template as<int>());
      if (code != 0) throw Trouble(who, a, i, kDiverged, code);
      if (v) AdjointInPlace(x, n);
    }
  });
}
DRAGON_KERNEL(LinalgEigh, LinearTypes);

namespace {

/// geev for real matrices answers in two real parts, and packs conjugate pairs of vectors into two real columns.
template <typename T>
struct GeneralTask {
  using Real = RealOf<T>;
  char job;
  int n;
  int work_size = -1;

  int Run(T* a, T* values, Real* parts, T* vectors, T* work) const {
    int code = 0;
    T unused{};
    const int leading = job == 'V' ? n : 1;
    if constexpr (kIsComplex<T>) {
      Lapack<T, "geev">('N', job, n, a, n, values, &unused, 1, vectors, leading, work, work_size, parts, &code);
    } else {
      Lapack<T, "geev">('N', job, n, a, n, parts, parts + n, &unused, 1, vectors, leading, work, work_size, &code);
    }
    return code;
  }
};

template <typename Real>
void UnpackVectors(const Real* imaginary, const Real* packed, int64_t n, Complex<Real>* v) {
  for (int64_t j = 0; j < n; ++j) {
    const Real* re = packed + j * n;
    if (imaginary[j] == 0 || j + 1 == n) {
      for (int64_t i = 0; i < n; ++i) v[i * n + j] = {re[i], 0};
      continue;
    }
    const Real* im = packed + (j + 1) * n;
    for (int64_t i = 0; i < n; ++i) {
      v[i * n + j] = {re[i], im[i]};
      v[i * n + j + 1] = {re[i], -im[i]};
    }
    ++j;
  }
}

}  // namespace

template <typename T>
void LinalgEig(Context& ctx, View w, View v, View a, const char* who) {
  using Real = RealOf<T>;
  const Matrices<T> from(a);
  const int n = from.rows;
  if (n == 0) return;
  GeneralTask<T> task{v ? 'V' : 'N', n};
  T size{};
  {
    auto parts = ctx.Allocate<Real>(2 * n);  // a query may touch none of these, but it wants addresses
    task.Run(from.data, &size, parts.template as<Real>(), &size, &size);
  }
  task.work_size = std::max(WorkSize(size), 4 * n);
  ForMatrices(from.count, double{25} * n * n * n, [&](int64_t begin, int64_t end) {
    auto copy = ctx.Allocate<T>(from.size()), packed = ctx.Allocate<T>(v ? from.size() : 1);
    auto work = ctx.Allocate<T>(task.work_size);
    auto reals = ctx.Allocate<Real>(2 * n);
    auto* parts = reals.template as<Real>();
    T *x = copy.template as<T>(), *vectors = packed.template as<T>();
    for (int64_t i = begin; i < end; ++i) {
      if (!AllFinite(from[i], from.size())) throw Trouble(who, a, i, kNotFinite, 0);
      Transpose(from[i], n, n, x);
      auto* values = w.as<Complex<Real>>() + i * n;
      auto* out = v ? v.as<Complex<Real>>() + i * from.size() : nullptr;
      const int code = task.Run(x, reinterpret_cast<T*>(values), parts, vectors, work.template as<T>());
      if (code != 0) throw Trouble(who, a, i, kDiverged, code);
      if constexpr (kIsComplex<T>) {
        if (out) Transpose(vectors, n, n, out);
      } else {
        for (int j = 0; j < n; ++j) values[j] = {parts[j], parts[n + j]};
        if (out) UnpackVectors(parts + n, vectors, n, out);
      }
    }
  });
}
DRAGON_KERNEL(LinalgEig, LinearTypes);

}  // namespace dragon::DRAGON_DEVICE
