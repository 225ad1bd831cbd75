// What we use of cuBLAS and cuBLASLt, declared here: they are opened at run time, and their headers need not be there.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/base/types.h"
#include "core/device/context.h"

namespace dragon::cuda {

enum class BlasStatus : int { kSuccess = 0, kNotSupported = 15 };
enum class BlasOp : int { kNone = 0, kTranspose = 1, kAdjoint = 2 };
enum class BlasFill : int { kLower = 0, kUpper = 1 };
enum class BlasDiag : int { kNonUnit = 0, kUnit = 1 };
enum class BlasSide : int { kLeft = 0, kRight = 1 };
/// In which precision products are summed.
enum class BlasCompute : int { k32F = 68, k64F = 70, k32FFastTF32 = 77 };

using BlasHandle = struct BlasContext*;
using LtHandle = struct LtContext*;
using LtDesc = struct LtDescOpaque*;
using LtLayout = struct LtLayoutOpaque*;
using LtPreference = struct LtPreferenceOpaque*;

/// Attributes by their numbers.
enum class LtDescAttribute : int {
  kTransA = 3,
  kTransB = 4,
  kEpilogue = 7,
  kBiasPointer = 8,
  kScalePointerA = 17,
  kScalePointerB = 18,
  kFastSums = 25,
  kScaleModeA = 31,
  kScaleModeB = 32
};
enum class LtLayoutAttribute : int { kBatchCount = 5, kBatchStride = 6 };
enum class LtPreferenceAttribute : int {
  kWorkspaceBytes = 1,
  kReductions = 3,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8
};
inline constexpr uint32_t kLtEpilogueDefault = 1, kLtEpilogueBias = 4;
/// Operands of 8-bit floats have a scale each: one number (which is what is assumed), or a vector with one for each row
/// of the result as the library sees it (a's) or each column (b's). The latter came with 12.9.
inline constexpr int32_t kLtScaleNumber = 0, kLtScaleVector = 3;
/// Parts of a sum meet in the type that sums are kept in, never in the result's.
inline constexpr uint32_t kLtReduceInComputeType = 2;

struct LtAlgorithm {
  uint64_t data[8];
};
struct LtHeuristic {
  LtAlgorithm algorithm;
  size_t workspace_bytes;
  BlasStatus state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(LtHeuristic) == 96);

/// cuBLASLt's functions.
struct LtFunctions {
  BlasStatus (*create)(LtHandle*);
  BlasStatus (*desc_create)(LtDesc*, BlasCompute, cudaDataType_t scale);
  BlasStatus (*desc_destroy)(LtDesc);
  BlasStatus (*desc_set)(LtDesc, LtDescAttribute, const void*, size_t);
  BlasStatus (*layout_create)(LtLayout*, int type, uint64_t rows, uint64_t columns, int64_t leading);
  BlasStatus (*layout_destroy)(LtLayout);
  BlasStatus (*layout_set)(LtLayout, LtLayoutAttribute, const void*, size_t);
  BlasStatus (*preference_create)(LtPreference*);
  BlasStatus (*preference_destroy)(LtPreference);
  BlasStatus (*preference_set)(LtPreference, LtPreferenceAttribute, const void*, size_t);
  BlasStatus (*heuristic)(LtHandle, LtDesc, LtLayout a, LtLayout b, LtLayout c, LtLayout d, LtPreference, int asked,
                          LtHeuristic*, int* found);
  BlasStatus (*matmul)(LtHandle, LtDesc, const void* alpha, const void* a, LtLayout, const void* b, LtLayout,
                       const void* beta, const void* c, LtLayout, void* d, LtLayout, const LtAlgorithm*,
                       void* workspace, size_t workspace_bytes, cudaStream_t);
};
const LtFunctions& Lt();

/// A RuntimeError with the status unless it is success.
void CheckBlas(BlasStatus status, const char* who);

/// The handle of the context's device, made at first use; threads share it.
LtHandle LtHandleOf(const Context& ctx);
/// A handle for this thread, on the context's device and stream.
BlasHandle BlasHandleOf(const Context& ctx);

/// Memory that products on one stream share: they follow one another.
inline constexpr size_t kWorkspaceBytes = size_t{32} << 20;
void* WorkspaceOf(const Context& ctx);

/// How CUDA's libraries name a dtype of ours.
inline cudaDataType_t CudaTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return CUDA_R_16F;
    case DType::kBFloat16:
      return CUDA_R_16BF;
    case DType::kFloat64:
      return CUDA_R_64F;
    case DType::kComplex64:
      return CUDA_C_32F;
    case DType::kComplex128:
      return CUDA_C_64F;
    default:
      return CUDA_R_32F;
  }
}
/// How cuBLASLt names the dtype of a matrix: CUDA's numbers, also of 8-bit floats.
inline constexpr int kLtFloat8E4M3 = 28, kLtFloat8E5M2 = 29;
inline int LtTypeOf(DType dtype) {
  return dtype == DType::kFloat8E4M3FN ? kLtFloat8E4M3
         : dtype == DType::kFloat8E5M2 ? kLtFloat8E5M2
                                       : static_cast<int>(CudaTypeOf(dtype));
}

}  // namespace dragon::cuda
