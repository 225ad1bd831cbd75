// A value is made again where that takes a few passes over memory and frees as much for the time between the two plans.
#include "core/runtime/remake.h"

#include <algorithm>

#include "core/passes/remaking.h"

namespace dragon {

namespace {

/// Of inputs that the program may write before the backward pass a copy is kept, if it is no larger than this.
constexpr int64_t kMostCopied = 1 << 14;
int64_t BytesOf(const ValueInfo& info) {
  int64_t bytes = ItemSize(info.dtype);
  for (int64_t size : info.shape) bytes *= size;
  return bytes;
}

class Remaking {
 public:
  Remaking(const Capture& capture, const Differentiation& whole, const std::vector<int>& producers,
           std::vector<char>* needed)
      : graph_(whole.graph),
        forward_calls_(whole.forward_calls),
        producers_(producers),
        needed_(*needed),
        remade_(graph_.values.size(), 0),
        held_(graph_.values.size(), 0) {
    for (ValueId id : capture.graph.outputs) held_[id] = 1;
    for (const auto& [input, id] : capture.graph.updates) held_[id] = 1;
    for (ValueId id : graph_.inputs) held_[id] = 1;
    // A view that the program gets back holds the memory of what it looks at.
    for (int t = forward_calls_ - 1; t >= 0; --t) {
      const GraphCall& call = graph_.calls[t];
      if (call.op->view && call.outputs[0] != kNoValue && held_[call.outputs[0]]) held_[call.inputs[0]] = 1;
    }
  }

  std::vector<char> Run() {
    for (int t = 0; t < forward_calls_; ++t) {
      for (ValueId id : graph_.calls[t].outputs) {
        if (id == kNoValue || !needed_[id] || held_[id] || BytesOf(graph_.values[id]) < kLeastRemadeBytes) continue;
        int calls = 0;
        std::vector<ValueId> read;
        if (!IsCheap(id, &calls, &read)) continue;
        remade_[id] = 1;
        for (ValueId input : read) needed_[input] = std::max(needed_[input], kNeededToRemake);
      }
    }
    return std::move(remade_);
  }

 private:
  bool IsInput(ValueId id) const { return producers_[id] < 0 && !graph_.constants.count(id); }

  /// Whether a value comes of what is there in the backward pass by a few cheap calls; `read`: of what else it comes.
  bool IsCheap(ValueId id, int* calls, std::vector<ValueId>* read) const {
    const int made_by = producers_[id];
    if (made_by < 0 || made_by >= forward_calls_ || ++*calls > kMostRemadeCalls) return false;
    const GraphCall& call = graph_.calls[made_by];
    const bool norm = IsBatchNorm(call) && id == call.outputs[0] && call.outputs[1] != kNoValue &&
                      call.outputs[2] != kNoValue && needed_[call.outputs[1]] && needed_[call.outputs[2]];
    if (!norm && !IsPointwiseLoop(call)) return false;
    const GraphCall again = RemakingCall(call);
    return std::all_of(again.inputs.begin(), again.inputs.end(),
                       [&](ValueId input) { return IsThere(input, calls, read); });
  }

  bool IsThere(ValueId id, int* calls, std::vector<ValueId>* read) const {
    if (id == kNoValue || (needed_[id] && !remade_[id] && !LooksAtRemade(id))) return true;
    if (graph_.constants.count(id) || IsInput(id)) {
      read->push_back(id);
      return !IsInput(id) || BytesOf(graph_.values[id]) <= kMostCopied;
    }
    return !needed_[id] && IsCheap(id, calls, read);
  }

  bool LooksAtRemade(ValueId id) const {
    while (producers_[id] >= 0 && graph_.calls[producers_[id]].op->view) id = graph_.calls[producers_[id]].inputs[0];
    return remade_[id];
  }

  const Graph& graph_;
  const int forward_calls_;
  const std::vector<int>& producers_;
  std::vector<char>& needed_;
  std::vector<char> remade_, held_;  ///< by value
};

}  // namespace

std::vector<char> FindRemade(const Capture& capture, const Differentiation& whole, const std::vector<int>& producers,
                             std::vector<char>* needed) {
  return Remaking(capture, whole, producers, needed).Run();
}

}  // namespace dragon
