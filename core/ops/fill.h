// One number everywhere, on any device.
#pragma once

#include "core/device/numbers.h"
#include "core/framework/op.h"
#include "core/kernels/array.h"

namespace dragon {

/// y = the number, in y's dtype.
inline void Fill(Context& ctx, const View& y, const Value& number) {
  const Tensor scalar = Tensor::Scalar(number, y.dtype);
  View view = scalar.view();
  if (!ctx.device.is_cpu()) view.data = const_cast<void*>(NumberOn(ctx.device, view.data, scalar.item_size()));
  kernels::Copy(ctx, y.dtype, y, view);
}

}  // namespace dragon
