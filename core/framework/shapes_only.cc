// The door's switches while shapes are worked out.
#include "core/framework/shapes_only.h"

#include <utility>

#include "core/device/absent.h"
#include "core/framework/apply.h"
#include "core/framework/known.h"

namespace dragon {

ShapesOnly::ShapesOnly(bool only)
    : phantom_(std::exchange(Door().phantom, only)),
      absent_(std::exchange(NumbersAreAbsent(), only)),
      run_(PhantomRun()) {
  if (only && !phantom_) PhantomRun() = NextPhantomRun();
}
ShapesOnly::~ShapesOnly() { Door().phantom = phantom_, NumbersAreAbsent() = absent_, PhantomRun() = run_; }

}  // namespace dragon
