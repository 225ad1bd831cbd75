// Communicators by lists of devices, and one call of each within a group.
#include "core/world/together.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/error.h"

namespace dragon {

namespace {

using Communicators = std::vector<std::shared_ptr<Communicator>>;

const Communicators& CommunicatorsOf(DeviceWorld& world, DeviceType type, std::span<const Share> shares) {
  static auto* mutex = new std::mutex;
  static auto* known = new std::map<std::pair<DeviceType, std::vector<int>>, Communicators>;
  std::vector<int> indices;
  for (const Share& share : shares) indices.push_back(share.index);
  std::lock_guard lock(*mutex);
  Communicators& found = (*known)[{type, indices}];
  if (found.empty()) found = world.JoinAlone(indices);
  return found;
}

template <typename Byte>
std::vector<Byte*> Parts(Byte* first, int64_t bytes, size_t count) {
  std::vector<Byte*> parts;
  for (size_t i = 0; i < count; ++i) parts.push_back(first + i * bytes);
  return parts;
}

void Do(Communicator& rank, Collective collective, const Share& share, Reduction reduction, int root) {
  const auto [index, in, out, elements] = share;
  const size_t size = rank.size();
  switch (collective) {
    case Collective::kAllReduce:
      return rank.AllReduce(in, out, elements, reduction);
    case Collective::kReduce:
      return rank.Reduce(in, out, elements, reduction, root);
    case Collective::kBroadcast:
      return rank.Broadcast(out, elements, root);
    case Collective::kAllGather:
      return rank.AllGather(in, Parts(out, elements.bytes(), size), elements);
    case Collective::kReduceScatter:
      return rank.ReduceScatter(Parts(in, elements.bytes(), size), out, elements, reduction);
    default:
      throw ValueError("together").Got(NameOf(collective)).Expected("a collective that devices of one process have");
  }
}

}  // namespace

void DoTogether(DeviceType type, Collective collective, std::span<const Share> shares, Reduction reduction, int root) {
  DeviceWorld* const world = DeviceWorldOf(type);
  if (!world) throw RuntimeError(NameOf(collective)).Got(Name(type), ", which has no collectives").Expected("CUDA");
  const Communicators& ranks = CommunicatorsOf(*world, type, shares);
  const bool moves = collective == Collective::kBroadcast || collective == Collective::kAllGather;
  for (size_t i = 0; i < shares.size() && !moves; ++i) {
    if (!ranks[i]->CanReduce(shares[i].elements.dtype, reduction)) {
      throw TypeError(NameOf(collective))
          .Got("the reduction '", NameOf(reduction), "' of ", shares[i].elements.dtype)
          .Expected("one that it has on devices");
    }
  }
  world->BeginTogether();
  try {
    for (size_t i = 0; i < shares.size(); ++i) Do(*ranks[i], collective, shares[i], reduction, root);
  } catch (...) {
    try {
      world->EndTogether();
    } catch (const Error&) {  // the first one tells what went wrong
    }
    throw;
  }
  world->EndTogether();
}

}  // namespace dragon
