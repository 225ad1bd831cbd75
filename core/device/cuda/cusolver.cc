// Functions and handles of cuSOLVER.
#include "core/device/cuda/cusolver.h"

#include <array>
#include <map>
#include <string>
#include <type_traits>

#include "core/base/error.h"
#include "core/device/cuda/check.h"
#include "core/device/cuda/vendor.h"

namespace dragon::cuda {

namespace {

template <typename Function>
void FindIn(VendorLibrary& library, Function* function, const std::string& symbol) {
  *function = library.Find<Function>(symbol.c_str());
}

const LetterFunctions* FindLetters(const std::string& letter, bool complex) {
  auto* made = new LetterFunctions;
  const std::string blas = "cublas" + letter, solver = "cusolverDn" + letter, q = complex ? "un" : "or";
  Cublas().found();  // cuSOLVER stands on it
  FindIn(Cublas(), &made->trsm, blas + "trsm_v2");
  FindIn(Cublas(), &made->trsm_batched, blas + "trsmBatched");
  FindIn(Cublas(), &made->getrf_batched, blas + "getrfBatched");
  FindIn(Cublas(), &made->getrs_batched, blas + "getrsBatched");
  FindIn(Cusolver(), &made->potrf_batched, solver + "potrfBatched");
  FindIn(Cusolver(), &made->orgqr_size, solver + q + "gqr_bufferSize");
  FindIn(Cusolver(), &made->orgqr, solver + q + "gqr");
  FindIn(Cusolver(), &made->ormqr_size, solver + q + "mqr_bufferSize");
  FindIn(Cusolver(), &made->ormqr, solver + q + "mqr");
  return made;
}

}  // namespace

void CheckSolver(SolverStatus status, const char* who) {
  if (status == SolverStatus::kSuccess) return;
  throw RuntimeError(who).Got("status ", static_cast<int>(status), " of cuSOLVER").Expected("success (0)");
}

const SolverFunctions& Solver() {
  static const SolverFunctions* const functions = [] {
    auto* made = new SolverFunctions;
    Cublas().found();  // cuSOLVER stands on it
    const auto find = [](auto* function, const char* name) {
      FindIn(Cusolver(), function, std::string("cusolverDnX") + name);
    };
    find(&made->potrf_size, "potrf_bufferSize");
    find(&made->potrf, "potrf");
    find(&made->getrf_size, "getrf_bufferSize");
    find(&made->getrf, "getrf");
    find(&made->getrs, "getrs");
    find(&made->geqrf_size, "geqrf_bufferSize");
    find(&made->geqrf, "geqrf");
    find(&made->gesvd_size, "gesvd_bufferSize");
    find(&made->gesvd, "gesvd");
    find(&made->syevd_size, "syevd_bufferSize");
    find(&made->syevd, "syevd");
    return made;
  }();
  return *functions;
}

const LetterFunctions& SolverOf(DType dtype) {
  static const std::array<const LetterFunctions*, 4> all = {FindLetters("S", false), FindLetters("D", false),
                                                            FindLetters("C", true), FindLetters("Z", true)};
  const int letter = RealDType(dtype) == DType::kFloat64 ? 1 : 0;
  return *all[static_cast<size_t>(letter + (IsComplex(dtype) ? 2 : 0))];
}

SolverHandle SolverHandleOf(const Context& ctx) {
  struct Seat {
    SolverHandle handle = nullptr;
    void* stream = nullptr;
  };
  static thread_local std::map<int, Seat> seats;
  static const bool stands = (Cublas().found(), true);
  static const auto create = Cusolver().Find<SolverStatus (*)(SolverHandle*)>("cusolverDnCreate");
  static const auto set_stream = Cusolver().Find<SolverStatus (*)(SolverHandle, cudaStream_t)>("cusolverDnSetStream");
  (void)stands;
  Seat& seat = seats[ctx.device.index];
  if (!seat.handle) {
    const CudaGuard guard(ctx.device.index);
    CheckSolver(create(&seat.handle), "cuSOLVER");
    seat.stream = &seat;  // no stream's
  }
  if (seat.stream != ctx.stream) {
    CheckSolver(set_stream(seat.handle, static_cast<cudaStream_t>(ctx.stream)), "cuSOLVER");
    seat.stream = ctx.stream;
  }
  return seat.handle;
}

SolverParams PlainParams() {
  static thread_local SolverParams params = [] {
    SolverParams made = nullptr;
    CheckSolver(Cusolver().Find<SolverStatus (*)(SolverParams*)>("cusolverDnCreateParams")(&made), "cuSOLVER");
    return made;
  }();
  return params;
}

}  // namespace dragon::cuda
