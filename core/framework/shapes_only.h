// Working out shapes before anything runs.
#pragma once

#include <cstdint>

#include "core/base/macros.h"

namespace dragon {

/// Shapes only, for a scope: results get no memory, no kernel runs, and looking at numbers is an error. Or, within such
/// a scope, numbers as well: what is made of Python's data has some, and may be kept beyond the run.
class DRAGON_API ShapesOnly {
 public:
  explicit ShapesOnly(bool only = true);
  ~ShapesOnly();
  ShapesOnly(const ShapesOnly&) = delete;
  ShapesOnly& operator=(const ShapesOnly&) = delete;

 private:
  bool phantom_, absent_;
  uint32_t run_;
};

}  // namespace dragon
