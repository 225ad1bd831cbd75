// Arithmetic of what several processes do together.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>

#include "core/kernels/kernel.h"

namespace dragon {

enum class Reduction : uint32_t { kSum, kProduct, kMinimum, kMaximum, kAnd, kOr, kXor, kAverage };
/// "sum"; whatever the number, which may come from another process.
inline const char* NameOf(Reduction reduction) {
  constexpr const char* kNames[] = {"sum", "product", "minimum", "maximum", "and", "or", "xor", "average"};
  const auto place = static_cast<uint32_t>(reduction);
  return place < std::size(kNames) ? kNames[place] : "something unknown";
}

}  // namespace dragon

namespace dragon::kernels {

struct CombineSpec {
  Reduction reduction;
  int64_t count;
  char* out;  ///< may be one of the sources
  std::span<const char* const> sources;
};
/// out[i] = the reduction of sources[..][i], in the order of the sources; sums of halves are added as floats.
inline const Kernel<void(const CombineSpec& spec)> Combine{"combine"};

/// Whether numbers have a reduction: only whole ones have bits, complex ones no order, and truths no average.
inline bool CanCombine(DType dtype, Reduction reduction) {
  if (dtype > DType::kComplex128) return false;  // numbers that are only kept
  if (reduction == Reduction::kAnd || reduction == Reduction::kOr || reduction == Reduction::kXor) {
    return !IsFloating(dtype) && !IsComplex(dtype);
  }
  if (reduction == Reduction::kMinimum || reduction == Reduction::kMaximum) return !IsComplex(dtype);
  return reduction != Reduction::kAverage || dtype != DType::kBool;
}

}  // namespace dragon::kernels
