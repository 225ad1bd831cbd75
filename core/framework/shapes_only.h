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

/// Numbers as well, for a scope: what is made of Python's data has some, and may be kept beyond the run that works out
/// shapes. Before a trace nothing changes: it writes the calls down.
class DRAGON_API NumbersAsWell {
 public:
  NumbersAsWell();
  ~NumbersAsWell();
  NumbersAsWell(const NumbersAsWell&) = delete;
  NumbersAsWell& operator=(const NumbersAsWell&) = delete;

 private:
  bool phantom_, absent_;
};

}  // namespace dragon
