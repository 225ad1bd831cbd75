// Destinations that share a part of their memory with what is read.
#pragma once

#include <span>

#include "core/bindings/python.h"

namespace dragon::python {

/// Refuse a call that reads some of the elements that it writes, but not each at its own place, in the dialect whose
/// `out=` is PyTorch's: an error there. The engine itself would read them all first.
void RefuseSharedPlaces(const Frontend* frontend, const Call& call, std::span<const Tensor> outs);

}  // namespace dragon::python
