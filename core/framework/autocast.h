// Mixed precision: an interpreter that casts the inputs of operators to the dtype each of them is best computed in.
#pragma once

#include <optional>

#include "core/framework/apply.h"

namespace dragon {

/// The dtype that products and convolutions of this thread run in; none: every operator runs in its inputs' dtype.
DRAGON_API std::optional<DType> AutocastDType();
/// Returns the previous one. Casts of leaves are kept, and used again, until it changes.
DRAGON_API std::optional<DType> SetAutocast(std::optional<DType> dtype);
/// Whether casts of leaves are kept; returns what was.
DRAGON_API bool SetAutocastCache(bool enabled);
DRAGON_API void ClearAutocastCache();

/// Suspends (or sets) autocast for a scope. Costs one comparison when nothing changes.
class AutocastGuard {
 public:
  explicit AutocastGuard(std::optional<DType> dtype) : previous_(AutocastDType()), changed_(previous_ != dtype) {
    if (changed_) SetAutocast(dtype);
  }
  ~AutocastGuard() {
    if (changed_) SetAutocast(previous_);
  }
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  std::optional<DType> previous_;
  bool changed_;
};

}  // namespace dragon
