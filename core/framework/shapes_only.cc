// The door's switches while shapes are worked out.
#include "core/framework/shapes_only.h"

#include <utility>

#include "core/device/absent.h"
#include "core/framework/apply.h"

namespace dragon {

ShapesOnly::ShapesOnly()
    : phantom_(std::exchange(Door().phantom, true)), absent_(std::exchange(NumbersAreAbsent(), true)) {}
ShapesOnly::~ShapesOnly() { Door().phantom = phantom_, NumbersAreAbsent() = absent_; }

NumbersAsWell::NumbersAsWell() : phantom_(Door().phantom), absent_(NumbersAreAbsent()) {
  if (!Door().tracer) Door().phantom = NumbersAreAbsent() = false;
}
NumbersAsWell::~NumbersAsWell() { Door().phantom = phantom_, NumbersAreAbsent() = absent_; }

}  // namespace dragon
