// A graph as an attribute of a call, for operators whose work is told by a graph (`fused`).
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/framework/graph.h"

namespace dragon {

/// What an operator worked out of a body for one geometry of inputs, kept for the next call.
struct DRAGON_API Preparation {
  virtual ~Preparation() = default;
};

/// A graph that a `Graph` argument holds. It is not edited any more: several calls, plans and threads may share it.
class DRAGON_API GraphBody : public Object {
 public:
  explicit GraphBody(Graph graph) : graph_(std::move(graph)) {}
  const Graph& graph() const { return graph_; }

  /// The preparation for the geometry `key`, made by `make()` when it is asked for first.
  template <typename Make>
  std::shared_ptr<const Preparation> Prepared(const std::vector<int64_t>& key, Make&& make) const {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& [known, preparation] : prepared_) {
        if (known == key) return preparation;
      }
    }
    std::shared_ptr<const Preparation> made = make();
    std::lock_guard<std::mutex> lock(mutex_);
    if (prepared_.size() >= kMostPrepared) prepared_.erase(prepared_.begin());
    prepared_.emplace_back(key, made);
    return made;
  }

 private:
  /// Batches of many sizes may come by; programs are small, but not nothing.
  static constexpr size_t kMostPrepared = 16;

  Graph graph_;
  mutable std::mutex mutex_;
  mutable std::vector<std::pair<std::vector<int64_t>, std::shared_ptr<const Preparation>>> prepared_;
};

/// The graph that an attribute holds; a TypeError if it is none.
inline const GraphBody& BodyOf(const char* who, const Value& attr) {
  const auto* body = dynamic_cast<const GraphBody*>(attr.object());
  if (!body) throw TypeError(who).Got(attr.str()).Expected("a graph");
  return *body;
}

}  // namespace dragon
