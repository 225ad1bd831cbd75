// The one place where the fused operator leaves word of what it can do.
#include "core/framework/fusion.h"

namespace dragon {

FusionRules& Fusion() {
  static FusionRules rules;
  return rules;
}

}  // namespace dragon
