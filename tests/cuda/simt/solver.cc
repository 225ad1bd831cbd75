// What device kernels ask of cuSOLVER, done by LAPACK over the machine's memory: all around those calls is proved here.
#include <algorithm>
#include <vector>

#include "core/kernels/linalg/solver_cuda.h"
#include "core/kernels/openblas.h"
#include "tests/cuda/simt/machine.h"

namespace dragon::DRAGON_DEVICE::solver {

namespace {

/// Call `body(T*, i)` for every matrix, with the address of matrix i; `stride` counts elements.
template <typename Body>
void ForEachMatrix(DType dtype, void* a, int64_t stride, int64_t count, Body body) {
  simt::Queue([=] {
    const BlasSeat seat;
    SetOpenBlasThreads(1);
    Visit(dtype, LinearTypes{}, [&]<typename Tag>(Tag) {
      using T = typename Tag::type;
      for (int64_t i = 0; i < count; ++i) body(static_cast<T*>(a) + i * stride, i);
    });
  });
}

template <typename T>
using Element = std::remove_pointer_t<T>;

int Int(int64_t x) { return static_cast<int>(x); }
int WorkOf(int64_t m, int64_t n) { return Int(64 * std::max<int64_t>({m, n, 1}) + 64 * 65); }

}  // namespace

void Potrf(const Context&, DType dtype, bool upper, int64_t n, void* a, int64_t count, int32_t* info) {
  ForEachMatrix(dtype, a, n * n, count, [=](auto* x, int64_t i) {
    Lapack<Element<decltype(x)>, "potrf">(upper ? 'U' : 'L', Int(n), x, Int(n), info + i);
  });
}

void Getrf(const Context&, DType dtype, int64_t m, int64_t n, void* a, int64_t count, int32_t* pivots, int32_t* info) {
  ForEachMatrix(dtype, a, m * n, count, [=](auto* x, int64_t i) {
    Lapack<Element<decltype(x)>, "getrf">(Int(m), Int(n), x, Int(m), pivots + i * std::min(m, n), info + i);
  });
}

void Getrs(const Context&, DType dtype, char op, int64_t n, int64_t others, const void* lu, const int32_t* pivots,
           void* b, int64_t count) {
  ForEachMatrix(dtype, b, n * others, count, [=](auto* x, int64_t i) {
    using T = Element<decltype(x)>;
    int code = 0;
    Lapack<T, "getrs">(op, Int(n), Int(others), static_cast<T*>(const_cast<void*>(lu)) + i * n * n, Int(n),
                       const_cast<int32_t*>(pivots) + i * n, x, Int(n), &code);
  });
}

void Geqrf(const Context&, DType dtype, int64_t m, int64_t n, void* a, int64_t stride, void* tau, int64_t count) {
  ForEachMatrix(dtype, a, stride, count, [=](auto* x, int64_t i) {
    using T = Element<decltype(x)>;
    int code = 0;
    std::vector<T> work(WorkOf(m, n));
    Lapack<T, "geqrf">(Int(m), Int(n), x, Int(m), static_cast<T*>(tau) + i * std::min(m, n), work.data(),
                       Int(static_cast<int64_t>(work.size())), &code);
  });
}

void Orgqr(const Context&, DType dtype, int64_t m, int64_t n, int64_t k, void* a, int64_t stride, const void* tau,
           int64_t count) {
  ForEachMatrix(dtype, a, stride, count, [=](auto* x, int64_t i) {
    using T = Element<decltype(x)>;
    int code = 0;
    std::vector<T> work(WorkOf(m, n));
    T* scales = static_cast<T*>(const_cast<void*>(tau)) + i * k;
    const int size = Int(static_cast<int64_t>(work.size()));
    if constexpr (kIsComplex<T>) {
      Lapack<T, "ungqr">(Int(m), Int(n), Int(k), x, Int(m), scales, work.data(), size, &code);
    } else {
      Lapack<T, "orgqr">(Int(m), Int(n), Int(k), x, Int(m), scales, work.data(), size, &code);
    }
  });
}

void Ormqr(const Context&, DType dtype, bool left, bool adjoint, int64_t m, int64_t n, int64_t k, const void* a,
           const void* tau, void* c, int64_t count) {
  const int64_t order = left ? m : n;
  ForEachMatrix(dtype, c, m * n, count, [=](auto* x, int64_t i) {
    using T = Element<decltype(x)>;
    int code = 0;
    std::vector<T> work(WorkOf(m, n));
    T* vectors = static_cast<T*>(const_cast<void*>(a)) + i * order * k;
    T* scales = static_cast<T*>(const_cast<void*>(tau)) + i * k;
    const int size = Int(static_cast<int64_t>(work.size()));
    const char side = left ? 'L' : 'R', op = !adjoint ? 'N' : kIsComplex<T> ? 'C' : 'T';
    if constexpr (kIsComplex<T>) {
      Lapack<T, "unmqr">(side, op, Int(m), Int(n), Int(k), vectors, Int(order), scales, x, Int(m), work.data(), size,
                         &code);
    } else {
      Lapack<T, "ormqr">(side, op, Int(m), Int(n), Int(k), vectors, Int(order), scales, x, Int(m), work.data(), size,
                         &code);
    }
  });
}

void Trsm(const Context&, DType dtype, bool left, bool upper, bool unit, int64_t m, int64_t n, const void* a, void* b,
          int64_t count) {
  const int64_t order = left ? m : n;
  ForEachMatrix(dtype, b, m * n, count, [=](auto* x, int64_t i) {
    using T = Element<decltype(x)>;
    Lapack<T, "trsm">(left ? 'L' : 'R', upper ? 'U' : 'L', 'N', unit ? 'U' : 'N', Int(m), Int(n), T(1),
                      static_cast<T*>(const_cast<void*>(a)) + i * order * order, Int(order), x, Int(m));
  });
}

void Gesvd(const Context&, DType dtype, char job, int64_t m, int64_t n, void* a, void* s, void* u, void* vh,
           int64_t count, int32_t* info) {
  const int64_t wide = job == 'A' ? m : n;
  ForEachMatrix(dtype, a, m * n, count, [=](auto* x, int64_t i) {
    using T = Element<decltype(x)>;
    using Real = RealOf<T>;
    std::vector<T> work(WorkOf(m, n) + 5 * m);
    std::vector<Real> reals(5 * n + 1);
    T unused{};
    T* left = u && job != 'N' ? static_cast<T*>(u) + i * m * wide : &unused;
    T* right = vh && job != 'N' ? static_cast<T*>(vh) + i * n * n : &unused;
    const int size = Int(static_cast<int64_t>(work.size()));
    Real* values = static_cast<Real*>(s) + i * n;
    if constexpr (kIsComplex<T>) {
      Lapack<T, "gesvd">(job, job, Int(m), Int(n), x, Int(m), values, left, Int(m), right, Int(n), work.data(), size,
                         reals.data(), info + i);
    } else {
      Lapack<T, "gesvd">(job, job, Int(m), Int(n), x, Int(m), values, left, Int(m), right, Int(n), work.data(), size,
                         info + i);
    }
  });
}

void Syevd(const Context&, DType dtype, bool vectors, bool upper, int64_t n, void* a, void* w, int64_t count,
           int32_t* info) {
  ForEachMatrix(dtype, a, n * n, count, [=](auto* x, int64_t i) {
    using T = Element<decltype(x)>;
    using Real = RealOf<T>;
    std::vector<T> work(1 + 6 * n + 2 * n * n);
    std::vector<Real> reals(1 + 5 * n + 2 * n * n);
    std::vector<int> ints(3 + 5 * n);
    const char job = vectors ? 'V' : 'N', triangle = upper ? 'U' : 'L';
    const int size = Int(static_cast<int64_t>(work.size())), int_size = Int(static_cast<int64_t>(ints.size()));
    Real* values = static_cast<Real*>(w) + i * n;
    if constexpr (kIsComplex<T>) {
      Lapack<T, "heevd">(job, triangle, Int(n), x, Int(n), values, work.data(), size, reals.data(),
                         Int(static_cast<int64_t>(reals.size())), ints.data(), int_size, info + i);
    } else {
      Lapack<T, "syevd">(job, triangle, Int(n), x, Int(n), values, work.data(), size, ints.data(), int_size, info + i);
    }
  });
}

}  // namespace dragon::DRAGON_DEVICE::solver
