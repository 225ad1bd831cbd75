// What a rank says it is about to do with the others: all have to say the same.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/macros.h"
#include "core/base/types.h"
#include "core/kernels/world.h"

namespace dragon {

enum class Collective : uint32_t {
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kGather,
  kScatter,
  kAllToAll,
  kBarrier,
};
/// "all_reduce"
DRAGON_API const char* NameOf(Collective collective);

struct Signature {
  uint64_t number = 0;  ///< of the collective, counted by the group
  Collective collective = Collective::kBarrier;
  Reduction reduction = Reduction::kSum;
  uint32_t dtype = 0;
  int32_t root = -1;
  int64_t count = 0;  ///< elements of one rank

  bool operator==(const Signature&) const = default;
  /// "all_reduce(sum) of 12 elements of float32"
  DRAGON_API std::string Text() const;
};

}  // namespace dragon
