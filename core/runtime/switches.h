// The switches of this thread and process that decide what calls do, as they are when one of these is made.
#pragma once

#include <optional>
#include <string>

#include "core/framework/autocast.h"
#include "core/framework/autograd/backward.h"

namespace dragon {

struct Switches {
  GradSaid grad_enabled = Door().grad_enabled;
  bool anomaly = AnomalyMode();
  DType default_dtype = DefaultDType();
  std::optional<DType> autocast = AutocastDType();
  friend bool operator==(const Switches&, const Switches&) = default;

  /// The first one that is another now, for people; empty if none is.
  DRAGON_API std::string Difference(const Switches& now) const;
};

}  // namespace dragon
