// What we use of cuSOLVER, and of cuBLAS for batches of small matrices, declared here: both are opened at run time.
#pragma once

#include "core/device/cuda/cublas.h"

namespace dragon::cuda {

enum class SolverStatus : int { kSuccess = 0 };
enum class SolverVectors : int { kNone = 0, kAll = 1 };
using SolverHandle = struct SolverContext*;
using SolverParams = struct SolverParamsOpaque*;

/// A RuntimeError with the status unless it is success.
void CheckSolver(SolverStatus status, const char* who);

/// A handle for this thread, on the context's device and stream.
SolverHandle SolverHandleOf(const Context& ctx);
/// Parameters that say nothing special.
SolverParams PlainParams();

/// The functions that take their dtypes as arguments. Sizes of workspaces are in bytes, on the device and on the host.
struct SolverFunctions {
  SolverStatus (*potrf_size)(SolverHandle, SolverParams, BlasFill, int64_t n, cudaDataType_t, const void* a,
                             int64_t leading, cudaDataType_t compute, size_t* device, size_t* host);
  SolverStatus (*potrf)(SolverHandle, SolverParams, BlasFill, int64_t n, cudaDataType_t, void* a, int64_t leading,
                        cudaDataType_t compute, void* device, size_t, void* host, size_t, int* info);
  SolverStatus (*getrf_size)(SolverHandle, SolverParams, int64_t m, int64_t n, cudaDataType_t, const void* a,
                             int64_t leading, cudaDataType_t compute, size_t* device, size_t* host);
  SolverStatus (*getrf)(SolverHandle, SolverParams, int64_t m, int64_t n, cudaDataType_t, void* a, int64_t leading,
                        int64_t* pivots, cudaDataType_t compute, void* device, size_t, void* host, size_t, int* info);
  SolverStatus (*getrs)(SolverHandle, SolverParams, BlasOp, int64_t n, int64_t others, cudaDataType_t, const void* a,
                        int64_t leading, const int64_t* pivots, cudaDataType_t, void* b, int64_t b_leading, int* info);
  SolverStatus (*geqrf_size)(SolverHandle, SolverParams, int64_t m, int64_t n, cudaDataType_t, const void* a,
                             int64_t leading, cudaDataType_t, const void* tau, cudaDataType_t compute, size_t* device,
                             size_t* host);
  SolverStatus (*geqrf)(SolverHandle, SolverParams, int64_t m, int64_t n, cudaDataType_t, void* a, int64_t leading,
                        cudaDataType_t, void* tau, cudaDataType_t compute, void* device, size_t, void* host, size_t,
                        int* info);
  SolverStatus (*gesvd_size)(SolverHandle, SolverParams, signed char job_u, signed char job_vh, int64_t m, int64_t n,
                             cudaDataType_t, const void* a, int64_t leading, cudaDataType_t, const void* s,
                             cudaDataType_t, const void* u, int64_t u_leading, cudaDataType_t, const void* vh,
                             int64_t vh_leading, cudaDataType_t compute, size_t* device, size_t* host);
  SolverStatus (*gesvd)(SolverHandle, SolverParams, signed char job_u, signed char job_vh, int64_t m, int64_t n,
                        cudaDataType_t, void* a, int64_t leading, cudaDataType_t, void* s, cudaDataType_t, void* u,
                        int64_t u_leading, cudaDataType_t, void* vh, int64_t vh_leading, cudaDataType_t compute,
                        void* device, size_t, void* host, size_t, int* info);
  SolverStatus (*syevd_size)(SolverHandle, SolverParams, SolverVectors, BlasFill, int64_t n, cudaDataType_t,
                             const void* a, int64_t leading, cudaDataType_t, const void* w, cudaDataType_t compute,
                             size_t* device, size_t* host);
  SolverStatus (*syevd)(SolverHandle, SolverParams, SolverVectors, BlasFill, int64_t n, cudaDataType_t, void* a,
                        int64_t leading, cudaDataType_t, void* w, cudaDataType_t compute, void* device, size_t,
                        void* host, size_t, int* info);
};
const SolverFunctions& Solver();

/// The functions whose names begin with a letter for the dtype: S, D, C or Z. Numbers are passed as untyped pointers.
struct LetterFunctions {
  BlasStatus (*trsm)(BlasHandle, BlasSide, BlasFill, BlasOp, BlasDiag, int m, int n, const void* alpha, const void* a,
                     int leading, void* b, int b_leading);
  BlasStatus (*trsm_batched)(BlasHandle, BlasSide, BlasFill, BlasOp, BlasDiag, int m, int n, const void* alpha,
                             const void* const* a, int leading, void* const* b, int b_leading, int count);
  BlasStatus (*getrf_batched)(BlasHandle, int n, void* const* a, int leading, int* pivots, int* info, int count);
  BlasStatus (*getrs_batched)(BlasHandle, BlasOp, int n, int others, const void* const* a, int leading,
                              const int* pivots, void* const* b, int b_leading, int* host_info, int count);
  SolverStatus (*potrf_batched)(SolverHandle, BlasFill, int n, void** a, int leading, int* info, int count);
  SolverStatus (*orgqr_size)(SolverHandle, int m, int n, int k, const void* a, int leading, const void* tau, int* size);
  SolverStatus (*orgqr)(SolverHandle, int m, int n, int k, void* a, int leading, const void* tau, void* work, int size,
                        int* info);
  SolverStatus (*ormqr_size)(SolverHandle, BlasSide, BlasOp, int m, int n, int k, const void* a, int leading,
                             const void* tau, const void* c, int c_leading, int* size);
  SolverStatus (*ormqr)(SolverHandle, BlasSide, BlasOp, int m, int n, int k, const void* a, int leading,
                        const void* tau, void* c, int c_leading, void* work, int size, int* info);
};
const LetterFunctions& SolverOf(DType dtype);

}  // namespace dragon::cuda
