// Least squares by LAPACK's four drivers.
#include "core/kernels/linalg/common.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename T>
struct LstsqTask {
  using Real = RealOf<T>;
  LstsqDriver driver;
  int m, n, count, tall;
  Real rcond;
  int work_size = -1;
  int64_t real_size = 1, int_size = 1;

  /// `rank` and `s` are written by the drivers that know them.
  int Run(T* a, T* b, Real* s, int* rank, T* work, Real* real_work, int* int_work) const {
    int code = 0;
    const int lda = Leading(m), ldb = Leading(tall);
    switch (driver) {
      case LstsqDriver::kGels:
        Lapack<T, "gels">('N', m, n, count, a, lda, b, ldb, work, work_size, &code);
        break;
      case LstsqDriver::kGelsy:
        std::fill_n(int_work, n, 0);  // no column is asked to come first
        if constexpr (kIsComplex<T>) {
          Lapack<T, "gelsy">(m, n, count, a, lda, b, ldb, int_work, rcond, rank, work, work_size, real_work, &code);
        } else {
          Lapack<T, "gelsy">(m, n, count, a, lda, b, ldb, int_work, rcond, rank, work, work_size, &code);
        }
        break;
      case LstsqDriver::kGelsd:
        if constexpr (kIsComplex<T>) {
          Lapack<T, "gelsd">(m, n, count, a, lda, b, ldb, s, rcond, rank, work, work_size, real_work, int_work, &code);
        } else {
          Lapack<T, "gelsd">(m, n, count, a, lda, b, ldb, s, rcond, rank, work, work_size, int_work, &code);
        }
        break;
      case LstsqDriver::kGelss:
        if constexpr (kIsComplex<T>) {
          Lapack<T, "gelss">(m, n, count, a, lda, b, ldb, s, rcond, rank, work, work_size, real_work, &code);
        } else {
          Lapack<T, "gelss">(m, n, count, a, lda, b, ldb, s, rcond, rank, work, work_size, &code);
        }
        break;
    }
    return code;
  }

  void AskSizes(Context& ctx) {
    T work{}, matrix{};
    auto s = ctx.Allocate<Real>(std::min(m, n) + 1);
    auto columns = ctx.Allocate<int>(n + 1);
    Real real_work{};
    int rank = 0;
    if (driver == LstsqDriver::kGelsd) {
      int int_work = 0;
      Run(&matrix, &matrix, s.template as<Real>(), &rank, &work, &real_work, &int_work);
      int_size = std::max(int_work, 1);
      real_size = kIsComplex<T> ? std::max(WorkSize(real_work), 1) : 1;
    } else {
      Run(&matrix, &matrix, s.template as<Real>(), &rank, &work, &real_work, columns.as<int>());
      int_size = n + 1;
      real_size = 5 * int64_t{std::max(m, n)} + 1;
    }
    work_size = std::max(WorkSize(work), 1);
  }
};

}  // namespace

template <typename T>
void LinalgLstsq(Context& ctx, View x, View rank, View s, View a, View b, double rcond, LstsqDriver driver,
                 const char* who) {
  using Real = RealOf<T>;
  const Matrices<T> from(a), right(b), to(x);
  const int m = from.rows, n = from.columns, k = std::min(m, n);
  // Without a right-hand side there are rank and singular values still, which LAPACK tells for one of zeros.
  LstsqTask<T> task{driver, m, n, std::max(right.columns, 1), std::max(m, n), static_cast<Real>(rcond)};
  if (k == 0) {  // nothing is fitted: all of B is the residual
    std::fill_n(to.data, to.count * to.size(), T(0));
    for (int64_t i = 0; i < to.count; ++i) std::copy_n(right[i], right.size(), to[i]);
    if (rank) std::fill_n(rank.as<int64_t>(), rank.numel, int64_t{0});
    return;
  }
  task.AskSizes(ctx);
  ForMatrices(from.count, double{4} * m * n * k, [&](int64_t begin, int64_t end) {
    const int64_t places = int64_t{task.tall} * task.count;
    auto copy = ctx.Allocate<T>(from.size()), columns = ctx.Allocate<T>(places), work = ctx.Allocate<T>(task.work_size);
    auto values = ctx.Allocate<Real>(k), reals = ctx.Allocate<Real>(task.real_size);
    auto ints = ctx.Allocate<int>(task.int_size);
    T *matrix = copy.template as<T>(), *y = columns.template as<T>();
    for (int64_t i = begin; i < end; ++i) {
      if (!AllFinite(from[i], from.size()) || !AllFinite(right[i], right.size())) {
        throw Trouble(who, a, i, "or its right-hand side has elements that are not finite", 0);
      }
      Transpose(from[i], m, n, matrix);
      std::fill_n(y, places, T(0));
      for (int64_t row = 0; row < m; ++row) {
        for (int64_t j = 0; j < right.columns; ++j) y[j * task.tall + row] = right[i][row * right.columns + j];
      }
      int found = 0;
      Real* singular = s ? s.as<Real>() + i * k : values.template as<Real>();
      const int code = task.Run(matrix, y, singular, &found, work.template as<T>(), reals.template as<Real>(),
                                ints.template as<int>());
      if (code != 0) throw Trouble(who, a, i, "has not full rank, or the iteration did not converge", code);
      if (rank) rank.as<int64_t>()[i] = found;
      Transpose(y, right.columns, task.tall, to[i]);
    }
  });
}
DRAGON_KERNEL(LinalgLstsq, LinearTypes);

}  // namespace dragon::DRAGON_DEVICE
