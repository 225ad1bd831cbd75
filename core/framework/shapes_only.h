// Working out shapes before anything runs.
#pragma once

#include "core/base/macros.h"

namespace dragon {

/// Shapes only, for a scope: results get no memory, no kernel runs, and looking at numbers is an error.
class DRAGON_API ShapesOnly {
 public:
  ShapesOnly();
  ~ShapesOnly();
  ShapesOnly(const ShapesOnly&) = delete;
  ShapesOnly& operator=(const ShapesOnly&) = delete;

 private:
  bool phantom_, absent_;
};

}  // namespace dragon
