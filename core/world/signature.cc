// What collectives are called in letters.
#include "core/world/signature.h"

#include <sstream>

namespace dragon {

const char* NameOf(Collective collective) {
  constexpr const char* kNames[] = {"all_reduce", "reduce",  "broadcast",  "all_gather", "reduce_scatter",
                                    "gather",     "scatter", "all_to_all", "barrier"};
  // It comes from memory that others write.
  const auto place = static_cast<uint32_t>(collective);
  return place < std::size(kNames) ? kNames[place] : "something unknown";
}

std::string Signature::Text() const {
  std::ostringstream text;
  text << NameOf(collective);
  if (collective == Collective::kBarrier) return text.str();
  const bool reduces = collective == Collective::kAllReduce || collective == Collective::kReduce ||
                       collective == Collective::kReduceScatter;
  if (reduces) text << '(' << NameOf(reduction) << ')';
  if (collective != Collective::kAllToAll) {
    text << " of " << count << (count == 1 ? " element of " : " elements of ")
         << (dtype < kDTypeCount ? Name(static_cast<DType>(dtype)) : "an unknown dtype");
  }
  if (root >= 0)
    text << (collective == Collective::kReduce || collective == Collective::kGather ? " to " : " from ") << "rank "
         << root;
  return text.str();
}

}  // namespace dragon
