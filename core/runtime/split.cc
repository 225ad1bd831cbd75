// What the backward pass reads of the forward pass becomes results of the one and inputs of the other.
#include "core/runtime/split.h"

#include "core/passes/remaking.h"
#include "core/runtime/remake.h"

namespace dragon {

namespace {

/// Copies parts of one graph into another, value by value.
class Transplant {
 public:
  Transplant(const Graph& from, Graph* to) : from_(from), to_(to), known_(from.values.size(), kNoValue) {}

  ValueId operator[](ValueId id) const { return id == kNoValue ? kNoValue : known_[id]; }
  void Input(ValueId id) { known_[id] = to_->AddInput(from_.values[id]); }
  void Constant(ValueId id) { known_[id] = to_->AddConstant(from_.constants.at(id), from_.values[id].name); }
  void Call(const GraphCall& call) {
    GraphCall copy = call;
    for (ValueId& id : copy.inputs) id = (*this)[id];
    for (ValueId& id : copy.outputs) {
      if (id == kNoValue) continue;
      const ValueId before = id;
      id = known_[before] = to_->AddValue(from_.values[before]);
    }
    to_->calls.push_back(std::move(copy));
  }

 private:
  const Graph& from_;
  Graph* to_;
  std::vector<ValueId> known_;
};

class Splitter {
 public:
  Splitter(const Capture& capture, const Differentiation& whole, bool remakes)
      : whole_(whole),
        graph_(whole.graph),
        input_count_(capture.inputs.size()),
        producers_(graph_.Producers()),
        needed_(graph_.values.size(), 0),
        remade_(graph_.values.size(), 0),
        into_(graph_, &split_.backward) {
    split_.forward = capture.graph;
    split_.backward.name = split_.forward.name + "_backward";
    split_.backward.symbols = graph_.symbols;
    for (size_t t = whole_.forward_calls; t < graph_.calls.size(); ++t) {
      for (ValueId id : graph_.calls[t].inputs) Need(id);
    }
    for (ValueId id : whole_.grads) Need(id);
    if (remakes) remade_ = FindRemade(capture, whole, producers_, &needed_);
  }

  SplitGraph Run() {
    KeepInputs();
    for (const auto& [id, tensor] : graph_.constants) {
      if (needed_[id]) into_.Constant(id);
    }
    KeepResults();
    for (size_t i = input_count_; i < graph_.inputs.size(); ++i) into_.Input(graph_.inputs[i]);
    for (size_t t = whole_.forward_calls; t < graph_.calls.size(); ++t) {
      for (ValueId id : graph_.calls[t].inputs) Make(id);
      into_.Call(graph_.calls[t]);
    }
    for (ValueId id : whole_.grads) {
      split_.grad_index.push_back(id == kNoValue ? -1 : static_cast<int>(split_.backward.outputs.size()));
      if (id == kNoValue) continue;
      Make(id);
      split_.backward.outputs.push_back(into_[id]);
    }
    return std::move(split_);
  }

 private:
  /// The backward pass needs a value: through views, what they are views of.
  void Need(ValueId id) {
    for (; id != kNoValue && !needed_[id]; id = graph_.calls[producers_[id]].inputs[0]) {
      needed_[id] = 1;
      const int made_by = producers_[id];
      if (made_by < 0 || made_by >= whole_.forward_calls || !graph_.calls[made_by].op->view) break;
    }
  }

  /// Before it is read the first time, make what is made again: views, and what is remade.
  void Make(ValueId id) {
    if (id == kNoValue || into_[id] != kNoValue) return;
    const GraphCall call = RemakingCall(graph_.calls[producers_[id]]);
    for (ValueId input : call.inputs) Make(input);
    into_.Call(call);
  }

  void Keep(ValueId id, int from) {
    into_.Input(id);
    split_.kept.push_back(from);
  }

  void KeepAsOutput(ValueId id) {
    split_.forward.outputs.push_back(id);
    Keep(id, ~static_cast<int>(split_.forward.outputs.size() - 1));
  }

  /// An input that the call updates will hold something else by then; so may one that eager code would not have saved.
  void KeepInputs() {
    std::vector<char> updated(input_count_, 0);
    for (const auto& [input, value] : split_.forward.updates) updated[input] = 1;
    for (size_t i = 0; i < input_count_; ++i) {
      const ValueId id = graph_.inputs[i];
      if (!needed_[id]) continue;
      if (updated[i] || needed_[id] == kNeededToRemake) {
        KeepAsOutput(id);
      } else {
        Keep(id, static_cast<int>(i));
      }
    }
  }

  void KeepResults() {
    for (int t = 0; t < whole_.forward_calls; ++t) {
      const GraphCall& call = graph_.calls[t];
      for (ValueId id : call.outputs) {
        if (id != kNoValue && needed_[id] && !call.op->view && !remade_[id]) KeepAsOutput(id);
      }
    }
  }

  const Differentiation& whole_;
  const Graph& graph_;
  size_t input_count_;
  std::vector<int> producers_;
  std::vector<char> needed_, remade_;  ///< by value
  SplitGraph split_;
  Transplant into_;
};

}  // namespace

SplitGraph Split(const Capture& capture, const Differentiation& whole, bool remakes) {
  return Splitter(capture, whole, remakes).Run();
}

}  // namespace dragon
