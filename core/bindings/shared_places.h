// Destinations that share a part of their memory with what is read.
#pragma once

#include <span>

#include "core/bindings/python.h"
#include "core/ops/index/subscript.h"

namespace dragon::python {

/// Refuse a call that reads some of the elements that it writes, but not each at its own place, in the dialect whose
/// `out=` is PyTorch's: an error there. The engine itself would read them all first.
void RefuseSharedPlaces(const Frontend* frontend, const Call& call, std::span<const Tensor> outs);

/// The same for `x[items] = source`.
void RefuseSharedWrite(const Frontend* frontend, const Tensor& x, std::span<const SubscriptItem> items,
                       const Tensor& source);

}  // namespace dragon::python
