// Tensors that are no strided numbers but made of tensors which are: sparse ones, jagged ones. They have a shape, a
// dtype and a device, and no memory of their own; what is computed of them is computed of their parts.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "core/framework/operator.h"

namespace dragon {

struct TensorParts {
  std::string layout;           ///< "sparse_coo", "sparse_csr", ...: who handles the tensor knows what the parts are
  std::vector<Tensor> tensors;  ///< the one that holds the numbers is the last
  bool coalesced = false;       ///< of coordinates: sorted, none twice
};

/// A tensor of parts. Its history is that of its numbers.
DRAGON_API Tensor MakeOfParts(const Dims& shape, TensorParts parts);
inline const TensorParts* PartsOf(const Tensor& tensor) { return tensor.impl()->parts.get(); }

/// Who computes calls in which a tensor of parts takes part; there is one for the process.
using PartsHandler = std::function<Tensors(const Call& call, std::span<const Tensor> outs)>;
DRAGON_API void SetPartsHandler(PartsHandler handler);

/// Whether there ever was a tensor of parts: nobody need look for one before.
DRAGON_API std::atomic<bool>& ThereAreParts();
DRAGON_API bool AnyOfParts(const Call& call, std::span<const Tensor> outs);
/// The call by the handler; a NotImplementedError in the operator's name where there is none.
DRAGON_API Tensors ApplyToParts(const Call& call, std::span<const Tensor> outs);

}  // namespace dragon
