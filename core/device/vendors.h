// Whether kernels may hand a call to a vendor's library where they could compute it themselves, and how often they did.
#pragma once

#include <cstdint>

#include "core/base/macros.h"

namespace dragon {

/// Whether convolutions may be computed by a vendor's library where it is there: they may, unless told otherwise.
DRAGON_API bool AllowsVendorConvolution();
DRAGON_API void SetAllowsVendorConvolution(bool allowed);
/// Whether ways of a vendor's library are measured the first time that a shape comes, instead of believing which of
/// them the library calls the fastest.
DRAGON_API bool MeasuresVendors();
DRAGON_API void SetMeasuresVendors(bool measures);

/// Whether recurrent networks may be computed by a vendor's library: they may, unless told otherwise.
DRAGON_API bool AllowsVendorRecurrent();
DRAGON_API void SetAllowsVendorRecurrent(bool allowed);

/// Whether attention may be computed by a vendor's library: it may, unless told otherwise.
DRAGON_API bool AllowsVendorAttention();
DRAGON_API void SetAllowsVendorAttention(bool allowed);

/// How many calls of attention, forward and backward, a vendor's library has computed in this process: it may refuse
/// any, and that would not show in results.
DRAGON_API int64_t VendorAttentionCalls();
/// To be called by kernels, for each.
DRAGON_API void CountVendorAttention();
/// The same of recurrent networks.
DRAGON_API int64_t VendorRecurrentCalls();
DRAGON_API void CountVendorRecurrent();

}  // namespace dragon
