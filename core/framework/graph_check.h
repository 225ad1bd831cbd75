// What Graph::Verify asks of a graph besides its order and types: what the engine takes for granted once it runs.
#pragma once

#include "core/framework/graph.h"

namespace dragon {

/// Every attribute is of a kind that the schema's argument can be; the getters of Value trust in that.
DRAGON_API void CheckAttributes(const GraphCall& call);
/// Shape and strides fit each other and memory's size.
DRAGON_API void CheckValueInfo(const std::string& who, const ValueInfo& info);
/// Every element that shape and strides reach from `offset` is one of `elements`.
DRAGON_API bool LiesWithin(const Dims& shape, const Dims& strides, int64_t offset, int64_t elements);
/// Symbols, axes and attributes that expressions speak of are there.
DRAGON_API void CheckSymbolic(const Graph& graph);

}  // namespace dragon
