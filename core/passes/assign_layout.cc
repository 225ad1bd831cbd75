// Copies into row-major order go where what follows can read the numbers as they lie.
#include <algorithm>
#include <map>
#include <set>

#include "core/passes/pass.h"

namespace dragon {
namespace {

/// Calls whose operands change their layout, followed until layouts are as they were: more than this is not worth it.
constexpr int kFarthest = 64;

class Layouts {
 public:
  explicit Layouts(Graph& graph) : graph_(graph) {}

  void Run() {
    std::set<ValueId> fixed(graph_.outputs.begin(), graph_.outputs.end());
    for (const auto& [input, value] : graph_.updates) fixed.insert(value);
    std::vector<int> idle;
    for (size_t i = 0; i < graph_.calls.size(); ++i) {
      const GraphCall& call = graph_.calls[i];
      if (call.op->name() != "to_row_major" || fixed.count(call.outputs[0])) continue;
      if (Skip(static_cast<int>(i), fixed)) idle.push_back(static_cast<int>(i));
    }
    graph_.Remove(idle);
  }

 private:
  /// Have the readers of a copy read the original, if they all can and nobody who must not notices.
  bool Skip(int position, const std::set<ValueId>& fixed) {
    const ValueId copy = graph_.calls[position].outputs[0], original = graph_.calls[position].inputs[0];
    std::map<int, GraphCall> before;
    std::map<ValueId, ValueInfo> infos;
    std::set<ValueId> moved{copy};
    bool fits = true;
    for (size_t i = position + 1; fits && i < graph_.calls.size(); ++i) {
      GraphCall& call = graph_.calls[i];
      const bool reads =
          std::any_of(call.inputs.begin(), call.inputs.end(), [&](ValueId id) { return moved.count(id); });
      if (!reads) continue;
      before.emplace(static_cast<int>(i), call);
      std::replace(call.inputs.begin(), call.inputs.end(), copy, original);
      fits = before.size() <= kFarthest && call.symbolic.empty() && Infer(call, fixed, &moved, &infos);
    }
    if (fits) return true;
    for (auto& [i, call] : before) graph_.calls[i] = std::move(call);
    for (auto& [id, info] : infos) graph_.values[id] = std::move(info);
    return false;
  }

  /// Give the results of a call the layouts that they have now; note which changed, and what they were.
  bool Infer(const GraphCall& call, const std::set<ValueId>& fixed, std::set<ValueId>* moved,
             std::map<ValueId, ValueInfo>* infos) {
    if (!call.Written().empty() || call.is_random()) return false;  // draws follow the order in memory
    std::vector<ValueInfo> now;
    try {
      now = InferCall(graph_, call);
    } catch (const Error&) {
      return false;  // a view that these strides do not allow
    }
    for (size_t k = 0; k < call.outputs.size(); ++k) {
      const ValueId id = call.outputs[k];
      if (id == kNoValue || graph_.values[id].strides == now[k].strides) continue;
      if (fixed.count(id) || graph_.values[id].shape != now[k].shape) return false;
      infos->emplace(id, graph_.values[id]);
      graph_.values[id].strides = now[k].strides;
      moved->insert(id);
    }
    return true;
  }

  Graph& graph_;
};

void AssignLayout(Graph& graph) { Layouts(graph).Run(); }

DRAGON_PASS(AssignLayout, 3, 310, "Leave out copies into row-major order where nobody needs it.");

}  // namespace
}  // namespace dragon
