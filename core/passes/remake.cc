// What is read early and then again much later, with the peak of memory in between, is made again if that is cheap.
// A captured training step is such a graph: activations are made on the way forward and read on the way back.
#include <algorithm>
#include <limits>
#include <optional>

#include "core/framework/op.h"
#include "core/passes/pass.h"
#include "core/passes/remaking.h"

namespace dragon {

bool IsBatchNorm(const GraphCall& call) { return call.op == &OpNamed<"native_batch_norm">(); }

bool IsPointwiseLoop(const GraphCall& call) {
  return call.op->pointwise && !call.op->dynamic && !call.op->compose && !call.has_body() && !call.is_ordered() &&
         call.outputs.size() == 1;
}

GraphCall RemakingCall(const GraphCall& call) {
  if (!IsBatchNorm(call)) return call;
  GraphCall again = call;
  again.op = &OpNamed<"normalize_channels">();
  again.inputs = {call.input("x"), call.outputs[1], call.outputs[2], call.input("weight"), call.input("bias")};
  again.attrs = {};
  again.outputs = {call.outputs[0]};
  again.symbolic = {};
  return again;
}

namespace {

/// Graphs of fewer calls have nothing that waits for long.
constexpr size_t kFewestCalls = 40;

class Remaker {
 public:
  explicit Remaker(Graph& graph)
      : graph_(graph), producers_(graph.Producers()), roots_(graph.values.size()), lives_(graph.values.size()) {
    for (size_t id = 0; id < roots_.size(); ++id) roots_[id] = RootOf(static_cast<ValueId>(id));
    NoteLives();
    copies_.assign(graph.values.size(), kNoValue);
    remade_.assign(graph.values.size(), 0);
  }

  void Run() {
    peak_ = Peak();
    bool any = false;
    for (int t = 0; t < peak_; ++t) {
      for (ValueId id : graph_.calls[t].outputs) {
        if (id == kNoValue || !WaitsOverPeak(id) || !IsCheap(id, FirstLate(id))) continue;
        remade_[id] = 1;
        any = true;
      }
    }
    if (any) Rebuild();
  }

 private:
  /// The calls that read a value, or a view of it; held: an output, an update or a view of those.
  struct Life {
    std::vector<int> reads;
    bool held = false;
  };

  ValueId RootOf(ValueId id) const {
    while (producers_[id] >= 0 && graph_.calls[producers_[id]].op->view) id = graph_.calls[producers_[id]].inputs[0];
    return id;
  }

  void NoteLives() {
    for (size_t t = 0; t < graph_.calls.size(); ++t) {
      for (ValueId id : graph_.calls[t].inputs) {
        if (id != kNoValue) lives_[roots_[id]].reads.push_back(static_cast<int>(t));
      }
    }
    for (ValueId id : graph_.outputs) lives_[roots_[id]].held = true;
    for (const auto& [input, id] : graph_.updates) lives_[roots_[id]].held = true;
  }

  /// The call before which most memory is in use.
  int Peak() const {
    std::vector<int64_t> changes(graph_.calls.size() + 1, 0);
    for (size_t t = 0; t < graph_.calls.size(); ++t) {
      if (graph_.calls[t].op->view) continue;
      for (ValueId id : graph_.calls[t].outputs) {
        if (id == kNoValue || lives_[id].reads.empty()) continue;
        changes[t] += graph_.Bytes(id);
        if (!lives_[id].held) changes[lives_[id].reads.back() + 1] -= graph_.Bytes(id);
      }
    }
    int64_t now = 0, most = 0;
    int peak = 0;
    for (size_t t = 0; t < changes.size(); ++t) {
      now += changes[t];
      if (now > most) most = now, peak = static_cast<int>(t);
    }
    return peak;
  }

  bool WaitsOverPeak(ValueId id) const {
    const Life& life = lives_[id];
    return !life.held && !life.reads.empty() && life.reads.back() > peak_ && graph_.values[id].symbolic.empty() &&
           graph_.Bytes(id) >= kLeastRemadeBytes && !IsReadAt(id, peak_);
  }

  bool IsReadAt(ValueId id, int t) const {
    const std::vector<int>& reads = lives_[id].reads;
    return std::find(reads.begin(), reads.end(), t) != reads.end();
  }

  int FirstLate(ValueId id) const {
    const std::vector<int>& reads = lives_[id].reads;
    return *std::upper_bound(reads.begin(), reads.end(), peak_);
  }

  /// Whether a value comes, by a few cheap calls, of what is there before call `late` anyway.
  bool IsCheap(ValueId id, int late, int calls = 0) const {
    if (producers_[id] < 0 || calls == kMostRemadeCalls) return false;
    const GraphCall& call = graph_.calls[producers_[id]];
    const bool norm =
        IsBatchNorm(call) && id == call.outputs[0] && call.outputs[1] != kNoValue && call.outputs[2] != kNoValue;
    if (call.op->view || (!norm && !IsPointwiseLoop(call))) return false;
    const GraphCall again = RemakingCall(call);
    return std::all_of(again.inputs.begin(), again.inputs.end(), [&](ValueId input) {
      return input == kNoValue || IsThere(input, late) || (roots_[input] == input && IsCheap(input, late, calls + 1));
    });
  }

  bool IsThere(ValueId id, int late) const {
    const ValueId root = roots_[id];
    if (graph_.constants.count(root)) return true;
    return !remade_[root] && !lives_[root].reads.empty() && lives_[root].reads.back() >= late;
  }

  /// What a reader after the peak reads in the place of a value; what makes it goes before that reader.
  ValueId Late(ValueId id, int late, std::vector<GraphCall>* calls) {
    if (id == kNoValue) return id;
    const ValueId root = roots_[id];
    const bool again = remade_[root] || (producers_[root] >= 0 && !IsThere(root, late) && copied_for_ > 0);
    if (!again) return id;
    if (copies_[id] != kNoValue) return copies_[id];
    GraphCall call = RemakingCall(graph_.calls[producers_[id]]);
    ++copied_for_;
    for (ValueId& input : call.inputs) input = Late(input, late, calls);
    --copied_for_;
    ValueInfo info = graph_.values[id];
    info.name.clear();
    graph_.values.push_back(std::move(info));
    copies_[id] = static_cast<ValueId>(graph_.values.size()) - 1;
    call.outputs = {copies_[id]};
    calls->push_back(std::move(call));
    return copies_[id];
  }

  void Rebuild() {
    std::vector<GraphCall> calls;
    for (size_t t = 0; t < graph_.calls.size(); ++t) {
      GraphCall call = graph_.calls[t];
      if (static_cast<int>(t) > peak_) {
        for (ValueId& input : call.inputs) input = Late(input, static_cast<int>(t), &calls);
      }
      calls.push_back(std::move(call));
    }
    graph_.calls = std::move(calls);
  }

  Graph& graph_;
  const std::vector<int> producers_;
  std::vector<ValueId> roots_;  ///< by value: whose memory it looks at
  std::vector<Life> lives_;     ///< by root
  std::vector<char> remade_;    ///< by value
  std::vector<ValueId> copies_;
  int peak_ = 0, copied_for_ = 0;
};

void Remake(Graph& graph) {
  if (graph.calls.size() >= kFewestCalls) Remaker(graph).Run();
}
DRAGON_PASS(Remake, 3, 480, "Make cheap values again that would wait over the peak of memory.");

}  // namespace
}  // namespace dragon
