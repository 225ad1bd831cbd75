// Singular values and vectors.
#include "core/kernels/linalg/common.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Beyond this side, divide and conquer wants a workspace larger than LAPACK's integers count.
constexpr int kLargestToDivide = 20000;

/// What one matrix's decomposition needs besides the matrix; LAPACK's view of the sides is kept here (A^T).
template <typename T>
struct SvdTask {
  using Real = RealOf<T>;
  char job;
  int rows, columns, leading_vt;
  T* u;
  T* vt;
  Real* s;
  T* work;
  int work_size;
  Real* real_work;
  int* int_work;

  /// Divide and conquer: the fast one.
  int Divide(T* a) const {
    int code = 0;
    if constexpr (kIsComplex<T>) {
      Lapack<T, "gesdd">(job, rows, columns, a, Leading(rows), s, u, Leading(rows), vt, Leading(leading_vt), work,
                         work_size, real_work, int_work, &code);
    } else {
      Lapack<T, "gesdd">(job, rows, columns, a, Leading(rows), s, u, Leading(rows), vt, Leading(leading_vt), work,
                         work_size, int_work, &code);
    }
    return code;
  }
  /// QR iteration: slower, and converges on a few matrices where the other does not.
  int Iterate(T* a) const {
    int code = 0;
    if constexpr (kIsComplex<T>) {
      Lapack<T, "gesvd">(job, job, rows, columns, a, Leading(rows), s, u, Leading(rows), vt, Leading(leading_vt), work,
                         work_size, real_work, &code);
    } else {
      Lapack<T, "gesvd">(job, job, rows, columns, a, Leading(rows), s, u, Leading(rows), vt, Leading(leading_vt), work,
                         work_size, &code);
    }
    return code;
  }
};

template <typename T>
int SvdWork(SvdTask<T> task) {
  T divide{}, iterate{}, dummy{};
  RealOf<T> real_dummy{};
  int int_dummy = 0;
  task.work_size = -1;
  task.u = task.vt = &dummy;
  task.s = task.real_work = &real_dummy;
  task.int_work = &int_dummy;
  task.work = &divide;
  if (std::min(task.rows, task.columns) <= kLargestToDivide) task.Divide(&dummy);
  task.work = &iterate;
  task.Iterate(&dummy);
  return std::max(WorkSize(divide), WorkSize(iterate));
}

}  // namespace

template <typename T>
void LinalgSvd(Context& ctx, View u, View s, View vh, View a, const char* who) {
  using Real = RealOf<T>;
  const Matrices<T> from(a);
  // Read by columns A is A^T = (Vh^T) S (U^T): LAPACK's left vectors, read by rows, are our Vh, and the right ones our
  // U.
  const int rows = from.columns, columns = from.rows, k = std::min(rows, columns);
  const int wide = u ? static_cast<int>(u.dim(-1)) : 1, high = vh ? static_cast<int>(vh.dim(-2)) : 1;
  const bool full = u && (wide > k || high > k);
  if (k == 0) {  // nothing to decompose, but full bases are identities
    for (int64_t i = 0; full && i < from.count; ++i) {
      SetIdentity(u.as<T>() + i * wide * wide, wide);
      SetIdentity(vh.as<T>() + i * high * high, high);
    }
    return;
  }
  const int64_t larger = std::max(rows, columns);
  SvdTask<T> shape{!u ? 'N' : full ? 'A' : 'S', rows, columns, u ? wide : 1, {}, {}, {}, {}, {}, {}, {}};
  shape.work_size = SvdWork(shape);
  ForMatrices(from.count, double{10} * rows * columns * k, [&](int64_t begin, int64_t end) {
    auto copy = ctx.Allocate<T>(from.size()), work = ctx.Allocate<T>(shape.work_size);
    auto ints = ctx.Allocate<int>(int64_t{8} * k);
    auto reals = ctx.Allocate<Real>(kIsComplex<T> ? 5 * int64_t{k} * k + 2 * larger * k + 7 * larger : 1);
    T unused{};
    SvdTask<T> task = shape;
    task.work = work.template as<T>();
    task.real_work = reals.template as<Real>();
    task.int_work = ints.as<int>();
    for (int64_t i = begin; i < end; ++i) {
      if (!AllFinite(from[i], from.size())) throw Trouble(who, a, i, "has elements that are not finite", 0);
      task.s = s.as<Real>() + i * k;
      task.u = vh ? vh.as<T>() + i * high * rows : &unused;
      task.vt = u ? u.as<T>() + i * wide * columns : &unused;
      std::copy_n(from[i], from.size(), copy.template as<T>());
      int code = k <= kLargestToDivide ? task.Divide(copy.template as<T>()) : 1;
      if (code > 0) {
        std::copy_n(from[i], from.size(), copy.template as<T>());
        code = task.Iterate(copy.template as<T>());
      }
      if (code != 0) throw Trouble(who, a, i, "is too ill-conditioned: the iteration did not converge", code);
    }
  });
}
DRAGON_KERNEL(LinalgSvd, LinearTypes);

}  // namespace dragon::DRAGON_DEVICE
