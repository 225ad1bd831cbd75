// Whether kernels may hand a call to a vendor's library where they could compute it themselves, and how often they did.
#pragma once

#include <cstdint>

#include "core/base/macros.h"

namespace dragon {

/// Whether attention may be computed by a vendor's library: it may, unless told otherwise.
DRAGON_API bool AllowsVendorAttention();
DRAGON_API void SetAllowsVendorAttention(bool allowed);

/// How many calls of attention, forward and backward, a vendor's library has computed in this process: it may refuse
/// any, and that would not show in results.
DRAGON_API int64_t VendorAttentionCalls();
/// To be called by kernels, for each.
DRAGON_API void CountVendorAttention();

}  // namespace dragon
