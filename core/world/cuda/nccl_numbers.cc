// Which numbers and reductions of ours are which of NCCL's.
#include "core/base/error.h"
#include "core/world/cuda/nccl_communicator.h"

namespace dragon::cuda {

namespace {

constexpr int kVersionOfFloat8 = 22400;

bool IsOfNccl(DType dtype) { return dtype == DType::kFloat8E4M3FN || dtype == DType::kFloat8E5M2; }

bool IsKnown(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
    case DType::kInt8:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUInt32:
    case DType::kUInt64:
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kComplex64:
    case DType::kComplex128:
      return true;
    default:
      return IsOfNccl(dtype) && NcclVersion() >= kVersionOfFloat8;
  }
}

}  // namespace

NcclNumbers NumbersOf(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return {NcclType::kInt8, 1};
    case DType::kBool:
    case DType::kUInt8:
      return {NcclType::kUint8, 1};
    case DType::kInt32:
      return {NcclType::kInt32, 1};
    case DType::kUInt32:
      return {NcclType::kUint32, 1};
    case DType::kInt64:
      return {NcclType::kInt64, 1};
    case DType::kUInt64:
      return {NcclType::kUint64, 1};
    case DType::kFloat16:
      return {NcclType::kFloat16, 1};
    case DType::kBFloat16:
      return {NcclType::kBfloat16, 1};
    case DType::kFloat32:
      return {NcclType::kFloat32, 1};
    case DType::kFloat64:
      return {NcclType::kFloat64, 1};
    case DType::kComplex64:
      return {NcclType::kFloat32, 2};
    case DType::kComplex128:
      return {NcclType::kFloat64, 2};
    case DType::kFloat8E4M3FN:
      return {NcclType::kFloat8E4M3, 1};
    case DType::kFloat8E5M2:
      return {NcclType::kFloat8E5M2, 1};
    default:
      return {NcclType::kUint8, static_cast<int>(ItemSize(dtype))};  // which is only moved
  }
}

NcclOp OpOf(DType dtype, Reduction reduction) {
  if (dtype == DType::kBool) {  // truths are bytes of 0 and 1
    const bool all =
        reduction == Reduction::kProduct || reduction == Reduction::kMinimum || reduction == Reduction::kAnd;
    return all ? NcclOp::kMinimum : NcclOp::kMaximum;
  }
  switch (reduction) {
    case Reduction::kSum:
      return NcclOp::kSum;
    case Reduction::kProduct:
      return NcclOp::kProduct;
    case Reduction::kMinimum:
      return NcclOp::kMinimum;
    case Reduction::kMaximum:
      return NcclOp::kMaximum;
    case Reduction::kAverage:
      return NcclOp::kAverage;
    default:
      throw TypeError("NCCL").Got("the reduction '", NameOf(reduction), "' of ", dtype).Expected("one that it has");
  }
}

bool NcclCommunicator::CanReduce(DType dtype, Reduction reduction) const {
  if (!IsKnown(dtype)) return false;
  const bool is_of_bits = reduction == Reduction::kAnd || reduction == Reduction::kOr || reduction == Reduction::kXor;
  if (dtype == DType::kBool) return reduction != Reduction::kXor && reduction != Reduction::kAverage;
  if (IsComplex(dtype)) return reduction == Reduction::kSum || reduction == Reduction::kAverage;
  return !is_of_bits;
}

}  // namespace dragon::cuda
