// Linear algebra by cuSOLVER, and by cuBLAS where batches of small matrices are done in one call.
#include <algorithm>
#include <vector>

#include "core/device/cuda/cusolver.h"
#include "core/device/cuda/launch.h"
#include "core/kernels/array.h"
#include "core/kernels/linalg/batch_cuda.h"

namespace dragon::DRAGON_DEVICE::solver {

namespace {

using cuda::CheckBlas;
using cuda::CheckSolver;
using cuda::CudaTypeOf;

/// Up to this side, a batch is worth one call for all of it.
constexpr int64_t kSmallSide = 512;

int Int(int64_t x) {
  if (x > INT32_MAX) throw ValueError("linalg").Got("a side of ", x).Expected("less than 2**31");
  return static_cast<int>(x);
}

void* At(const void* data, DType dtype, int64_t elements) {
  return const_cast<char*>(static_cast<const char*>(data)) + elements * ItemSize(dtype);
}

/// Memory for the duration of calls: the device's goes back in the stream's order, the host's stays with the thread, as
/// the library may read it when the call has returned.
struct Workspace {
  size_t device_bytes = 0, host_bytes = 0;

  Scratch Device(const Context& ctx) const { return Scratch(ctx.device, std::max<size_t>(device_bytes, 16)); }
  void* Host() const {
    static thread_local std::vector<char> memory;
    if (memory.size() < host_bytes) memory.resize(host_bytes);
    return memory.data();
  }
};

__global__ void PlacesKernel(char** places, char* first, int64_t bytes, int64_t count) {
  for (int64_t i = cuda::FirstOfThread(); i < count; i += cuda::StepOfThreads()) places[i] = first + i * bytes;
}

/// The addresses of a batch's matrices, in device memory.
Scratch PlacesOf(const Context& ctx, const void* data, DType dtype, int64_t size, int64_t count) {
  Scratch places = ctx.Allocate<void*>(count);
  cuda::Launch("linalg", ctx, &PlacesKernel, cuda::GridFor(count), places.as<char*>(),
               static_cast<char*>(const_cast<void*>(data)), size * ItemSize(dtype), count);
  return places;
}

bool InOneCall(int64_t n, int64_t count) { return count > 1 && n <= kSmallSide; }

/// What calls tell of themselves where nobody asks.
Scratch Unread(const Context& ctx) { return ctx.Allocate<int>(1); }

cuda::BlasFill FillOf(bool upper) { return upper ? cuda::BlasFill::kUpper : cuda::BlasFill::kLower; }
cuda::BlasSide SideOf(bool left) { return left ? cuda::BlasSide::kLeft : cuda::BlasSide::kRight; }

}  // namespace

void Potrf(const Context& ctx, DType dtype, bool upper, int64_t n, void* a, int64_t count, int32_t* info) {
  const cuda::SolverHandle handle = cuda::SolverHandleOf(ctx);
  if (InOneCall(n, count)) {
    const Scratch places = PlacesOf(ctx, a, dtype, n * n, count);
    return CheckSolver(cuda::SolverOf(dtype).potrf_batched(handle, FillOf(upper), Int(n), places.as<void*>(), Int(n),
                                                           info, Int(count)),
                       "linalg_cholesky");
  }
  const cuda::SolverFunctions& f = cuda::Solver();
  const cudaDataType_t type = CudaTypeOf(dtype);
  Workspace work;
  CheckSolver(f.potrf_size(handle, cuda::PlainParams(), FillOf(upper), n, type, a, n, type, &work.device_bytes,
                           &work.host_bytes),
              "linalg_cholesky");
  const Scratch memory = work.Device(ctx);
  for (int64_t i = 0; i < count; ++i) {
    CheckSolver(f.potrf(handle, cuda::PlainParams(), FillOf(upper), n, type, At(a, dtype, i * n * n), n, type,
                        memory.data(), work.device_bytes, work.Host(), work.host_bytes, info + i),
                "linalg_cholesky");
  }
}

void Getrf(const Context& ctx, DType dtype, int64_t m, int64_t n, void* a, int64_t count, int32_t* pivots,
           int32_t* info) {
  if (m == n && InOneCall(n, count)) {
    const Scratch places = PlacesOf(ctx, a, dtype, n * n, count);
    return CheckBlas(cuda::SolverOf(dtype).getrf_batched(cuda::BlasHandleOf(ctx), Int(n), places.as<void*>(), Int(n),
                                                         pivots, info, Int(count)),
                     "linalg_lu_factor");
  }
  const cuda::SolverHandle handle = cuda::SolverHandleOf(ctx);
  const cuda::SolverFunctions& f = cuda::Solver();
  const cudaDataType_t type = CudaTypeOf(dtype);
  const int64_t k = std::min(m, n);
  Workspace work;
  CheckSolver(f.getrf_size(handle, cuda::PlainParams(), m, n, type, a, m, type, &work.device_bytes, &work.host_bytes),
              "linalg_lu_factor");
  const Scratch memory = work.Device(ctx), wide = ctx.Allocate<int64_t>(k * count);
  for (int64_t i = 0; i < count; ++i) {
    CheckSolver(f.getrf(handle, cuda::PlainParams(), m, n, type, At(a, dtype, i * m * n), m, wide.as<int64_t>() + i * k,
                        type, memory.data(), work.device_bytes, work.Host(), work.host_bytes, info + i),
                "linalg_lu_factor");
  }
  Context mine = ctx;
  const OwnedView from(wide.data(), DType::kInt64, {k * count}, {1}), to(pivots, DType::kInt32, {k * count}, {1});
  kernels::Copy(mine, DType::kInt32, to.view, from.view);
}

void Getrs(const Context& ctx, DType dtype, char op, int64_t n, int64_t others, const void* lu, const int32_t* pivots,
           void* b, int64_t count) {
  const auto operation = op == 'N'   ? cuda::BlasOp::kNone
                         : op == 'T' ? cuda::BlasOp::kTranspose
                                     : cuda::BlasOp::kAdjoint;
  if (InOneCall(n, count)) {
    const Scratch matrices = PlacesOf(ctx, lu, dtype, n * n, count),
                  rights = PlacesOf(ctx, b, dtype, n * others, count);
    int code = 0;
    return CheckBlas(cuda::SolverOf(dtype).getrs_batched(cuda::BlasHandleOf(ctx), operation, Int(n), Int(others),
                                                         matrices.as<const void*>(), Int(n), pivots, rights.as<void*>(),
                                                         Int(n), &code, Int(count)),
                     "linalg_solve");
  }
  Context mine = ctx;
  const Scratch wide = ctx.Allocate<int64_t>(n * count), unread = Unread(ctx);
  const OwnedView to(wide.data(), DType::kInt64, {n * count}, {1});
  const OwnedView from(const_cast<int32_t*>(pivots), DType::kInt32, {n * count}, {1});
  kernels::Copy(mine, DType::kInt64, to.view, from.view);
  const cudaDataType_t type = CudaTypeOf(dtype);
  for (int64_t i = 0; i < count; ++i) {
    CheckSolver(cuda::Solver().getrs(cuda::SolverHandleOf(ctx), cuda::PlainParams(), operation, n, others, type,
                                     At(lu, dtype, i * n * n), n, wide.as<int64_t>() + i * n, type,
                                     At(b, dtype, i * n * others), n, unread.as<int>()),
                "linalg_solve");
  }
}

void Geqrf(const Context& ctx, DType dtype, int64_t m, int64_t n, void* a, int64_t stride, void* tau, int64_t count) {
  const cuda::SolverHandle handle = cuda::SolverHandleOf(ctx);
  const cuda::SolverFunctions& f = cuda::Solver();
  const cudaDataType_t type = CudaTypeOf(dtype);
  const int64_t k = std::min(m, n);
  Workspace work;
  CheckSolver(f.geqrf_size(handle, cuda::PlainParams(), m, n, type, a, m, type, tau, type, &work.device_bytes,
                           &work.host_bytes),
              "linalg_qr");
  const Scratch memory = work.Device(ctx), unread = Unread(ctx);
  for (int64_t i = 0; i < count; ++i) {
    CheckSolver(
        f.geqrf(handle, cuda::PlainParams(), m, n, type, At(a, dtype, i * stride), m, type, At(tau, dtype, i * k), type,
                memory.data(), work.device_bytes, work.Host(), work.host_bytes, unread.as<int>()),
        "linalg_qr");
  }
}

void Orgqr(const Context& ctx, DType dtype, int64_t m, int64_t n, int64_t k, void* a, int64_t stride, const void* tau,
           int64_t count) {
  const cuda::SolverHandle handle = cuda::SolverHandleOf(ctx);
  const cuda::LetterFunctions& f = cuda::SolverOf(dtype);
  int size = 0;
  CheckSolver(f.orgqr_size(handle, Int(m), Int(n), Int(k), a, Int(m), tau, &size), "linalg_qr");
  const Scratch memory = Bytes(ctx, dtype, size), unread = Unread(ctx);
  for (int64_t i = 0; i < count; ++i) {
    CheckSolver(f.orgqr(handle, Int(m), Int(n), Int(k), At(a, dtype, i * stride), Int(m), At(tau, dtype, i * k),
                        memory.data(), size, unread.as<int>()),
                "linalg_qr");
  }
}

void Ormqr(const Context& ctx, DType dtype, bool left, bool adjoint, int64_t m, int64_t n, int64_t k, const void* a,
           const void* tau, void* c, int64_t count) {
  const cuda::SolverHandle handle = cuda::SolverHandleOf(ctx);
  const cuda::LetterFunctions& f = cuda::SolverOf(dtype);
  const int64_t order = left ? m : n;
  const auto op = !adjoint ? cuda::BlasOp::kNone : IsComplex(dtype) ? cuda::BlasOp::kAdjoint : cuda::BlasOp::kTranspose;
  int size = 0;
  CheckSolver(f.ormqr_size(handle, SideOf(left), op, Int(m), Int(n), Int(k), a, Int(order), tau, c, Int(m), &size),
              "ormqr");
  const Scratch memory = Bytes(ctx, dtype, size), unread = Unread(ctx);
  for (int64_t i = 0; i < count; ++i) {
    CheckSolver(f.ormqr(handle, SideOf(left), op, Int(m), Int(n), Int(k), At(a, dtype, i * order * k), Int(order),
                        At(tau, dtype, i * k), At(c, dtype, i * m * n), Int(m), memory.data(), size, unread.as<int>()),
                "ormqr");
  }
}

void Trsm(const Context& ctx, DType dtype, bool left, bool upper, bool unit, int64_t m, int64_t n, const void* a,
          void* b, int64_t count) {
  const cuda::BlasHandle handle = cuda::BlasHandleOf(ctx);
  const cuda::LetterFunctions& f = cuda::SolverOf(dtype);
  const int64_t order = left ? m : n;
  const auto diagonal = unit ? cuda::BlasDiag::kUnit : cuda::BlasDiag::kNonUnit;
  const float single[2] = {1, 0};
  const double wide[2] = {1, 0};
  const void* const one = RealDType(dtype) == DType::kFloat64 ? static_cast<const void*>(wide) : single;
  if (InOneCall(order, count)) {
    const Scratch matrices = PlacesOf(ctx, a, dtype, order * order, count),
                  rights = PlacesOf(ctx, b, dtype, m * n, count);
    return CheckBlas(
        f.trsm_batched(handle, SideOf(left), FillOf(upper), cuda::BlasOp::kNone, diagonal, Int(m), Int(n), one,
                       matrices.as<const void*>(), Int(order), rights.as<void*>(), Int(m), Int(count)),
        "linalg_solve_triangular");
  }
  for (int64_t i = 0; i < count; ++i) {
    CheckBlas(f.trsm(handle, SideOf(left), FillOf(upper), cuda::BlasOp::kNone, diagonal, Int(m), Int(n), one,
                     At(a, dtype, i * order * order), Int(order), At(b, dtype, i * m * n), Int(m)),
              "linalg_solve_triangular");
  }
}

void Gesvd(const Context& ctx, DType dtype, char job, int64_t m, int64_t n, void* a, void* s, void* u, void* vh,
           int64_t count, int32_t* info) {
  const cuda::SolverHandle handle = cuda::SolverHandleOf(ctx);
  const cuda::SolverFunctions& f = cuda::Solver();
  const DType real_dtype = RealDType(dtype);
  const cudaDataType_t type = CudaTypeOf(dtype), real = CudaTypeOf(real_dtype);
  const auto letter = static_cast<signed char>(job);
  const int64_t wide = job == 'A' ? m : n;
  Workspace work;
  CheckSolver(f.gesvd_size(handle, cuda::PlainParams(), letter, letter, m, n, type, a, m, real, s, type, u, m, type, vh,
                           n, type, &work.device_bytes, &work.host_bytes),
              "linalg_svd");
  const Scratch memory = work.Device(ctx);
  for (int64_t i = 0; i < count; ++i) {
    CheckSolver(f.gesvd(handle, cuda::PlainParams(), letter, letter, m, n, type, At(a, dtype, i * m * n), m, real,
                        At(s, real_dtype, i * n), type, u ? At(u, dtype, i * m * wide) : nullptr, m, type,
                        vh ? At(vh, dtype, i * n * n) : nullptr, n, type, memory.data(), work.device_bytes, work.Host(),
                        work.host_bytes, info + i),
                "linalg_svd");
  }
}

void Syevd(const Context& ctx, DType dtype, bool vectors, bool upper, int64_t n, void* a, void* w, int64_t count,
           int32_t* info) {
  const cuda::SolverHandle handle = cuda::SolverHandleOf(ctx);
  const cuda::SolverFunctions& f = cuda::Solver();
  const DType real_dtype = RealDType(dtype);
  const cudaDataType_t type = CudaTypeOf(dtype), real = CudaTypeOf(real_dtype);
  const auto job = vectors ? cuda::SolverVectors::kAll : cuda::SolverVectors::kNone;
  Workspace work;
  CheckSolver(f.syevd_size(handle, cuda::PlainParams(), job, FillOf(upper), n, type, a, n, real, w, type,
                           &work.device_bytes, &work.host_bytes),
              "linalg_eigh");
  const Scratch memory = work.Device(ctx);
  for (int64_t i = 0; i < count; ++i) {
    CheckSolver(f.syevd(handle, cuda::PlainParams(), job, FillOf(upper), n, type, At(a, dtype, i * n * n), n, real,
                        At(w, real_dtype, i * n), type, memory.data(), work.device_bytes, work.Host(), work.host_bytes,
                        info + i),
                "linalg_eigh");
  }
}

}  // namespace dragon::DRAGON_DEVICE::solver
